//! Claude Code.

pub(crate) mod decode;
mod encode;
pub(crate) mod environment;
pub(crate) mod settings;
mod wire;

pub(crate) use decode::decode;
pub(crate) use encode::{Wording, encode};
