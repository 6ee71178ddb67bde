//! Did the user say that the plan goes on as it is? Only a whole message from a short list counts,
//! and only the last one that the host's own transcript has.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ids::Millis;
use crate::machines::last_word::{LastWord, is_question, is_turned, without, words};

/// The command that the user can type in a client with our plugin.
const TYPED: &str = "taskie:accept";

/// Does the user's last word accept this plan? What was said before the last review ended is no
/// answer to it.
pub fn is_given(last: &LastWord, plan: &str, since: Millis) -> bool {
    if last.at < since || is_question(&last.text) {
        return false;
    }
    if last.command() == Some(TYPED) {
        let named = last.arguments();
        return named.is_empty() || named == words(plan);
    }
    let said = words(&last.text);
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let (yes, rest) = without(&said, &["yes"]);
    let (_, rest) = without(rest, &["please"]);
    let (good, rest) = without(rest, &["good", "enough"]);
    let name = words(plan);
    let name: Vec<&str> = name.iter().map(String::as_str).collect();
    match rest {
        [] if good => true,
        [] if yes && said.len() <= 2 => asks(&last.question(), &name),
        ["accept"] | ["accept", "it"] | ["accept", "the", "plan"] => true,
        ["accept", "plan", rest @ ..] | ["accept", rest @ ..] => rest == name,
        _ => false,
    }
}

/// Is it the question whether to accept this plan?
fn asks(question: &[String], name: &[&str]) -> bool {
    let asked: Vec<&str> = question.iter().map(String::as_str).collect();
    let names_it = asked.windows(name.len().max(1)).any(|part| part == name);
    asked.contains(&"accept") && names_it && !is_turned(question)
}

/// The messages that count, for the question and for whoever is refused.
pub fn examples(plan: &str) -> String {
    format!(
        "`yes` (right after the question whether to accept {plan}), `accept {plan}`, `accept it` \
         or `good enough`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str, after: &str) -> bool {
        let last = LastWord {
            at: Millis(100),
            text: text.into(),
            after: after.into(),
        };
        is_given(&last, "export-2", Millis(100))
    }

    #[test]
    fn only_a_whole_message_from_a_short_list_counts() {
        for yes in [
            "accept",
            "Accept it.",
            "yes, accept it",
            "accept the plan",
            "accept export-2",
            "please accept plan export-2",
            "good enough",
            "Good enough!",
            "/taskie:accept",
            "/taskie:accept export-2",
        ] {
            assert!(given(yes, ""), "{yes}");
        }
        for no in [
            "",
            "yes",
            "no",
            "accept?",
            "is that good enough?",
            "not good enough",
            "accept export",
            "do not accept it",
            "accept it and delete the branch",
            "good enough, but fix F3 first",
            "/taskie:continue-plan",
            "/taskie:accept import",
            "/taskie:accept no, not yet",
            "mainspring stop",
            "/mainspring:stop",
        ] {
            assert!(!given(no, ""), "{no}");
        }
    }

    #[test]
    fn a_bare_yes_answers_the_question_about_this_plan_and_no_other() {
        assert!(given(
            "yes",
            "Eight reviews are done. Shall I accept plan export-2?"
        ));
        for other in [
            "Shall I go on?",
            "Shall I accept plan import?",
            "I accept export-2. Shall I go on?",
            "Shall I accept plan export-2? Shall I format the file?",
            "<!-- Shall I accept plan export-2? -->\nShall I go on?",
            "```\nShall I accept plan export-2?\n```\nShall I go on?",
            "> Shall I accept plan export-2?\n\nShall I go on?",
            "Shall I not accept plan export-2?",
        ] {
            assert!(!given("yes", other), "{other}");
        }
    }

    #[test]
    fn what_was_said_before_the_last_review_is_no_consent() {
        let last = LastWord {
            at: Millis(99),
            text: "accept it".into(),
            after: String::new(),
        };
        assert!(!is_given(&last, "demo", Millis(100)));
    }
}
