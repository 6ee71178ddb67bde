//! The agent's final text, and the signals that it may give there.

use mainspring::formats::signal::{Sighting, Signal, find, find_last};

const TOKEN: &str = "TASKMASTER_DONE::s-1";

/// A signal is a line of its own. In a quote, a fence, a comment or among other words it does not
/// count, whatever the text. A correct signal in a text of its own counts, whatever came before.
pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let signals = [
        Signal::token("TASKMASTER_DONE", "s-1"),
        Signal::element("loop-done", "COMPLETE"),
    ];
    said_is_a_line(text, &signals);
    let spoken = format!("{text}\n{TOKEN}\n{text}");
    said_is_a_line(&spoken, &signals);
    assert_ne!(find(&spoken, &signals), Sighting::Absent);

    let body = spoken.replace('\r', "\n");
    let quoted = body.replace('\n', "\n> ");
    never(&format!("> {quoted}"), &signals);
    let among = body.replace('\n', "\nx ");
    never(&format!("x {among}"), &signals);
    let ticks = "`".repeat(longest_run(&body, '`').max(2) + 1);
    never(&format!("{ticks}\n{body}\n{ticks}"), &signals);
    if !body.contains("--") {
        never(&format!("<!--\n{body}\n-->"), &signals);
    }
    let said = find_last([text, TOKEN], &signals);
    assert_eq!(said, Sighting::Said { signal: 0, line: 1 });
}

fn said_is_a_line(text: &str, signals: &[Signal]) {
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    if let Sighting::Said { signal, line } = find(text, signals) {
        let line = unix.split('\n').nth(line as usize - 1);
        assert_eq!(line.map(str::trim), Some(signals[signal].line()));
    }
    assert_eq!(find(&unix, signals), find(text, signals));
}

fn never(text: &str, signals: &[Signal]) {
    let found = find(text, signals);
    assert!(
        !matches!(found, Sighting::Said { .. }),
        "{found:?} {text:?}"
    );
}

fn longest_run(text: &str, wanted: char) -> usize {
    let runs = text.split(|c| c != wanted);
    runs.map(str::len).max().unwrap_or(0)
}
