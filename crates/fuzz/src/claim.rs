//! `.agent-claim.json`.

use mainspring_kernel::machines::claim::branch;
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, SCHEMA};
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::text;

use crate::json;
use mainspring::formats::claim::{self as file, Read};

const OURS: [&str; 12] = [
    "schema_version",
    "item_id",
    "issue_number",
    "branch",
    "agent_id",
    "phase",
    "summary",
    "status",
    "pr_number",
    "last_check_poll",
    "last_synced_status",
    "failure",
];

/// A claim that is read and written again is the same claim, with every unknown field in its place;
/// an accepted branch cannot be taken for an option; a title is one line.
pub(crate) fn run(bytes: &[u8]) {
    let claim = match file::read(bytes) {
        Err(problem) => {
            assert!(!problem.is_empty());
            return;
        }
        Ok(Read::Newer(version)) => {
            assert!(version > SCHEMA);
            return;
        }
        Ok(Read::Signal(claim)) => *claim,
    };
    assert!(claim.issue_number > 0);
    comes_back(bytes, &claim, &claim);
    let next = ClaimFile {
        phase: Phase::ReadyForPr,
        status: "In Review".into(),
        pr_number: Some(7),
        ..claim.clone()
    };
    comes_back(bytes, &claim, &next);
    if branch::check(&claim.branch).is_ok() {
        let name = &claim.branch;
        assert!(!name.starts_with('-') && !name.contains([' ', '\n', '\0', '~', '^', ':']));
    }
    let (title, _) = text::title(&claim.summary);
    assert!(title.chars().count() <= text::TITLE_MAX && !title.contains('\n'));
}

fn comes_back(bytes: &[u8], old: &ClaimFile, new: &ClaimFile) {
    let written = file::write(Some(bytes), Some(old), new);
    assert_eq!(
        file::read(written.as_bytes()),
        Ok(Read::Signal(Box::new(new.clone())))
    );
    if let Ok(text) = std::str::from_utf8(bytes) {
        json::strangers_stay(text, &written, &OURS);
    }
}
