//! The files of a repository that Mainspring reads. A folder that holds one of them is a project.

use mainspring_kernel::Name;

/// The project's settings.
pub(crate) const PROJECT_FILE: &str = "mainspring.toml";
/// A loop that an agent or a person wrote by hand.
pub(crate) const LOOP_PAGE: &str = ".claude/idle-loop.local.md";
/// The folder with a folder for each plan.
pub(crate) const PLANS: &str = ".taskie/plans";
/// The claimed issue.
pub(crate) const CLAIM_FILE: &str = ".agent-claim.json";

/// The files of one machine.
pub(crate) const fn of(machine: Name) -> &'static [&'static str] {
    match machine {
        Name::Loop => &[LOOP_PAGE],
        Name::Review => &[PLANS],
        Name::Claim => &[CLAIM_FILE],
        Name::Gate | Name::Check | Name::Tasks | Name::Pulse => &[],
    }
}

pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    let machines = Name::ALL.iter().flat_map(|name| of(*name));
    [PROJECT_FILE].into_iter().chain(machines.copied())
}
