mod carriers;
mod properties;

use super::{Flaw, NearMiss, Sighting, Signal, find, find_last};

/// The token that these tests look for.
pub(crate) const TOKEN: &str = "TASKMASTER_DONE::s-1";

pub(crate) fn token() -> [Signal; 1] {
    [Signal::token("TASKMASTER_DONE", "s-1")]
}

#[test]
fn near_misses_say_what_to_do_instead() {
    let said: Vec<String> = [
        Flaw::CodeFence,
        Flaw::IndentedCode,
        Flaw::InlineCode,
        Flaw::Quote,
        Flaw::HtmlComment,
        Flaw::ListItem,
        Flaw::Bold,
        Flaw::Underscores,
        Flaw::Punctuation,
        Flaw::WithinLine,
        Flaw::OtherId,
        Flaw::Invisible,
        Flaw::Escaped,
        Flaw::WrongCase,
        Flaw::Altered,
    ]
    .into_iter()
    .map(|flaw| NearMiss { flaw, line: 12 }.to_string())
    .collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    token in a code fence, line 12: say it bare
    token in indented code, line 12: say it bare
    token in backticks, line 12: say it bare
    token in a quote, line 12: say it bare
    token in an HTML comment, line 12: say it bare
    token in a list item, line 12: say it bare
    token in bold or italics, line 12: say it bare
    token between underscores, line 12: say it bare
    token with punctuation after it, line 12: say it bare
    token among other words, line 12: say it on a line of its own
    token with another id, line 12: say it exactly as given
    token with an invisible character, line 12: say it exactly as given
    token with a backslash in it, line 12: say it exactly as given
    token in the wrong case, line 12: say it exactly as given
    token with altered characters, line 12: say it exactly as given
    ");
}

#[test]
fn of_several_signals_the_last_one_said_counts() {
    let signals = [
        Signal::element("loop-done", "COMPLETE"),
        Signal::element("loop-done", "STUCK"),
        Signal::element("x", "y"),
    ];
    let text = "<loop-done>STUCK</loop-done>\n\nNo, I found it.\n\n<loop-done>COMPLETE</loop-done>\n\n`<x>y</x>`";
    assert_eq!(find(text, &signals), Sighting::Said { signal: 0, line: 5 });
    assert_eq!(
        find(text, &signals[1..]),
        Sighting::Said { signal: 0, line: 1 }
    );
}

#[test]
fn a_signal_that_is_wanted_is_not_another_ones_near_miss() {
    let signals = [
        Signal::element("loop-done", "COMPLETE"),
        Signal::element("loop-done", "STUCK"),
    ];
    assert_eq!(
        find("<loop-done>STUCK</loop-done>", &signals),
        Sighting::Said { signal: 1, line: 1 }
    );
    assert_eq!(
        find("<loop-done>FINISHED</loop-done>", &signals),
        Sighting::NearMiss(NearMiss {
            flaw: Flaw::OtherId,
            line: 1
        })
    );
}

#[test]
fn texts_are_read_apart_and_newest_first() {
    let said = Sighting::Said { signal: 0, line: 1 };
    assert_eq!(
        find_last(["```\nleft open", TOKEN], &token()),
        said,
        "a fence ends with its text"
    );
    assert_eq!(
        find_last([TOKEN, "Anything else?"], &token()),
        said,
        "an earlier text of the same message"
    );
    assert_eq!(
        find_last(["TASKMASTER_DONE", "::s-1"], &token()),
        Sighting::Absent,
        "cut in two is not said"
    );
    assert_eq!(
        find_last(
            ["a `TASKMASTER_DONE::s-1`", "> TASKMASTER_DONE::s-1"],
            &token()
        ),
        Sighting::NearMiss(NearMiss {
            flaw: Flaw::Quote,
            line: 1
        }),
        "the latest near miss"
    );
    assert_eq!(find_last([], &token()), Sighting::Absent);
}

#[test]
fn a_prefix_with_space_around_it_can_still_be_said() {
    let signals = [Signal::token(" DONE ", "7\n")];
    assert_eq!(signals[0].line(), "DONE::7");
    assert_eq!(
        find("DONE::7", &signals),
        Sighting::Said { signal: 0, line: 1 }
    );
}

#[test]
fn nothing_asked_is_nothing_found() {
    assert_eq!(find(TOKEN, &[]), Sighting::Absent);
}
