use super::*;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::Write as _;
use pretty_assertions::assert_eq;

use crate::machines::conformance::session;
use crate::verbs::Refusal;

fn models() -> Vec<String> {
    ["opus", "sonnet"].map(ToOwned::to_owned).into()
}

fn id(text: &str) -> TaskId {
    TaskId::parse(text).expect("an id")
}

fn agent() -> Actor {
    Actor::Agent(Some(session("s")))
}

fn by(actor: &Actor) -> Asked<'_> {
    let tasks = Tasks::parse("| Id | Status |\n| 1 | done |\n| 2 | pending |");
    Asked {
        actor,
        typed: Typed::No,
        models: alloc::boxed::Box::leak(models().into_boxed_slice()),
        tasks: alloc::boxed::Box::leak(alloc::boxed::Box::new(tasks)),
    }
}

/// The plan after a command.
#[track_caller]
fn after(step: Result<VerbStep<Review>, Refused>) -> Plan {
    match step.expect("allowed").state {
        State::Plan(plan) => *plan,
        State::Bare(_) | State::Nothing => panic!("no plan"),
    }
}

fn of(plan: &Plan) -> &Fields {
    &plan.fields
}

fn plan(fields: &Fields) -> Plan {
    Plan {
        id: "demo".into(),
        fields: fields.clone(),
        memory: Memory::default(),
        passing: None,
    }
}

fn line(fields: &Fields) -> String {
    let text = |phase: &Option<Phase>| phase.as_ref().map_or("null".into(), ToString::to_string);
    format!(
        "{} → {} task {} iter {} {} clean {} max {} tdd {}",
        text(&fields.phase),
        text(&fields.next_phase),
        fields.current_task.as_deref().unwrap_or("null"),
        fields
            .phase_iteration
            .map_or("null".into(), |n| n.to_string()),
        fields.review_model,
        fields.consecutive_clean,
        fields.max_reviews,
        fields.tdd
    )
}

