//! What a person who looks elsewhere should hear of: the agent needs them, a review ended, the
//! checks of a pull request changed, or a limit let the agent go.

use alloc::string::String;
use alloc::vec::Vec;

use crate::decision::{Answer, Decision, Voice};
use crate::event::Kind;
use crate::name::Name;

/// The notices of one answer, in its order.
pub fn of(kind: &Kind, answer: &Answer) -> Vec<String> {
    let mut notices = Vec::new();
    match &answer.decision {
        // A hold is between Mainspring and the agent, but for the news of a pull request. What the
        // person should know of the others, such as a reviewer's verdict, is in the notes.
        Decision::Stop { hold } => {
            let news = hold.iter().filter(|one| one.by == Name::Claim);
            notices.extend(news.map(|one| first_line(&one.text).into()));
        }
        Decision::Idle { notify } => notices.extend(notify.iter().map(|one| one.text.clone())),
        Decision::Watch { wake } => {
            notices.extend(wake.iter().map(|one| first_line(&one.text).into()));
        }
        Decision::Context { .. }
        | Decision::AfterTool { .. }
        | Decision::BeforeTool { .. }
        | Decision::Silent => {}
    }
    let held = matches!(&answer.decision, Decision::Stop { hold } if !hold.is_empty());
    if let Kind::Stop { .. } = kind {
        // A line that may be left out is only news if the agent has stopped: what it did so far.
        let told = answer
            .notes
            .iter()
            .filter(|note| !held || note.by != Voice::Optional);
        notices.extend(told.map(|note| note.text.clone()));
    }
    if let Kind::Watch = kind {
        // The watcher has nobody else to tell.
        notices.extend(answer.notes.iter().map(|note| note.text.clone()));
    }
    notices
}

fn first_line(text: &str) -> &str {
    text.lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{HoldTexts, Note};
    use crate::event::{Chain, Event};

    fn stop() -> Kind {
        Event::stop(None, Chain::First).kind
    }

    fn note(by: Voice, text: &str) -> Note {
        Note {
            by,
            text: text.into(),
        }
    }

    #[test]
    fn a_person_hears_of_verdicts_news_and_let_goes_and_of_nothing_else() {
        let optional = note(Voice::Optional, "kept going twice");
        let failed = note(Voice::Machine(Name::Review), "the reviewer failed");
        let verdict = note(Voice::Machine(Name::Review), "opus: FAIL");
        let hold = |by: Name| Decision::Stop {
            hold: HoldTexts::one(by, "Fix this. Now.\nThere.".into()),
        };
        let answer = |decision: Decision, notes: &[&Note]| Answer {
            decision,
            notes: notes.iter().map(|note| (*note).clone()).collect(),
        };
        let gone = Decision::nothing(&stop());
        for (answer, expected) in [
            (answer(hold(Name::Gate), &[&optional]), &[][..]),
            (
                answer(hold(Name::Review), &[&optional, &verdict]),
                &["opus: FAIL"],
            ),
            (answer(hold(Name::Claim), &[&optional]), &["Fix this. Now."]),
            (
                answer(gone.clone(), &[&optional, &failed]),
                &["kept going twice", "the reviewer failed"],
            ),
            (answer(gone, &[]), &[]),
        ] {
            assert_eq!(of(&stop(), &answer), expected, "{answer:?}");
        }
        let wake = Decision::Watch {
            wake: HoldTexts::one(Name::Claim, "CI failed\nlog".into()),
        };
        assert_eq!(of(&Kind::Watch, &answer(wake, &[])), ["CI failed"]);
        let waits = note(Voice::Machine(Name::Claim), "CI waits for you");
        let rests = answer(Decision::nothing(&Kind::Watch), &[&waits]);
        assert_eq!(of(&Kind::Watch, &rests), ["CI waits for you"]);
    }
}
