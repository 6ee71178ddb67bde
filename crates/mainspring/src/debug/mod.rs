//! For whoever looks into Mainspring itself.

pub(crate) mod myself;
pub(crate) mod replay;
pub(crate) mod simulate;
pub(crate) mod state;
