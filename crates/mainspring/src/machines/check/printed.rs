//! What a check printed: the lines that matter, whether they are new, and whether it ran any test.

use mainspring_kernel::{Digest, hidden};
use mainspring_store::digest;

/// How much is quoted to the agent.
const MOST_LINES: usize = 30;
const MOST_FAILURES: usize = 12;
const LINE_CHARS: usize = 240;

/// Words of lines that say what failed.
const SAYS_FAILURE: [&str; 16] = [
    "error",
    "fail",
    "panicked",
    "assert",
    "expected",
    "exception",
    "traceback",
    "not ok",
    "undefined",
    "cannot find",
    "unresolved",
    "mismatch",
    "✗",
    "✖",
    "✕",
    "fatal",
];

/// The text without colours and other sequences for a terminal.
pub(super) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                Some(']') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                Some(_) | None => {}
            },
            // A progress bar writes its line anew; only the last state counts.
            '\r' if chars.peek() != Some(&'\n') => {
                let start = out.rfind('\n').map_or(0, |at| at + 1);
                out.truncate(start);
            }
            '\r' => {}
            c => out.push(c),
        }
    }
    hidden::strip(&out).into_owned()
}

/// The lines that matter: those that say what failed, then the last ones.
pub(super) fn lines_that_matter(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = lines.len().saturating_sub(MOST_LINES - MOST_FAILURES);
    let says = |line: &&&str| {
        let lower = line.to_lowercase();
        let nothing = lower.contains("0 failed") || lower.contains("0 errors");
        !nothing && SAYS_FAILURE.iter().any(|word| lower.contains(word))
    };
    let mut chosen: Vec<&str> = lines[..last].iter().filter(says).copied().collect();
    let left_out = chosen.len().saturating_sub(MOST_FAILURES);
    chosen.truncate(MOST_FAILURES);
    let mut out: Vec<String> = chosen.iter().map(|line| shortened(line)).collect();
    if left_out > 0 {
        out.push(format!("… ({left_out} more lines like these)"));
    } else if last > 0 {
        out.push("…".into());
    }
    out.extend(lines[last..].iter().map(|line| shortened(line)));
    out.join("\n")
}

fn shortened(line: &str) -> String {
    let line = line.trim_end();
    match line.char_indices().nth(LINE_CHARS) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// What failed, without numbers, which differ from run to run: times, addresses, counts.
pub(super) fn reason(exit: &str, lines: &str) -> Digest {
    let mut text = String::with_capacity(lines.len());
    for c in lines.chars() {
        if !c.is_ascii_digit() {
            text.push(c);
        } else if !text.ends_with('#') {
            text.push('#');
        }
    }
    digest::of(&[exit.as_bytes(), text.as_bytes()])
}

/// Does the output of a usual test runner say that no test ran? Skipped tests did not run.
pub(super) fn ran_no_test(text: &str) -> bool {
    let counts = [
        cargo(text),
        summary(text, "test result:", "passed"),
        nextest(text),
        pytest(text),
        summary(text, "Tests:", "passed"),
        numbered(text, "# pass "),
        numbered(text, "ℹ pass "),
        before(text, " passing"),
        before(text, " examples, "),
        unittest(text),
        go(text),
    ];
    let known: Vec<u64> = counts.into_iter().flatten().collect();
    let says_so = ["No tests found", "No test files found", "no tests ran"];
    let said = known.is_empty() && says_so.iter().any(|words| text.contains(words));
    said || (!known.is_empty() && known.iter().all(|count| *count == 0))
}

fn number(word: &str) -> Option<u64> {
    word.trim_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .ok()
}

/// The number before this word, in every line that begins like this; the sum.
fn summary(text: &str, start: &str, word: &str) -> Option<u64> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with(start));
    let counts = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|one| one.starts_with(word));
        at.and_then(|at| number(words.get(at.checked_sub(1)?)?))
            .unwrap_or(0)
    });
    counts.reduce(u64::saturating_add)
}

/// `running 0 tests` without a result that follows.
fn cargo(text: &str) -> Option<u64> {
    if text.contains("test result:") {
        return None;
    }
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("running "));
    let counts = lines.filter_map(|line| {
        let rest = line
            .strip_suffix(" tests")
            .or_else(|| line.strip_suffix(" test"))?;
        number(rest)
    });
    counts.reduce(u64::saturating_add)
}

/// `Summary [ 0.1s] 3 tests run: 3 passed, 0 skipped`
fn nextest(text: &str) -> Option<u64> {
    before(text, " tests run").or_else(|| before(text, " test run"))
}

/// `=== 1 passed, 2 skipped in 0.01s ===`
fn pytest(text: &str) -> Option<u64> {
    let ends =
        |line: &&str| line.contains(" in ") && line.trim_end_matches(['=', ' ']).ends_with('s');
    let line = text
        .lines()
        .rev()
        .filter(|line| line.starts_with('=') || line.contains("skipped"));
    let line = line.into_iter().find(ends)?;
    let counted = [" passed", " failed", " error", " xfailed", " xpassed"];
    let all = counted.iter().filter_map(|word| before(line, word));
    let known = counted.iter().any(|word| line.contains(word))
        || line.contains("skipped")
        || line.contains("no tests ran");
    known.then(|| all.fold(0, u64::saturating_add))
}