/// Each action sets the state that the specification says.
#[test]
fn every_action_sets_its_state() {
    let busy = Fields {
        max_reviews: 5,
        current_task: Some("2".into()),
        phase: Some(Phase::CompleteTask),
        phase_iteration: Some(3),
        next_phase: None,
        review_model: "sonnet".into(),
        consecutive_clean: 1,
        tdd: true,
    };
    let mut table = format!("{:22}{}\n", "init", line(&fresh(&models())));
    for phase in Phase::ALL {
        let task = id("7");
        let next = advanced(&busy, &phase, Some(&task), &models());
        let _ = writeln!(table, "{phase:22}{}", line(&next.expect("a person may")));
    }
    insta::assert_snapshot!(table, @r"
    init                  new-plan → plan-review task null iter 0 opus clean 0 max 8 tdd false
    new-plan              new-plan → plan-review task null iter 0 opus clean 0 max 5 tdd true
    plan-review           plan-review → null task 7 iter null sonnet clean 1 max 5 tdd true
    post-plan-review      post-plan-review → plan-review task 7 iter 3 sonnet clean 1 max 5 tdd true
    create-tasks          create-tasks → tasks-review task null iter 0 opus clean 0 max 5 tdd true
    tasks-review          tasks-review → null task 7 iter null sonnet clean 1 max 5 tdd true
    post-tasks-review     post-tasks-review → tasks-review task 7 iter 3 sonnet clean 1 max 5 tdd true
    next-task             next-task → null task 7 iter null sonnet clean 1 max 5 tdd true
    next-task-tdd         next-task-tdd → null task 7 iter null sonnet clean 1 max 5 tdd true
    complete-task         complete-task → code-review task 7 iter 0 opus clean 0 max 5 tdd false
    complete-task-tdd     complete-task-tdd → code-review task 7 iter 0 opus clean 0 max 5 tdd true
    continue-task         continue-task → null task 7 iter 3 sonnet clean 1 max 5 tdd true
    code-review           code-review → null task 7 iter null sonnet clean 1 max 5 tdd true
    post-code-review      post-code-review → code-review task 7 iter 3 sonnet clean 1 max 5 tdd true
    all-code-review       all-code-review → null task 7 iter null sonnet clean 1 max 5 tdd true
    post-all-code-review  post-all-code-review → all-code-review task 7 iter 3 sonnet clean 1 max 5 tdd true
    complete              complete → null task 7 iter null sonnet clean 1 max 5 tdd true
    ");
}

#[test]
fn a_review_by_hand_starts_no_cycle_with_its_answer() {
    let plan = plan(&Fields::default());
    let review = Phase::Review(Kind::Code);
    let reviewed = after(advance(&plan, &review, Some(&id("1")), by(&agent())));
    let answer = Phase::PostReview(Kind::Code);
    let answered = after(advance(&reviewed, &answer, None, by(&agent())));
    assert_eq!(of(&answered).next_phase, None);
}

#[test]
fn continue_task_lets_the_due_review_be() {
    let due = Fields {
        next_phase: Some(Phase::Review(Kind::Code)),
        ..Fields::default()
    };
    let on = after(advance(
        &plan(&due),
        &Phase::ContinueTask,
        None,
        by(&agent()),
    ));
    assert_eq!(of(&on).due(), Some(Kind::Code));
}

fn under_code_review() -> Plan {
    plan(&Fields {
        current_task: Some("1".into()),
        phase_iteration: Some(1),
        next_phase: Some(Phase::Review(Kind::Code)),
        ..Fields::default()
    })
}

#[test]
fn an_agent_does_not_go_around_a_review() {
    let due = under_code_review();
    let (same, other) = (id("1"), id("2"));
    for (phase, task, allowed) in [
        (Phase::Complete, None, false),
        (Phase::NextTask, Some(&other), false),
        (Phase::CompleteTask, Some(&other), false),
        (Phase::CompleteTask, Some(&same), true),
        (Phase::CreateTasks, None, false),
        (Phase::Review(Kind::Code), None, false),
        (Phase::PostReview(Kind::Plan), None, false),
        (Phase::PostReview(Kind::Code), None, true),
    ] {
        let agent = advance(&due, &phase, task, by(&agent()));
        assert_eq!(agent.is_ok(), allowed, "{phase}");
        assert!(advance(&due, &phase, task, by(&Actor::Person)).is_ok());
    }
    let refused = Err(under_review("demo", Kind::Code));
    let task = Setting::CurrentTask(Some(other.clone()));
    assert_eq!(set(&due, task.clone(), by(&agent())), refused);
    assert!(set(&due, task, by(&Actor::Person)).is_ok());
    let other_kind = restart(&due, Some(Kind::Plan), None, by(&agent()));
    assert_eq!(other_kind, refused);
    let other_task = restart(&due, None, Some(&other), by(&agent()));
    assert_eq!(other_task, refused);
    assert!(restart(&due, None, None, by(&agent())).is_ok());
}

/// The user typed `/taskie:code-review`, and the agent carries it out.
#[test]
fn what_the_user_typed_is_not_refused_to_the_agent() {
    let agent = agent();
    let asked = Asked {
        typed: Typed::ByUser,
        ..by(&agent)
    };
    let review = Phase::Review(Kind::Code);
    let reviewed = after(advance(&under_code_review(), &review, None, asked));
    assert_eq!(of(&reviewed).awaited(), None);
    assert_eq!(
        reviewed.memory.owner,
        Some(session("s")),
        "still the agent's"
    );
}

#[test]
fn entering_a_cycle_zeroes_its_counts_and_saying_so_twice_does_not() {
    let task = id("1");
    let begun = after(advance(
        &plan(&Fields::default()),
        &Phase::CompleteTask,
        Some(&task),
        by(&agent()),
    ));
    let mut later = begun;
    let cycle = later.memory.cycle.as_mut().expect("a cycle");
    (cycle.done, cycle.streak, cycle.number) = (3, 1, 5);
    let again = after(advance(
        &later,
        &Phase::CompleteTask,
        Some(&task),
        by(&agent()),
    ));
    assert_eq!(again.memory.cycle, later.memory.cycle);
    assert_eq!(of(&again).phase_iteration, Some(3));
    for anew in [
        advance(
            &later,
            &Phase::CompleteTask,
            Some(&task),
            by(&Actor::Person),
        ),
        restart(&later, None, None, by(&agent())),
        restart(&later, Some(Kind::Code), None, by(&Actor::Person)),
    ] {
        let anew = after(anew);
        let cycle = anew.memory.cycle.as_ref().expect("a cycle");
        assert_eq!((cycle.done, cycle.streak), (0, 0));
        assert_eq!(of(&anew).phase_iteration, Some(0));
        assert_eq!(of(&anew).consecutive_clean, 0);
    }
}

#[test]
fn a_cycle_that_had_all_its_reviews_is_begun_anew_by_a_person() {
    let mut exhausted = under_code_review();
    let key = CycleKey::of(Kind::Code, of(&exhausted));
    exhausted.memory.exhaust(&key);
    let refused = Err(Refused::Exhausted {
        plan: "demo".into(),
        review: Kind::Code,
    });
    assert_eq!(restart(&exhausted, None, None, by(&agent())), refused);
    let task = id("1");
    let advance = advance(&exhausted, &Phase::CompleteTask, Some(&task), by(&agent()));
    assert_eq!(advance, refused);
    let person = after(restart(&exhausted, None, None, by(&Actor::Person)));
    assert!(person.memory.exhausted.is_empty());
    // A person spoke to the agent.
    exhausted.memory.allow_again();
    assert!(restart(&exhausted, None, None, by(&agent())).is_ok());
}

#[test]
fn accepting_goes_on_to_the_next_phase_without_a_cycle() {
    for (review, rows, next, iteration) in [
        (Kind::Plan, "", Phase::CreateTasks, None),
        (Kind::Tasks, "| 1 | pending |", Phase::CompleteTask, None),
        (
            Kind::Code,
            "| 1 | done |\n| 2 | pending |",
            Phase::CompleteTask,
            None,
        ),
        (
            Kind::Code,
            "| 1 | done |",
            Phase::Review(Kind::AllCode),
            Some(0),
        ),
        (Kind::AllCode, "| 1 | done |", Phase::Complete, None),
    ] {
        let due = plan(&Fields {
            current_task: Some("1".into()),
            phase_iteration: Some(3),
            next_phase: Some(Phase::PostReview(review)),
            ..Fields::default()
        });
        let tasks = Tasks::parse(&format!("| Id | Status |\n{rows}"));
        let person = Actor::Person;
        let asked = Asked {
            tasks: &tasks,
            ..by(&person)
        };
        let accepted = after(accept(&due, Written::Yes, asked));
        assert_eq!(of(&accepted).next_phase, Some(next));
        assert_eq!(of(&accepted).phase_iteration, iteration);
        assert_eq!(accepted.memory.cycle.is_some(), iteration.is_some());
        let empty = accept(&due, Written::No, asked);
        assert_eq!(empty, Err(Refused::NotWritten(due.id.clone())));
        let again = accept(&accepted, Written::Yes, asked);
        assert_eq!(again.is_ok(), iteration.is_some());
    }
}

#[test]
fn a_task_that_does_not_exist_is_refused_with_those_that_do() {
    let plan = plan(&Fields::default());
    let nine = id("9");
    for refused in [
        advance(&plan, &Phase::CompleteTask, Some(&nine), by(&agent())),
        set(
            &plan,
            Setting::CurrentTask(Some(nine.clone())),
            by(&agent()),
        ),
        restart(&plan, Some(Kind::Code), Some(&nine), by(&agent())),
    ] {
        let refused = refused.expect_err("no such task");
        assert_eq!(refused.to_string(), "tasks.md of plan 'demo' has no task 9");
        assert_eq!(refused.next(), ["its tasks are 1, 2"]);
    }
}

#[test]
fn what_is_not_known_is_not_written_over() {
    let later = Fields {
        phase: Some(Phase::parse("polish")),
        ..Fields::default()
    };
    let person = &Actor::Person;
    let refused = advance(&plan(&later), &Phase::Complete, None, by(person));
    assert_eq!(refused, Err(Refused::Unknown("phase", "polish".into())));
    let plan = plan(&Fields::default());
    let refused = advance(&plan, &Phase::parse("x"), None, by(person));
    assert_eq!(refused, Err(Refused::NoSuchPhase("x".into())));
    let refused = advance(&plan, &Phase::NextTask, None, by(&agent()));
    assert_eq!(refused, Err(Refused::NoTask(Phase::NextTask)));
}

#[test]
fn a_plan_is_recorded_once_and_its_costs_are_kept() {
    let spent = Memory {
        spent: 7,
        ..Memory::default()
    };
    let first = init(&State::Nothing, "demo", spent.clone(), by(&agent()));
    let State::Plan(recorded) = first.expect("recorded").state else {
        panic!("no plan")
    };
    assert_eq!(recorded.memory.owner, Some(session("s")));
    assert_eq!(recorded.memory.spent, 7);
    let again = init(&State::Plan(recorded), "demo", spent, by(&agent()));
    assert_eq!(again, Err(Refused::Recorded("demo".into())));
}

#[test]
fn a_plan_without_readable_fields_can_be_adopted_and_nothing_else() {
    let bare = |lack| State::of("demo".into(), Err(lack), Memory::default());
    let unreadable = bare(Lack::Unreadable("line 1".into()));
    let refused = Refused::Unreadable {
        plan: "demo".into(),
        problem: "line 1".into(),
    };
    assert_eq!(recorded(&unreadable), Err(refused));
    let missing = bare(Lack::Missing);
    assert_eq!(recorded(&missing), Err(Refused::NoState("demo".into())));
    let State::Bare(adopted) = adopt(&missing, Some(&session("s"))).state else {
        panic!("no plan")
    };
    assert_eq!(adopted.memory.owner, Some(session("s")));
}
