//! Is every arrow of the table taken, and no other?

use super::*;
use crate::machines::conformance::{Coverage, every_kind};

#[test]
fn every_state_and_event_takes_an_arrow_of_the_table() {
    let mut seen = Coverage::default();
    for stage in [Stage::Quiet, Stage::Owed, Stage::Red, Stage::GaveUp] {
        let mut state = State::default();
        state.memory.stage = stage;
        state.memory.reds = u32::from(stage == Stage::Red);
        events(&mut seen, &state);
        results(&mut seen, &state);
        effects(&mut seen, &state);
        state.memory.red_in = vec!["tree".into()];
        events(&mut seen, &state);
        effects(&mut seen, &state);
    }
    seen.assert_complete::<Check>();
}

/// One of every event, without an effect.
fn events(seen: &mut Coverage, state: &State) {
    let label = Check::label(state);
    for kind in every_kind() {
        let event = event("s1", kind.clone());
        let facts = facts(&["tests"]);
        match kind {
            Kind::Stop { .. } => {
                let step = ask(state, &facts, &event, &EffectStatus::Clear);
                seen.saw(step.rule, label);
            }
            Kind::SessionEnd { .. } => {
                let input = Input {
                    event: &event,
                    now: Millis(0),
                    facts: &facts,
                    effect_status: &EffectStatus::Clear,
                };
                let step = Check::on_end(state, &input);
                if !step.rule.is_empty() {
                    assert_arrow::<Check>(step.rule, state, "session_end", &step.state);
                    seen.saw(step.rule, label);
                }
            }
            _ => {}
        }
    }
    let quiet = Facts {
        activity: Activity::NoTools,
        ..facts(&["tests"])
    };
    let step = ask(state, &quiet, &stop(Chain::First), &EffectStatus::Clear);
    seen.saw(step.rule, label);
}

/// Every result of a run, with and without a changed pin, before and at the maximum.
fn results(seen: &mut Coverage, state: &State) {
    let looks = [looked("tests", "k")];
    let pinned = [Looked {
        pins: vec!["p".into()],
        ..looked("tests", "k")
    }];
    let verdicts = [
        Verdict::Pass,
        fail("x"),
        Verdict::Flaky,
        Verdict::NotStarted,
    ];
    for (max, verdict) in verdicts.iter().flat_map(|one| [(5, one), (1, one)]) {
        for keys in [&looks, &pinned] {
            let facts = Facts {
                max,
                ..facts(&["tests"])
            };
            let run = |_: &Request| verdict.clone();
            let (step, _) = play(state, &facts, Chain::First, keys, run);
            seen.saw(step.rule, Check::label(state));
            let handoff = Facts {
                occasions: vec![Occasion::Handoff],
                ..facts
            };
            let (step, _) = play(state, &handoff, Chain::First, keys, run);
            seen.saw(step.rule, Check::label(state));
        }
    }
}

/// Effects of others, a fault, and a look that finds something to run.
fn effects(seen: &mut Coverage, state: &State) {
    let look = Effect::Look {
        checks: Vec::new(),
        others: Vec::new(),
        after: None,
    };
    let found = Outcome::Looked(vec![looked("tests", "k")]);
    for (left, status) in [
        (3_000, EffectStatus::Running(intent(look.clone()))),
        (1, EffectStatus::Running(intent(look.clone()))),
        (3_000, done(look.clone(), Outcome::Fault("no git".into()))),
        (3_000, done(look, found)),
    ] {
        let facts = Facts {
            left: Millis::seconds(left),
            ..facts(&["tests"])
        };
        let step = ask(state, &facts, &stop(Chain::First), &status);
        seen.saw(step.rule, Check::label(state));
    }
}
