//! Claude Code.

pub(crate) mod decode;
mod encode;
mod retouch;
pub(crate) mod settings;
mod wire;

pub(crate) use decode::decode;
pub(crate) use encode::{Wording, encode};
