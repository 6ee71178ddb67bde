//! Claude Code.

mod decode;
mod encode;
mod wire;

pub(crate) use decode::decode;
pub(crate) use encode::{Wording, encode};
