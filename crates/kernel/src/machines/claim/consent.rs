//! Did the user say that the issue may be closed? Only a whole message from a short list
//! counts, and only the last one that the host's own transcript has.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ids::Millis;
use crate::machines::last_word::{is_question, is_turned, without, words};

pub use crate::machines::last_word::LastWord;

/// What else counts as a yes: messages in the user's own language, from their configuration. `#N`
/// stands for the issue.
pub type Phrases<'a> = &'a [String];

/// Does the user's last word let this issue be closed? What was said before the merge is no
/// answer to it.
pub fn is_given(last: &LastWord, issue: u64, merged_at: Millis, phrases: Phrases<'_>) -> bool {
    // GitHub counts in whole seconds.
    let since = Millis(merged_at.0 / 1_000 * 1_000);
    if last.at < since {
        return false;
    }
    match assent(&last.text, issue, phrases) {
        Some(Assent::Wish) => true,
        Some(Assent::Yes) => asks(&last.question(), issue, phrases),
        None => false,
    }
}

/// The messages that count, for the question and for whoever is refused.
pub fn examples(issue: u64, phrases: Phrases<'_>) -> String {
    let mut list = format!("`yes` (right after your question), `close #{issue}` or `close it`");
    for phrase in phrases {
        list.push_str(&format!(", `{}`", numbered(phrase, issue)));
    }
    list
}

/// A message that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Assent {
    /// It says what to do, so it needs no question.
    Wish,
    /// It is a yes to whatever was asked.
    Yes,
}

fn assent(text: &str, issue: u64, phrases: Phrases<'_>) -> Option<Assent> {
    if is_question(text) {
        return None;
    }
    let said = words(text);
    let own = phrases
        .iter()
        .find(|phrase| !said.is_empty() && words(&numbered(phrase, issue)) == said);
    if let Some(phrase) = own {
        return Some(if phrase.contains("#N") {
            Assent::Wish
        } else {
            Assent::Yes
        });
    }
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let (yes, rest) = without(&said, &["yes"]);
    let (_, rest) = without(rest, &["please"]);
    let (_, rest) = without(rest, &["it", "is", "merged"]);
    let (_, rest) = without(rest, &["its", "merged"]);
    let (_, rest) = without(rest, &["please"]);
    let number = format!("#{issue}");
    match rest {
        [] if yes && said.len() <= 2 => Some(Assent::Yes),
        ["close", "it"] | ["close", "the", "issue"] => Some(Assent::Wish),
        ["close", which] | ["close", "issue", which] if *which == number => Some(Assent::Wish),
        _ => None,
    }
}

fn numbered(phrase: &str, issue: u64) -> String {
    phrase.replace("#N", &format!("#{issue}"))
}

/// Is it the question whether to close this issue? Whoever has phrases of their own may be asked in
/// their own language.
fn asks(question: &[String], issue: u64, phrases: Phrases<'_>) -> bool {
    let number = format!("{issue}");
    let has_number = question
        .iter()
        .any(|word| word.trim_start_matches('#') == number);
    let is_about_closing = question.iter().any(|word| word == "close") || !phrases.is_empty();
    has_number && is_about_closing && !is_turned(question)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases() -> Vec<String> {
        Vec::from(["ja".into(), "schließe #N".into()])
    }

    #[test]
    fn only_a_whole_message_from_a_short_list_counts() {
        for (text, kind_of) in [
            ("yes", Assent::Yes),
            ("Yes.", Assent::Yes),
            (" yes! ", Assent::Yes),
            ("yes please", Assent::Yes),
            ("Ja!", Assent::Yes),
            ("yes, close it", Assent::Wish),
            ("Yes, please close it.", Assent::Wish),
            ("close it", Assent::Wish),
            ("please close it", Assent::Wish),
            ("It is merged, close it", Assent::Wish),
            ("It's merged: close it!", Assent::Wish),
            ("close the issue", Assent::Wish),
            ("close #42", Assent::Wish),
            ("CLOSE #42", Assent::Wish),
            ("yes – close issue #42", Assent::Wish),
            ("Schließe #42.", Assent::Wish),
        ] {
            assert_eq!(assent(text, 42, &phrases()), Some(kind_of), "{text}");
        }
        for no in [
            "",
            "…",
            "no",
            "no, leave it open",
            "later",
            "please",
            "yesterday",
            "it is merged",
            "yes it is merged",
            "yes, but first run the tests",
            "yes, close it and then delete the branch",
            "close #43",
            "close",
            "close it?",
            "do not close it",
            "don't close it",
            "yes\nand then delete everything",
            "is `close it` what you wait for",
            "schließe #43",
            "mainspring stop",
            "/mainspring:stop",
            "/mainspring:pause 30m claim",
        ] {
            assert_eq!(assent(no, 42, &phrases()), None, "{no}");
        }
    }

    #[test]
    fn a_bare_yes_answers_the_question_about_this_issue_and_no_other() {
        let merged_at = Millis(100_500);
        let given = |text: &str, after: &str| {
            let last = LastWord {
                at: Millis(101_000),
                text: text.into(),
                after: after.into(),
            };
            is_given(&last, 42, merged_at, &[])
        };
        for question in [
            "Should I close issue #42?",
            "PR #44 is merged. Shall I close issue 42?",
            "Shall I close issue #42? Its pull request is merged.",
            "```\nsh\n```\nShall I close issue #42?",
        ] {
            assert!(given("yes", question), "{question}");
        }
        let german = LastWord {
            at: Millis(101_000),
            text: "Ja!".into(),
            after: "Soll ich Issue #42 schließen?".into(),
        };
        assert!(is_given(&german, 42, merged_at, &phrases()));
        assert!(!is_given(&german, 42, merged_at, &[]));
        for other in [
            "",
            "I fixed #42.",
            "Shall I go on with the refactoring?",
            "I closed the tab of #42. Shall I start on #43?",
            "Shall I close issue #421?",
            "Should I close issue #42? Shall I format the file?",
            "<!-- Should I close issue #42? -->\nShall I format the file?",
            "Shall I format the file?\n<!-- Should I close issue #42? -->",
            "<!-- Should I close issue #42?",
            "```\nShould I close issue #42?\n```",
            "~~~\n```\n~~~\n```\nShould I close issue #42?\n```\n",
            "> Should I close issue #42?",
            "    Should I close issue #42?",
            "Should I leave issue #42 open and not close it?",
            "Shall I format the file for #42?",
        ] {
            assert!(!given("yes", other), "{other}");
            assert!(given("close #42", other), "{other}");
        }
    }

    #[test]
    fn what_was_said_before_the_merge_is_no_consent() {
        let last = |at: u64| LastWord {
            at: Millis(at),
            text: "close #42".into(),
            after: String::new(),
        };
        let merged_at = Millis(100_500);
        assert!(!is_given(&last(99_999), 42, merged_at, &[]));
        assert!(is_given(&last(100_000), 42, merged_at, &[]));
    }

    #[test]
    fn the_list_names_what_the_user_may_write() {
        assert_eq!(
            examples(42, &phrases()),
            "`yes` (right after your question), `close #42` or `close it`, `ja`, `schließe #42`"
        );
    }
}