/// `Ran 0 tests in 0.000s`, where skipped ones are counted, too.
fn unittest(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find(|line| line.starts_with("Ran ") && line.contains(" test"))?;
    let ran = number(line.split_whitespace().nth(1)?)?;
    let skipped = text.lines().filter(|line| line.starts_with("OK (skipped="));
    let skipped = skipped.filter_map(number).fold(0, u64::saturating_add);
    Some(ran.saturating_sub(skipped))
}

/// `ok pkg 0.1s`, `? pkg [no test files]`, `ok pkg 0.1s [no tests to run]`.
fn go(text: &str) -> Option<u64> {
    let about = |line: &&str| line.starts_with("ok  \t") || line.starts_with("?   \t");
    let lines: Vec<&str> = text.lines().filter(about).collect();
    let ran =
        |line: &&&str| !line.contains("[no test files]") && !line.contains("[no tests to run]");
    (!lines.is_empty()).then(|| lines.iter().filter(ran).count() as u64)
}

/// The numbers after these words at the start of a line.
fn numbered(text: &str, start: &str) -> Option<u64> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix(start));
    lines.filter_map(number).reduce(u64::saturating_add)
}

/// The sum of the numbers before these words.
fn before(text: &str, words: &str) -> Option<u64> {
    let parts = text.match_indices(words);
    let counts = parts.filter_map(|(at, _)| {
        let word = text[..at].rsplit(|c: char| !c.is_ascii_digit()).next()?;
        word.parse::<u64>().ok()
    });
    counts.reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_progress_bars_are_not_quoted() {
        let bytes = b"\x1b[31mred\x1b[0m\n10%\r50%\rdone\r\n\x1b]0;title\x07x\n";
        assert_eq!(plain(bytes), "red\ndone\nx\n");
    }

    #[test]
    fn what_failed_is_found_above_a_long_tail() {
        let mut text = String::from("test a ... FAILED\nassertion failed: 1 == 2\n");
        for line in 0..200 {
            text += &format!("    Compiling crate {line}\n");
        }
        text += "test result: FAILED. 1 passed; 1 failed\n";
        let lines = lines_that_matter(&text);
        assert!(
            lines.starts_with("test a ... FAILED\nassertion failed: 1 == 2\n…"),
            "{lines}"
        );
        assert!(
            lines.ends_with("test result: FAILED. 1 passed; 1 failed"),
            "{lines}"
        );
        assert!(lines.lines().count() <= MOST_LINES + 1);
    }

    #[test]
    fn a_reason_is_the_same_whatever_it_took() {
        let one = reason("exit code 1", "failed in 1.2s at 0x7ff01");
        assert_eq!(one, reason("exit code 1", "failed in 13.75s at 0x7ff99"));
        assert_ne!(one, reason("exit code 1", "failed elsewhere"));
        assert_ne!(one, reason("exit code 2", "failed in 1.2s at 0x7ff01"));
    }

    #[test]
    fn a_run_without_a_test_is_recognised_in_the_words_of_each_runner() {
        for (text, none) in [
            (
                "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n",
                true,
            ),
            (
                "running 2 tests\ntest result: ok. 0 passed; 0 failed; 2 ignored\n",
                true,
            ),
            (
                "running 0 tests\ntest result: ok. 0 passed; 0 failed\nrunning 1 test\ntest result: ok. 1 passed; 0 failed\n",
                false,
            ),
            (
                "     Summary [   0.003s] 0 tests run: 0 passed, 4 skipped\n",
                true,
            ),
            (
                "     Summary [   0.003s] 4 tests run: 4 passed, 0 skipped\n",
                false,
            ),
            ("============ no tests ran in 0.01s ============\n", true),
            ("============ 3 skipped in 0.01s ============\n", true),
            (
                "============ 1 passed, 3 skipped in 0.01s ============\n",
                false,
            ),
            ("Ran 0 tests in 0.000s\n\nOK\n", true),
            ("Ran 2 tests in 0.000s\n\nOK (skipped=2)\n", true),
            ("Ran 2 tests in 0.000s\n\nOK (skipped=1)\n", false),
            ("Tests:       3 skipped, 3 total\n", true),
            ("Tests:       1 skipped, 2 passed, 3 total\n", false),
            ("No tests found, exiting with code 0\n", true),
            ("  0 passing (3ms)\n", true),
            ("  12 passing (3ms)\n", false),
            ("?   \texample.com/a\t[no test files]\n", true),
            (
                "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.1s\n",
                false,
            ),
            ("# tests 0\n# pass 0\n", true),
            ("0 examples, 0 failures\n", true),
            ("all is well\n", false),
            ("", false),
        ] {
            assert_eq!(ran_no_test(text), none, "{text}");
        }
    }
}
