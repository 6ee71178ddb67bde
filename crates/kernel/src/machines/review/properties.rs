//! What holds for every plan, whatever its state and its reviewers do.

use alloc::vec;

use proptest::prelude::*;

use super::phase::Phase;
use super::world::{PASS, StopResult, World, stop};
use super::*;
use crate::effect::EffectStatus;
use crate::event::Chain;

fn any_phase() -> impl Strategy<Value = Option<Phase>> {
    prop_oneof![
        Just(None),
        (0..Phase::ALL.len()).prop_map(|at| Some(Phase::ALL[at].clone())),
        Just(Some(Phase::Unknown("later".into()))),
    ]
}

fn any_result() -> impl Strategy<Value = Finding> {
    prop_oneof![
        4 => Just(PASS),
        4 => Just(Finding::Reviewed(Verdict::Fail)),
        1 => Just(Finding::Reviewed(Verdict::Unsaid)),
        1 => Just(Finding::NotDone(Failure::NoFile)),
        1 => Just(Finding::NotDone(Failure::TimedOut { after: Millis(1) })),
    ]
}

prop_compose! {
    fn any_world()(
        phase in any_phase(),
        next_phase in any_phase(),
        phase_iteration in prop::option::of(0_u32..12),
        max_reviews in 0_u32..10,
        consecutive_clean in 0_u32..4,
        task in prop::option::of("[1-3]|\\.\\./x"),
        tdd in any::<bool>(),
        written in prop::collection::vec(1_u32..6, 0..3),
        broken in any::<bool>(),
        answered in any::<bool>(),
        retry in any::<bool>(),
        continued in any::<bool>(),
        in_cycle in any::<bool>(),
    ) -> World {
        let mut world = World::new(Fields {
            max_reviews, current_task: task, phase, phase_iteration, next_phase,
            review_model: "opus".into(), consecutive_clean, tdd,
        });
        world.facts.written = written;
        if in_cycle && world.fields().awaited().is_some() {
            world.begin(phase_iteration.unwrap_or(0), consecutive_clean.min(1));
        }
        if broken { world.facts.violations = vec!["x".into()]; }
        if answered { world.facts.answer = AnswerFile::Written; }
        if retry { world.facts.settings.on_failure = OnFailure::Retry; }
        if continued { world.event.kind = stop(Chain::Continued); }
        world
    }
}

proptest! {
    /// If the agent answers every review, the chain of stops ends by itself: no plan, whatever its
    /// state, holds an agent for ever.
    #[test]
    fn every_chain_ends(mut world in any_world(), results in prop::collection::vec(any_result(), 40)) {
        let mut results = results.into_iter();
        let mut reviews = 0;
        for _ in 0..40 {
            let heard = match world.hear() {
                StopResult::Runs(intent) => {
                    let result = results.next().expect("fewer reviews than stops");
                    if let Finding::Reviewed(_) = result {
                        reviews += 1;
                    }
                    prop_assert!(reviews <= world.fields().max_reviews);
                    prop_assert!(!world.facts.written.contains(&intent.effect.iteration));
                    if let Finding::Reviewed(_) = result {
                        world.facts.written.push(intent.effect.iteration);
                    }
                    let outcome = Outcome::new(result, Millis(1), 1);
                    world.effect_status = EffectStatus::Done(*intent, outcome);
                    world.hear()
                }
                said @ StopResult::Says { .. } => said,
            };
            let StopResult::Says { hold, .. } = heard else {
                return Err(TestCaseError::fail("two reviews in one stop"));
            };
            if hold.is_empty() {
                return Ok(());
            }
            world.facts.answer = AnswerFile::Missing;
            if world.fields().unanswered().is_some() {
                world.answers();
            }
            world.event.kind = stop(Chain::Continued);
        }
        prop_assert!(false, "the agent was kept for 40 stops");
    }

    /// A review that did not happen leaves the plan's counters unchanged.
    #[test]
    fn a_failure_consumes_nothing(mut world in any_world()) {
        if let StopResult::Runs(_) = world.hear() {
            let cycle = |world: &World| world.plan.memory.cycle.as_ref().map(|cycle| (cycle.done, cycle.streak));
            let before = (cycle(&world).unwrap_or_default(), world.fields().review_model.clone());
            world.reviewed(Finding::NotDone(Failure::NoFile));
            let after = (cycle(&world).unwrap_or_default(), world.fields().review_model.clone());
            prop_assert_eq!(before, after);
        }
    }

    /// A reviewer starts only for the review that the state names and with the model that it names,
    /// and its file never leaves the plan's directory.
    #[test]
    fn a_reviewer_does_what_the_state_says(mut world in any_world()) {
        if let StopResult::Runs(intent) = world.hear() {
            let asked = intent.effect.clone();
            let named = world.fields().due().or_else(|| world.fields().unanswered());
            prop_assert_eq!(Some(asked.review), named);
            prop_assert_eq!(&asked.model, "opus");
            prop_assert!(!asked.file().contains(['/', '.']) || asked.file().matches('.').count() == 1);
            prop_assert!(!asked.file().contains('/'));
        }
    }
}
