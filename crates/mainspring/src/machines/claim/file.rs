//! Reads `.agent-claim.json` into the fields that the kernel knows, and writes it back with
//! everything else unchanged.

use mainspring_json::{Fields, Row, row};
use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, SCHEMA};
use mainspring_kernel::machines::claim::phase::{Failure, Next, Phase, Task};

/// The claim file's name, at the top of the checkout.
pub(crate) use crate::markers::CLAIM_FILE as NAME;

/// A claim file that could be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    Signal(Box<ClaimFile>),
    /// It has a later schema, which we do not read.
    Newer(u64),
}

/// Parses the file; the error names the field or the line.
pub fn read(bytes: &[u8]) -> Result<Read, String> {
    read_with(bytes, None)
}

/// The same; `unknown` is what an unknown phase counts as.
pub(crate) fn read_with(bytes: &[u8], unknown: Option<Phase>) -> Result<Read, String> {
    let fields = Fields::of(bytes).map_err(|error| error.to_string())?;
    if let Some(version) = fields.known("schema_version") {
        match version.parse() {
            Ok(SCHEMA) => {}
            Ok(newer) if newer > SCHEMA => return Ok(Read::Newer(newer)),
            Ok(_) | Err(_) => {
                return Err(format!("schema_version {version} is not a version number"));
            }
        }
    }
    let text = |name| Ok::<_, String>(fields.word(name)?.unwrap_or_default());
    let word = text("phase")?;
    let phase = Phase::parse(&word).or(unknown).ok_or_else(|| {
        let known = Phase::ALL.each_ref().map(Phase::as_str).join(", ");
        format!("phase {word:?} is not one of {known}")
    })?;
    let phase = match (phase, fields.get("failure")) {
        (Phase::Failed(bare), Some(told)) => Phase::Failed(failure(told).unwrap_or(bare)),
        (phase, _) => phase,
    };
    let claim = ClaimFile {
        item_id: text("item_id")?,
        issue_number: fields
            .whole("issue_number")?
            .filter(|number| *number > 0)
            .ok_or("issue_number is missing")?,
        branch: text("branch")?,
        agent_id: text("agent_id")?,
        phase,
        summary: text("summary")?,
        summary_fault: None,
        status: text("status")?,
        pr_number: fields.whole("pr_number")?,
        last_check_poll: moment(&fields, "last_check_poll"),
        last_synced_status: fields.string("last_synced_status").ok().flatten(),
    };
    Ok(Read::Signal(Box::new(claim)))
}

/// A date; `None` if it cannot be read, which means that a poll is due.
fn moment(fields: &Fields<'_>, name: &str) -> Option<Millis> {
    let time: jiff::Timestamp = fields.string(name).ok()??.parse().ok()?;
    u64::try_from(time.as_millisecond()).ok().map(Millis)
}

fn failure(told: &str) -> Option<Failure> {
    let told = Fields::read(told).ok()?;
    let during = match told.string("during").ok()??.as_str() {
        "ready_for_pr" => Task::Open,
        "done" => Task::Close,
        _ => return None,
    };
    Some(Failure {
        during,
        attempts: u32::try_from(told.whole("attempts").ok()??).ok()?,
        next: moment(&told, "retry_at").map_or(Next::Never, Next::At),
        cause: told.string("cause").ok().flatten().unwrap_or_default(),
    })
}

/// The file with the changed fields; every other field stays as it was.
pub fn write(found: Option<&[u8]>, old: Option<&ClaimFile>, new: &ClaimFile) -> String {
    let mut fields = found
        .and_then(|bytes| Fields::of(bytes).ok())
        .unwrap_or_default();
    if fields.known("schema_version").is_none() {
        fields.set("schema_version", &SCHEMA);
    }
    fields.update(&old.map(rows).unwrap_or_default(), rows(new));
    match &new.phase {
        Phase::Failed(failure) => {
            let retry_at = match failure.next {
                Next::At(at) => Some(iso(at)),
                Next::Never => None,
            };
            let mut told = Fields::default();
            told.set("during", failure.during.phase().as_str());
            told.set("attempts", &failure.attempts);
            told.set("retry_at", &retry_at);
            told.set("cause", &failure.cause);
            fields.set_text("failure", told.lines(1).into());
        }
        Phase::Coding
        | Phase::ReadyForPr
        | Phase::PrCreated
        | Phase::ChecksRunning
        | Phase::MergedDetected
        | Phase::Done => fields.remove("failure"),
    }
    fields.lines(0) + "\n"
}

fn rows(claim: &ClaimFile) -> Vec<Row> {
    vec![
        row("item_id", &claim.item_id),
        row("issue_number", &claim.issue_number),
        row("branch", &claim.branch),
        row("agent_id", &claim.agent_id),
        row("phase", claim.phase.as_str()),
        row("summary", &claim.summary),
        row("status", &claim.status),
        row("pr_number", &claim.pr_number),
        row("last_check_poll", &claim.last_check_poll.map(iso)),
        row("last_synced_status", &claim.last_synced_status),
    ]
}

