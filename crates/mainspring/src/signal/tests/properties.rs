//! Properties of every text: an honest signal is found, and one that is only shown does not
//! count.

use proptest::prelude::*;

use super::{Flaw, NearMiss, Sighting, TOKEN, find, token};

/// Words and punctuation: nothing that opens code or a comment.
fn prose() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[a-zA-Z0-9äßЖ漢🎉.,:;!?'\"-]{1,9}",
        1 => "[*_#|()\\[\\]~+=>&]{1,2}",
        1 => Just("TASKMASTER_DONE".to_owned()),
    ];
    prop::collection::vec(word, 1..8).prop_map(|words| words.join(" "))
}

fn code() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            prose(),
            Just(String::new()),
            Just("> ` <!-- <b>".to_owned())
        ],
        0..4,
    )
    .prop_map(|lines| lines.join("\n"))
}

/// The fence is not indented: after a list it would belong to the last item, and an unindented
/// line of its code would end it.
fn fence() -> impl Strategy<Value = (String, String)> {
    ("[a-z]{0,5}", prop_oneof!["`{3,5}", "~{4,6}"])
        .prop_map(|(info, mark)| (format!("{mark}{info}"), mark))
}

/// A block of Markdown that is complete at its end.
fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prose().prop_map(|text| format!("x {text}")),
        1 => prose().prop_map(|text| format!("## {text}")),
        2 => (fence(), code()).prop_map(|((open, close), code)| format!("{open}\n{code}\n{close}")),
        1 => code().prop_map(|code| format!("> {}", code.replace('\n', "\n> "))),
        1 => prop::collection::vec(prose(), 1..4).prop_map(|items| format!("- {}", items.join("\n- "))),
        1 => prose().prop_map(|text| format!("1. {text}\n\n   {text}")),
        1 => prose().prop_map(|text| format!("    {text}")),
        1 => prose().prop_map(|text| format!("Run `{text}` or `` a ` b ``.")),
        1 => prose().prop_map(|text| format!("<details>\n<summary>{text}</summary>\n\n{text}\n\n</details>")),
        1 => prose().prop_map(|text| format!("<!-- {text}\n\n{text} -->")),
        1 => prose().prop_map(|text| format!("| a | b |\n|---|---|\n| {text} | 1 |")),
        1 => Just("---".to_owned()),
    ]
}

fn blocks() -> impl Strategy<Value = String> {
    prop::collection::vec(block().prop_map(|block| block + "\n\n"), 0..5)
        .prop_map(|blocks| blocks.concat())
}

/// The token where it does not count, and why it does not.
fn shown() -> impl Strategy<Value = (String, Flaw)> {
    prop_oneof![
        (fence(), code(), code()).prop_map(|((open, close), before, after)| {
            (
                format!("{open}\n{before}\n{TOKEN}\n{after}\n{close}"),
                Flaw::CodeFence,
            )
        }),
        (fence(), code()).prop_map(|((open, _), before)| (
            format!("{open}\n{before}\n{TOKEN}"),
            Flaw::CodeFence
        )),
        prose().prop_map(|text| (format!("x {text} `{TOKEN}` {text}"), Flaw::InlineCode)),
        Just((format!("x `a\n{TOKEN}\nb`"), Flaw::InlineCode)),
        prose().prop_map(|text| (format!("> {text}\n> {TOKEN}"), Flaw::Quote)),
        code().prop_map(|code| (
            format!("<!--\n{}\n{TOKEN}\n-->", code.replace("-->", "")),
            Flaw::HtmlComment
        )),
        prose().prop_map(|text| (format!("x {text} {TOKEN}"), Flaw::WithinLine)),
        prose().prop_map(|text| (format!("{TOKEN} {text}"), Flaw::WithinLine)),
        Just((format!("{TOKEN}0"), Flaw::OtherId)),
    ]
}

fn line_of(text: &str) -> u32 {
    let before = text.split(TOKEN).next().unwrap_or_default();
    u32::try_from(before.matches('\n').count()).unwrap() + 1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_honest_completion_is_never_missed(
        before in blocks(), indent in 0..4_usize, trail in "[ \t]{0,3}", after in blocks(), crlf: bool,
    ) {
        let text = format!("{before}{:indent$}{TOKEN}{trail}\n\n{after}", "");
        let line = line_of(&text);
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        prop_assert_eq!(find(&text, &token()), Sighting::Said { signal: 0, line }, "{}", text);
    }

    #[test]
    fn a_shown_token_is_never_said((shown, flaw) in shown(), before in blocks()) {
        let text = format!("{before}{shown}");
        let line = line_of(&text);
        prop_assert_eq!(find(&text, &token()), Sighting::NearMiss(NearMiss { flaw, line }), "{}", text);
    }

    #[test]
    fn what_is_said_is_a_line_of_the_text(text in "([ \t>`~<!\\-\\n\\r*_#\\\\|\\[\\]]{0,3}(TASKMASTER_DONE::s-1|--|a)?){0,24}") {
        let lines: Vec<_> = text.split("\r\n").flat_map(|part| part.split(['\r', '\n'])).collect();
        match find(&text, &token()) {
            Sighting::Said { signal, line } => {
                prop_assert_eq!(signal, 0);
                prop_assert_eq!(lines[line as usize - 1].trim(), TOKEN);
            }
            Sighting::NearMiss(NearMiss { line, .. }) => prop_assert!((line as usize) <= lines.len()),
            Sighting::Absent => prop_assert!(lines.iter().all(|line| line.trim() != TOKEN)),
        }
    }

    #[test]
    fn any_text_has_an_answer(text in any::<String>(), more in any::<String>()) {
        let text = format!("{text}\n{TOKEN}\n{more}");
        prop_assert_ne!(find(&text, &token()), Sighting::Absent);
    }
}

/// Deeply nested or endlessly repeated Markdown gets an answer, too. Each text is a quarter of
/// a MiB.
#[test]
fn bombs_are_answered() {
    let bombs = [
        "> ",
        "- ",
        "`",
        "[",
        "*a",
        "<div><!--\n\n",
        "<!-- -->\n",
        "```\n\n",
        "&",
        "\\",
        "![a](",
        "1. ",
        "a\n",
    ];
    for unit in bombs {
        let text = format!("{}\n\n{TOKEN}\n", unit.repeat((256 << 10) / unit.len()));
        assert_ne!(find(&text, &token()), Sighting::Absent, "{unit:?}");
    }
    let many = format!("{TOKEN}\n").repeat(10_000);
    assert_eq!(
        find(&many, &token()),
        Sighting::Said {
            signal: 0,
            line: 10_000
        }
    );
}
