//! How reviews are counted, and who may begin again.

use alloc::vec;

use pretty_assertions::assert_eq;

use super::phase::Phase;
use super::table::Tasks;
use super::world::{FAIL, PASS, World};
use super::*;
use crate::event::{Author, Kind as EventKind};

/// A second cycle of the same kind finds the first one's files in the directory.
#[test]
fn how_many_reviews_a_cycle_had_is_not_the_number_in_a_files_name() {
    let mut world = World::due(Kind::Plan);
    world.fields().max_reviews = 3;
    world.facts.written = vec![1, 2, 3];
    for (number, count) in [(4, 1), (5, 2), (6, 3)] {
        let (request, ..) = world.reviewed(FAIL);
        assert_eq!(request.iteration, number);
        assert_eq!(world.fields().phase_iteration, Some(count));
        world.answers();
    }
    let (_, notes) = world.says();
    assert!(
        notes[0].starts_with("plan 'demo': 3 of 3 plan reviews are done"),
        "{notes:?}"
    );
}

#[test]
fn files_that_an_agent_writes_do_not_use_up_the_reviews() {
    let mut world = World::due(Kind::Plan);
    world.facts.written = (1..=8).collect();
    assert_eq!(world.runs().effect.iteration, 9);
}

#[test]
fn the_answer_to_a_review_has_the_number_of_its_file() {
    let mut world = World::due(Kind::Plan);
    world.facts.written = vec![1, 2, 3];
    world.reviewed(FAIL);
    let (_, notes) = world.says();
    assert_eq!(
        notes,
        ["plan 'demo': plan-review-4.md waits for its answer, plan-post-review-4.md"]
    );
}

/// `state.json` says that two reviews were clean; none of them ran in this cycle.
#[test]
fn a_streak_counts_only_reviews_of_this_cycle() {
    let mut world = World::new(Fields {
        phase: Some(Phase::Review(Kind::AllCode)),
        next_phase: Some(Phase::Review(Kind::AllCode)),
        phase_iteration: Some(2),
        consecutive_clean: 2,
        ..Fields::default()
    });
    world.facts.tasks = Tasks::parse("| Id | Status |\n|--|--|\n| 1 | done |\n");
    let (_, hold, notes) = world.reviewed(PASS);
    assert!(!hold.is_empty(), "one clean review is not two");
    assert!(
        notes[1].contains("consecutive_clean 2, but there is no record"),
        "{notes:?}"
    );
    assert_eq!(
        world.line(),
        "all-code-review → post-all-code-review iter 1 sonnet clean 1"
    );
}

/// The agent goes round: it edits the exhausted cycle away and back.
#[test]
fn an_exhausted_cycle_is_entered_anew_only_after_a_person_spoke() {
    let mut world = World::due(Kind::Plan);
    world.begin(8, 0);
    world.says();
    world.fields().next_phase = None;
    world.says();
    world.fields().next_phase = Some(Phase::Review(Kind::Plan));
    world.fields().phase_iteration = Some(0);
    let (hold, notes) = world.says();
    assert_eq!(hold, "");
    assert!(notes[0].contains("8 of 8 plan reviews"), "{notes:?}");
    let stop = world.event.kind.clone();
    world.event.kind = EventKind::Prompt {
        author: Author::Host,
    };
    world.says();
    world.event.kind = stop.clone();
    assert!(!world.says().1.is_empty(), "the host is no person");
    world.event.kind = EventKind::Prompt {
        author: Author::Person,
    };
    let (told, _) = world.says();
    assert!(
        told.contains("`mainspring plan accept --plan demo`"),
        "{told}"
    );
    assert_eq!(world.says().0, "", "told once");
    world.event.kind = stop;
    world.runs();
}

#[test]
fn an_unknown_phase_with_a_known_next_one_gets_its_review() {
    let mut world = World::due(Kind::Code);
    world.fields().phase = Some(Phase::parse("polish"));
    world.runs();
}

/// The stop, the route, the status and the next prompt say the same.
#[test]
fn a_plan_that_waits_for_a_person_is_described_with_one_sentence() {
    let at_limit = |world: &mut World| world.begin(8, 0);
    let too_dear = |world: &mut World| {
        world.facts.settings.max_cost = Some(5);
        world.plan.memory.spent = 5;
    };
    let parked = |world: &mut World| {
        world.plan.memory.trouble = Some(plan::OverdueReview {
            key: cycle::CycleKey {
                review: Kind::Code,
                task: TaskId::parse("1"),
            },
            failures: 3,
            at: Millis(0),
            parked: plan::Parked::Yes,
        });
    };
    let changes: [&dyn Fn(&mut World); 3] = [&at_limit, &too_dear, &parked];
    for change in changes {
        let mut world = World::due(Kind::Code);
        change(&mut world);
        let (_, notes) = world.says();
        let facts = &world.facts;
        let (review, still) =
            standstill::Standstill::of(&world.plan, &facts.settings).expect("it waits");
        assert_eq!(notes, [still.sentence("demo", review)]);
        world.event.kind = EventKind::Prompt {
            author: Author::Person,
        };
        let (told, _) = world.says();
        assert!(told.starts_with(&notes[0]), "{told}");
        assert!(told.ends_with("show them these choices and ask."), "{told}");
    }
}
