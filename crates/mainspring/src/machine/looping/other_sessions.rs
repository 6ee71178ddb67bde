//! Finds other sessions that are at work in this project.

use std::path::Path;

use mainspring_kernel::Millis;
use mainspring_kernel::machines::looping::OtherSessions;

use crate::event_context::EventContext;

/// A session whose transcript has not grown for this long is not at work.
const AT_WORK: Millis = Millis::seconds(15 * 60);
/// The limit on entries to read.
const MOST_ENTRIES: usize = 10_000;

/// The host keeps the transcripts of a project's sessions in one folder and appends to those at
/// work. So this also finds sessions that never sent us an event.
pub(crate) fn of(context: &EventContext<'_>) -> OtherSessions {
    let transcript = context
        .payload
        .and_then(|payload| payload.transcript.as_deref());
    match transcript {
        Some(transcript) if others(transcript, context.env.now()) => OtherSessions::Several,
        Some(_) | None => OtherSessions::Alone,
    }
}

fn others(transcript: &Path, now: Millis) -> bool {
    let Some(entries) = transcript
        .parent()
        .and_then(|dir| std::fs::read_dir(dir).ok())
    else {
        return false;
    };
    entries
        .take(MOST_ENTRIES)
        .filter_map(Result::ok)
        .filter(|entry| {
            let path = entry.path();
            path.extension().is_some_and(|end| end == "jsonl")
                && path.file_name() != transcript.file_name()
        })
        .filter_map(|entry| entry.metadata().ok()?.modified().ok())
        .filter_map(|at| at.duration_since(std::time::UNIX_EPOCH).ok())
        .any(|at| {
            let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
            now.since(Millis(at)) <= AT_WORK
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_beside_ours_that_grew_lately_is_another_session() {
        let dir = tempfile::tempdir().unwrap();
        let touch = |name: &str| {
            let file = std::fs::File::create(dir.path().join(name)).unwrap();
            file.metadata().unwrap().modified().unwrap()
        };
        let written = touch("mine.jsonl");
        let written = written.duration_since(std::time::UNIX_EPOCH).unwrap();
        let now = Millis(u64::try_from(written.as_millis()).unwrap());
        let mine = dir.path().join("mine.jsonl");
        assert!(!others(&mine, now));
        touch("notes.txt");
        assert!(!others(&mine, now));
        touch("theirs.jsonl");
        assert!(others(&mine, now));
        assert!(!others(&mine, now.plus(AT_WORK).plus(Millis::seconds(60))));
        assert!(!others(Path::new("/nonexistent/mine.jsonl"), now));
    }
}
