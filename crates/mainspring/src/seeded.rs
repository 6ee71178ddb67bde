//! Protections that the fault harness takes away, one at a time, to show that it would
//! notice. Without the feature that only the harness builds with, none of this exists.

/// Is this protection taken away?
#[cfg(feature = "seeded-bugs")]
pub(crate) fn without(protection: &str) -> bool {
    #[expect(clippy::disallowed_methods, reason = "no setting of the product's")]
    let bug = std::env::var_os("MAINSPRING_SEEDED_BUG");
    bug.is_some_and(|bug| bug == protection)
}

#[cfg(not(feature = "seeded-bugs"))]
pub(crate) const fn without(_: &str) -> bool {
    false
}
