//! The cycles of the specification's diagrams, what ends them, and the messages.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use core::fmt::Write as _;

use pretty_assertions::assert_eq;

use super::phase::Phase;
use super::table::{Document, Subtasks, Tasks};
use super::world::{FAIL, PASS, TABLE_MD, World, session, stop};
use super::*;
use crate::block_ledger::Cap;
use crate::effect::EffectStatus;
use crate::event::Chain;

/// The planning flow of the specification's diagram, in one chain of stops.
#[test]
fn a_plan_is_reviewed_until_two_in_a_row_are_clean() {
    let mut world = World::new(verbs::fresh(&["opus".into(), "sonnet".into()]));
    let mut story = format!("{}\n", world.line());
    for result in [FAIL, PASS, FAIL, PASS] {
        let (request, hold, _) = world.reviewed(result);
        assert!(hold.contains(&request.file()), "{hold}");
        let _ = writeln!(story, "{}: {}", request.model, world.line());
        world.answers();
    }
    let (request, hold, notes) = world.reviewed(PASS);
    let _ = writeln!(story, "{}: {}", request.model, world.line());
    assert_eq!(hold, "", "it is the person's turn to decide");
    insta::assert_snapshot!(story, @r"
    new-plan → plan-review iter 0 opus clean 0
    opus: plan-review → post-plan-review iter 1 sonnet clean 0
    sonnet: plan-review → post-plan-review iter 2 opus clean 1
    opus: plan-review → post-plan-review iter 3 sonnet clean 0
    sonnet: plan-review → post-plan-review iter 4 opus clean 1
    opus: plan-review → create-tasks iter null sonnet clean 2
    ");
    assert_eq!(
        notes[1],
        "opus: PASS, 0 s, $0.01 (plan review 5 of 8 of plan 'demo')"
    );
    insta::assert_snapshot!(notes[0], @"plan 'demo': two clean reviews in a row. Next: create-tasks, when you continue the plan");
    assert_eq!(
        world.says(),
        (String::new(), vec![]),
        "nothing is due any more"
    );
}

/// The implementation flow: the last task leads to all code, all code to the end.
#[test]
fn the_last_task_leads_to_all_code_and_to_the_end() {
    let mut world = World::due(Kind::Code);
    world.facts.tasks = Tasks::parse("| Id | Status |\n|--|--|\n| 1 | done |\n");
    world.fields().tdd = true;
    let mut story = String::new();
    for _ in 0..2 {
        for _ in 0..2 {
            world.reviewed(PASS);
            let _ = writeln!(story, "{}", world.line());
            if world.fields().unanswered().is_some() {
                world.answers();
            }
        }
        world.facts.written.clear();
    }
    insta::assert_snapshot!(story, @r"
    code-review → post-code-review iter 1 sonnet clean 1
    code-review → all-code-review iter 0 opus clean 0
    all-code-review → post-all-code-review iter 1 sonnet clean 1
    all-code-review → complete iter null opus clean 2
    ");
}

#[test]
fn the_limit_holds_nobody_and_can_be_raised() {
    let mut world = World::due(Kind::Plan);
    world.fields().max_reviews = 1;
    world.reviewed(FAIL);
    world.answers();
    let before = world.line();
    let (hold, notes) = world.says();
    assert_eq!(hold, "");
    assert!(
        notes[0].contains("1 of 1 plan reviews are done"),
        "{notes:?}"
    );
    assert_eq!(world.line(), before, "a hard stop moves nothing");
    world.fields().max_reviews = 2;
    let (request, ..) = world.reviewed(FAIL);
    assert_eq!(request.iteration, 2);
}

#[test]
fn an_answer_without_its_state_is_noticed() {
    let mut world = World::due(Kind::Code);
    world.reviewed(FAIL);
    let (hold, notes) = world.says();
    assert_eq!(hold, "", "as specified: the agent must answer");
    assert_eq!(
        notes,
        ["plan 'demo': task-1-review-1.md waits for its answer, task-1-post-review-1.md"]
    );
    world.facts.answer = AnswerFile::Written;
    let (hold, _) = world.says();
    assert_eq!(
        hold,
        "plan 'demo': task-1-post-review-1.md answers the code review, but nobody recorded it. If \
         the answer is finished, run `mainspring plan advance post-code-review --plan demo` and \
         stop: the next review follows. If you just stop again, it counts as it is."
    );
    let (request, ..) = world.reviewed(FAIL);
    assert_eq!((request.iteration, request.model.as_str()), (2, "sonnet"));
    assert_eq!(
        world.line(),
        "code-review → post-code-review iter 2 opus clean 0"
    );
}

#[test]
fn a_forgotten_state_is_moved_even_if_the_next_review_fails() {
    let mut world = World::due(Kind::Code);
    world.reviewed(FAIL);
    world.facts.answer = AnswerFile::Written;
    world.says();
    world.reviewed(Finding::NotDone(Failure::NoFile));
    assert_eq!(
        world.line(),
        "post-code-review → code-review iter 1 sonnet clean 0"
    );
}

#[test]
fn a_review_that_lies_there_is_never_written_over() {
    let mut world = World::due(Kind::Plan);
    world.facts.written = vec![1, 2, 4];
    assert_eq!(world.runs().effect.iteration, 3);
}

#[test]
fn a_result_for_a_plan_that_moved_on_changes_nothing_but_the_bill() {
    let mut world = World::due(Kind::Code);
    let intent = world.runs();
    world.fields().next_phase = None;
    let before = world.line();
    world.effect_status = EffectStatus::Done(intent, Outcome::new(FAIL, Millis(1), 7));
    let (hold, notes) = world.says();
    assert_eq!(hold, "", "the escape hatch was taken");
    assert!(notes[0].contains("moved on"), "{notes:?}");
    assert_eq!((world.line(), world.plan.memory.spent), (before, 7));
}

#[test]
fn each_failure_is_told_and_consumes_nothing() {
    let failures = [
        Failure::NoProgram("claude".into()),
        Failure::Exit {
            status: "exit code 1".into(),
            said: "no such model".into(),
        },
        Failure::TimedOut {
            after: Millis::seconds(600),
        },
        Failure::NoFile,
        Failure::Fault("the disk is full".into()),
    ];
    let mut told = vec![];
    for failure in failures {
        let mut world = World::due(Kind::Code);
        let before = world.line();
        let (_, hold, notes) = world.reviewed(Finding::NotDone(failure));
        assert_eq!((hold.as_str(), world.line()), ("", before));
        told.extend(notes);
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    the code review (iteration 1, opus) of plan 'demo' did not happen: `claude` was not found (`mainspring doctor` says how to get it). The stop goes through and the review stays due: it is tried at the next stop
    the code review (iteration 1, opus) of plan 'demo' did not happen: the reviewer ended with exit code 1: no such model; see .taskie/plans/demo/.review-1.log. The stop goes through and the review stays due: it is tried at the next stop
    the code review (iteration 1, opus) of plan 'demo' did not happen: the reviewer did not finish within 600 s; see .taskie/plans/demo/.review-1.log. The stop goes through and the review stays due: it is tried at the next stop
    the code review (iteration 1, opus) of plan 'demo' did not happen: the reviewer did not write task-1-review-1.md; see .taskie/plans/demo/.review-1.log. The stop goes through and the review stays due: it is tried at the next stop
    the code review (iteration 1, opus) of plan 'demo' did not happen: the disk is full. The stop goes through and the review stays due: it is tried at the next stop
    ");
}

#[test]
fn retry_keeps_the_agent_twice_and_waits_longer_each_time() {
    let mut world = World::due(Kind::Code);
    world.facts.settings.on_failure = OnFailure::Retry;
    let mut waits = vec![];
    for held in [true, true, false] {
        let intent = world.runs();
        waits.push(intent.effect.not_before.since(world.now).0);
        let (_, hold, _) = world.reviewed(Finding::NotDone(Failure::NoFile));
        assert_eq!(!hold.is_empty(), held, "{hold}");
        world.event.kind = stop(Chain::Continued);
    }
    assert_eq!(waits, [0, 5_000, 20_000]);
    assert_eq!(world.says().0, "", "three failures open the breaker");
    world.plan.memory.clear_trouble();
    world.event.kind = stop(Chain::First);
    let (_, hold, _) = world.reviewed(Finding::NotDone(Failure::NoProgram("claude".into())));
    assert_eq!(hold, "", "a missing program is not waited for");
}

#[test]
fn park_waits_for_a_person() {
    let mut world = World::due(Kind::Code);
    world.facts.settings.on_failure = OnFailure::Park;
    world.reviewed(Finding::NotDone(Failure::NoFile));
    let (hold, notes) = world.says();
    assert!(
        hold.is_empty() && notes[0].contains("is parked"),
        "{notes:?}"
    );
    let (hold, notes) = world.says();
    assert_eq!((hold.as_str(), notes.len()), ("", 0), "said once");
    world.plan.memory.clear_trouble();
    world.runs();
}

#[test]
fn the_cost_cap_stops_the_cycle_and_says_so() {
    let mut world = World::due(Kind::Code);
    world.facts.settings.max_cost = Some(20_000);
    for _ in 0..2 {
        world.reviewed(FAIL);
        world.answers();
    }
    let (hold, notes) = world.says();
    assert_eq!(hold, "");
    assert_eq!(
        notes,
        [
            "the reviews of plan 'demo' have cost $0.02, and max_cost_usd is $0.02: the cycle waits. \
             Decide: `mainspring plan accept --plan demo` goes on as it is, a higher `[review] \
             max_cost_usd` allows more"
        ]
    );
}

#[test]
fn an_unchanged_complaint_holds_once_and_a_new_one_again() {
    let mut world = World::due(Kind::Code);
    world.fields().next_phase = None;
    world.facts.violations = vec!["tasks.md has no table rows".into()];
    assert_eq!(world.says().0, "Plan 'demo': tasks.md has no table rows");
    world.event.kind = stop(Chain::Continued);
    let (hold, notes) = world.says();
    assert_eq!(hold, "");
    assert!(notes[0].starts_with("still broken"), "{notes:?}");
    world.facts.violations.push("Invalid filename: x.md".into());
    assert_ne!(world.says().0, "", "the agent made it worse");
    world.facts.violations.clear();
    assert_eq!(
        world.says().1,
        ["Plan 'demo' structure validated successfully"]
    );
    assert_eq!(
        world.says().1,
        [] as [&str; 0],
        "and then there is nothing to say"
    );
}

#[test]
fn another_sessions_plan_is_named_once_and_left_alone() {
    let mut world = World::due(Kind::Code);
    world.event.session = Some(session("guest"));
    let before = world.line();
    let (hold, notes) = world.says();
    assert_eq!((hold.as_str(), notes.len()), ("", 1));
    assert!(notes[0].contains("belongs to session s"), "{notes:?}");
    assert_eq!(world.says(), (String::new(), vec![]));
    assert_eq!(world.line(), before);
}

#[test]
fn a_plan_of_nobody_is_taken_by_the_only_session() {
    let mut world = World::due(Kind::Code);
    world.plan.memory.owner = None;
    world.facts.asker = Asker::Session(OtherSessions::Several);
    assert_eq!(world.says().1.len(), 1);
    world.facts.asker = Asker::Session(OtherSessions::Alone);
    world.runs();
    let (_, hold, notes) = world.reviewed(FAIL);
    assert!(!hold.is_empty());
    assert!(notes[0].contains("now belongs to this one"), "{notes:?}");
    assert_eq!(world.plan.memory.owner, Some(session("s")));
}

#[test]
fn what_this_version_does_not_know_is_reported_and_kept() {
    let mut world = World::due(Kind::Code);
    world.fields().next_phase = Some(Phase::parse("polish"));
    let before = world.plan.fields.clone();
    let (hold, notes) = world.says();
    assert!(
        hold.contains("`mainspring plan repair --plan demo`"),
        "{hold}"
    );
    assert!(
        notes[0].contains("next_phase of plan 'demo' is \"polish\""),
        "{notes:?}"
    );
    assert_eq!(world.plan.fields, before);
}

/// The host would override the block. The review is paid for, so it must not be lost.
#[test]
fn a_capped_stop_keeps_the_review() {
    let mut world = World::due(Kind::Code);
    world.cap = Cap::After(0);
    let (_, hold, notes) = world.reviewed(FAIL);
    assert_eq!((hold.as_str(), notes.len()), ("", 2));
    assert_eq!(
        world.line(),
        "code-review → post-code-review iter 1 sonnet clean 0"
    );
}

#[test]
fn two_clean_reviews_wait_for_the_other_machines() {
    let mut fields = Fields {
        phase: Some(Phase::Review(Kind::Plan)),
        phase_iteration: Some(2),
        next_phase: Some(Phase::Review(Kind::Plan)),
        consecutive_clean: 2,
        ..Fields::default()
    };
    let world_with = |fields: &Fields| {
        let mut world = World::new(fields.clone());
        world.begin(2, 2);
        world
    };
    let plan = |fields: &Fields| {
        let mut plan = world_with(fields).plan;
        plan.passing = Some(plan::Target {
            after: Kind::Plan,
            next: Phase::CreateTasks,
            model: "opus".into(),
            count: None,
        });
        State::Plan(plan.into())
    };
    let held = Review::settle(plan(&fields), Settled::Continued);
    assert_eq!(held.plan().map(|plan| &plan.fields), Some(&fields));
    let mut world = world_with(&fields);
    world.says();
    fields.next_phase = Some(Phase::CreateTasks);
    fields.phase_iteration = None;
    assert_eq!(world.plan.fields, fields, "no third review is paid for");
}

#[test]
fn the_four_blocks() {
    let mut texts = Kind::ALL
        .map(|review| World::due(review).reviewed(FAIL).1)
        .to_vec();
    texts.push(World::due(Kind::Plan).reviewed(PASS).1);
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn the_four_prompts() {
    let texts = Kind::ALL.map(|review| {
        let mut world = World::due(review);
        messages::prompt(&world.runs().effect, "/lib/taskie")
    });
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn money_is_rounded_up() {
    for (micros, text) in [
        (0, "$0.00"),
        (1, "<$0.01"),
        (10_000, "$0.01"),
        (10_001, "$0.02"),
        (1_234_567, "$1.24"),
    ] {
        assert_eq!(messages::dollars(micros), text);
    }
}

fn at_phase(phase: &str, next: Option<&str>) -> Result<Fields, Lack> {
    Ok(Fields {
        current_task: Some("1".into()),
        phase: Some(Phase::parse(phase)),
        phase_iteration: Some(2),
        next_phase: next.map(Phase::parse),
        ..Fields::default()
    })
}

#[test]
fn the_routing_table() {
    let artifacts = route::Artifacts {
        plan: Document::Whole,
        tasks: Tasks::parse(TABLE_MD),
        current: Subtasks::Built,
    };
    let crashed = route::Artifacts {
        plan: Document::Partial,
        tasks: Tasks::default(),
        current: Subtasks::Open,
    };
    let planned = route::Artifacts {
        plan: Document::Whole,
        ..crashed.clone()
    };
    let mut table = String::new();
    let mut row = |title: &str, fields: &Result<Fields, Lack>, artifacts: &route::Artifacts| {
        let state = State::of("demo".into(), fields.clone(), Memory::default());
        let route = route::route(&state, artifacts, None);
        let _ = writeln!(table, "{title}: {}", route.sentence());
    };
    for phase in Phase::ALL {
        let record = at_phase("continue-task", Some(phase.as_str()));
        row(&format!("next {phase}"), &record, &artifacts);
    }
    let answered = at_phase("post-code-review", Some("code-review"));
    row("next code-review, answered", &answered, &artifacts);
    for review in Kind::ALL {
        let record = at_phase("continue-task", Some(review.action()));
        let title = format!("next {}, crashed", review.action());
        row(&title, &record, &crashed);
    }
    for phase in Phase::ALL {
        let record = at_phase(phase.as_str(), None);
        row(&format!("last {phase}"), &record, &artifacts);
    }
    row("no state", &Err(Lack::Missing), &artifacts);
    row("no state, nothing", &Err(Lack::Missing), &crashed);
    let unreadable = Err(Lack::Unreadable("state.json contains invalid JSON".into()));
    row("bad state, no tasks", &unreadable, &planned);
    insta::assert_snapshot!(table);
}

/// A plan without an owner is reviewed for one session while another session stops.
#[test]
fn a_neighbour_does_not_take_a_plan_whose_reviewer_is_at_work() {
    let mut world = World::due(Kind::Plan);
    world.plan.memory.owner = None;
    let intent = world.runs();
    world.event.session = Some(session("t"));
    world.effect_status = EffectStatus::Running(intent.clone());
    let (hold, notes) = world.says();
    assert_eq!(hold, "");
    assert!(notes[0].contains("already at work"), "{notes:?}");
    assert_eq!(world.plan.memory.owner, None);
    // Now two sessions work here, and the verdict still counts.
    world.event.session = Some(session("s"));
    world.facts.asker = Asker::Session(OtherSessions::Several);
    world.facts.written.push(1);
    let outcome = Outcome::new(FAIL, Millis(1), 10_000);
    world.effect_status = EffectStatus::Done(intent, outcome);
    let (hold, _) = world.says();
    assert!(hold.contains("plan-review-1.md"), "{hold}");
    assert_eq!(world.plan.memory.owner, Some(session("s")));
}