/// A time as the file has it.
pub(crate) fn iso(at: Millis) -> String {
    i64::try_from(at.0)
        .ok()
        .and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok())
        .map_or_else(String::new, |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    const SEED: &str = r#"{
  "schema_version": 1,
  "item_id": "PVTI_lADOBx",
  "issue_number": 42,
  "branch": "claude/fix-thing-42",
  "agent_id": "edouard-1738000000",
  "phase": "coding",
  "summary": "",
  "status": "In Progress",
  "pr_number": null,
  "last_check_poll": null,
  "last_synced_status": "In Progress"
}
"#;

    fn read_claim(text: &str) -> ClaimFile {
        match read(text.as_bytes()).unwrap() {
            Read::Signal(claim) => *claim,
            Read::Newer(version) => panic!("{version}"),
        }
    }

    #[test]
    fn the_documented_file_reads_and_writes_back_byte_for_byte() {
        let claim = read_claim(SEED);
        assert_eq!((claim.issue_number, claim.phase.as_str()), (42, "coding"));
        assert_eq!(write(Some(SEED.as_bytes()), Some(&claim), &claim), SEED);
    }

    #[test]
    fn unknown_fields_and_unread_dates_survive_a_change() {
        let text = SEED.replace(
            "\"last_check_poll\": null",
            "\"mine\": {\"deep\": [1, 2]},\n  \"last_check_poll\": \"yesterday\"",
        );
        let claim = read_claim(&text);
        assert_eq!(claim.last_check_poll, None);
        let next = ClaimFile {
            phase: Phase::ReadyForPr,
            ..claim.clone()
        };
        let written = write(Some(text.as_bytes()), Some(&claim), &next);
        let value: Value = serde_json::from_str(&written).unwrap();
        assert!(
            written.contains("\"mine\": {\"deep\": [1, 2]},\n"),
            "{written}"
        );
        assert_eq!(value["last_check_poll"], "yesterday");
        assert_eq!(value["phase"], "ready_for_pr");
        assert!(
            written.find("mine") < written.find("last_check_poll"),
            "{written}"
        );
    }

    #[test]
    fn a_failure_reads_back_and_goes_with_its_phase() {
        let claim = read_claim(SEED);
        let now = Millis(1_767_600_000_000);
        let mut failed = claim.clone();
        failed.fail(Task::Open, "HTTP 502", now, None);
        let text = write(Some(SEED.as_bytes()), Some(&claim), &failed);
        assert!(
            text.contains("\"retry_at\": \"2026-01-05T08:02:00Z\""),
            "{text}"
        );
        assert_eq!(read_claim(&text), failed);
        let again = ClaimFile {
            phase: Phase::ReadyForPr,
            ..failed.clone()
        };
        let text = write(Some(text.as_bytes()), Some(&failed), &again);
        assert!(!text.contains("failure"), "{text}");
    }

    #[test]
    fn a_newer_schema_is_told_from_a_broken_one() {
        let with = |version: &str| {
            let text = SEED.replace(
                "\"schema_version\": 1",
                &format!("\"schema_version\": {version}"),
            );
            read(text.as_bytes())
        };
        assert_eq!(with("2"), Ok(Read::Newer(2)));
        assert!(with("null").is_ok());
        for wrong in ["0", "\"1\"", "1.5", "-1"] {
            assert!(with(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_by_name() {
        for (from, to, said) in [
            (
                "\"coding\"",
                "\"codng\"",
                "phase \"codng\" is not one of coding, ready_for_pr",
            ),
            ("42,", "\"42\",", "issue_number is not a whole number"),
            ("42,", "0,", "issue_number is missing"),
            ("\"\",", "7,", "summary is not a string"),
            ("null,", "-3,", "pr_number is not a whole number"),
            ("\"status\"", "status", "line 9"),
        ] {
            let error = read(SEED.replacen(from, to, 1).as_bytes()).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        for garbage in ["", "[]", "null", "{\"phase\":", "\u{feff}{}"] {
            assert!(read(garbage.as_bytes()).is_err(), "{garbage:?}");
        }
    }

    proptest! {
        #[test]
        fn any_texts_come_back(summary in any::<String>(), branch in any::<String>(), poll in proptest::option::of(0_u64..4_000_000_000_000)) {
            let claim = read_claim(SEED);
            let next = ClaimFile { summary, branch, last_check_poll: poll.map(Millis), ..claim.clone() };
            let text = write(Some(SEED.as_bytes()), Some(&claim), &next);
            prop_assert_eq!(read_claim(&text), next);
        }

        #[test]
        fn garbage_is_refused_with_a_reason(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(!read(&bytes).unwrap_err().is_empty());
        }

        /// One byte of a valid file is changed: the file is refused, or it is another claim
        /// that can be written and read again.
        #[test]
        fn a_damaged_file_is_refused_or_consistent(at in 0..SEED.len(), byte in any::<u8>()) {
            let mut bytes = SEED.as_bytes().to_vec();
            bytes[at] = byte;
            match read(&bytes) {
                Err(problem) => prop_assert!(!problem.is_empty()),
                Ok(Read::Newer(version)) => prop_assert!(version > SCHEMA),
                Ok(Read::Signal(claim)) => {
                    let written = write(Some(&bytes), Some(&claim), &claim);
                    prop_assert_eq!(read(written.as_bytes()), Ok(Read::Signal(claim)));
                    let fields = |bytes: &[u8]| serde_json::from_slice::<Map<String, Value>>(bytes);
                    let (before, after) = (fields(&bytes).unwrap(), fields(written.as_bytes()).unwrap());
                    for (name, value) in before {
                        if name != "schema_version" {
                            prop_assert_eq!(after.get(&name), Some(&value), "{}", name);
                        }
                    }
                }
            }
        }
    }
}
