//! Claude Code.

mod decode;
mod encode;
pub(crate) mod environment;
pub(crate) mod settings;
mod wire;

pub use decode::decode;
pub(crate) use encode::encode;
