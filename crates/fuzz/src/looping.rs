//! A loop's state: a JSON document, or Markdown with front matter.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::looping::{Ending, MOST_FRAMES, Past, Run, State};

use crate::json;
use mainspring::formats::{loop_document as doc, loop_page as markdown};

const NOW: Millis = Millis(1_767_600_000_000);

/// A loop that is read and written again is the same loop, whatever else the file says, and a loop
/// that is over stays over.
pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    document(text);
    page(text);
}

fn document(text: &str) {
    json::agrees(text);
    let state = doc::read(text);
    if let State::Corrupt(problem) = &state {
        assert!(!problem.is_empty());
        assert_eq!(
            doc::write(Some(text), &state, NOW),
            text,
            "it is left alone"
        );
    }
    let (State::Active(run) | State::Completing { run, .. } | State::Stuck(run)) = state else {
        return;
    };
    assert!(run.outer.len() < MOST_FRAMES);
    let run = whole_seconds(run);
    for state in states(&run) {
        let written = doc::write(Some(text), &state, NOW);
        assert_eq!(doc::read(&written), state);
        let ours = [
            "schema",
            "event",
            "run_id",
            "updated_at",
            "session",
            "client",
            "stack",
            "accepted",
            "reason",
        ];
        json::strangers_stay(text, &written, &ours);
    }
    let over = State::Idle(Past::Done(Ending::Complete));
    assert_eq!(doc::read(&doc::write(Some(text), &over, NOW)), over);
}

fn page(text: &str) {
    let state = markdown::read(text, NOW);
    if let State::Corrupt(problem) = &state {
        assert!(!problem.is_empty());
        assert_eq!(
            markdown::write(Some(text), &state),
            text,
            "it is left alone"
        );
    }
    let (State::Active(run) | State::Completing { run, .. } | State::Stuck(run)) = state else {
        return;
    };
    let run = whole_seconds(run);
    let prompt = markdown::prompt(text);
    for state in states(&run) {
        let written = markdown::write(Some(text), &state);
        assert_eq!(markdown::read(&written, Millis(0)), state);
        assert_eq!(markdown::prompt(&written), prompt);
    }
    let over = State::Idle(Past::Done(Ending::Complete));
    let written = markdown::write(Some(text), &over);
    assert_eq!(markdown::read(&written, NOW), State::Idle(Past::Blank));
    assert_eq!(markdown::prompt(&written), prompt);
}

fn states(run: &Run) -> [State; 2] {
    let ending = Ending::Complete;
    [
        State::Active(run.clone()),
        State::Completing {
            run: run.clone(),
            ending,
        },
    ]
}

/// As the stores write it.
fn whole_seconds(run: Run) -> Run {
    Run {
        updated: Millis(run.updated.0 / 1_000 * 1_000),
        ..run
    }
}
