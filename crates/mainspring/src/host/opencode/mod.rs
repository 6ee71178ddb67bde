//! opencode. So far it can only review.

pub(super) mod reviewer;
