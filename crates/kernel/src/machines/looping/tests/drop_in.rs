//! Where the drop-in differs: it does as its document says.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn the_drop_in_says_its_documents_sentence_and_holds_whoever_stops() {
    let near = SpokenSignal::Near("token in backticks, line 1: say it bare".to_string());
    let facts = Facts {
        heard: near,
        company: OtherSessions::Several,
        prompt: Some("Go.".to_string()),
        rules: LoopRules::OF_SCRIPT,
        ..facts()
    };
    let sentence = "[ITERATION 2/3] Continue working on the task. Check your progress and either \
                    complete the task or keep iterating.";
    for (loops, here, holds) in [
        (LoopOwner::Nobody, "mine", true),
        (LoopOwner::Nobody, "", true),
        (owner("mine"), "mine", true),
        (owner("mine"), "", true),
        (owner("mine"), "theirs", false),
    ] {
        let run = Run {
            owner: loops.clone(),
            ..run(frame(Mode::Loop, 1, 3))
        };
        let event = event(here, stop(Background::Quiet));
        let taken = step::<Loop>(&State::Active(run), &event, &facts, NOW);
        let expected = if holds {
            format!("Hold({sentence:?})")
        } else {
            "Pass".to_string()
        };
        assert_eq!(taken.said, expected, "{loops:?} {here}");
        assert!(taken.notes.is_empty());
    }
}

#[test]
fn a_signal_at_the_last_iteration_is_the_signal_but_not_to_the_drop_in() {
    let spent = State::Active(run(frame(Mode::Loop, 5, 5)));
    for (rules, rule) in [
        (LoopRules::default(), "signal"),
        (LoopRules::OF_SCRIPT, "max"),
    ] {
        let facts = Facts {
            rules,
            ..said(Ending::Complete)
        };
        assert_eq!(at_stop(&spent, &facts).rule, rule, "{rules:?}");
    }
}

#[test]
fn an_inner_frame_that_is_used_up_ends_alone_but_not_in_the_drop_in() {
    let nested = within(frame(Mode::Grind, 3, 100), frame(Mode::Issue, 5, 5));
    let taken = at_stop(&State::Active(nested.clone()), &facts());
    assert_eq!(taken.rule, "max-inner");
    assert!(
        taken.said.starts_with("Next(\"[ITERATION 4/100]"),
        "{}",
        taken.said
    );
    let popped = settle::<Loop>(&taken.state, Settled::Released).0;
    assert_eq!(popped, State::Active(run(frame(Mode::Grind, 3, 100))));
    let sent_on = Loop::send_on(popped);
    assert_eq!(sent_on, State::Active(run(frame(Mode::Grind, 4, 100))));

    let compat = Facts {
        rules: LoopRules::OF_SCRIPT,
        ..facts()
    };
    assert_eq!(at_stop(&State::Active(nested), &compat).rule, "max");
}
