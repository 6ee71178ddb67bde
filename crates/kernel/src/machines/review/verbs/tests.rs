use super::*;
use alloc::borrow::ToOwned;
use core::fmt::Write as _;
use pretty_assertions::assert_eq;

use crate::machines::conformance::session;

fn models() -> Vec<String> {
    ["opus", "sonnet"].map(ToOwned::to_owned).into()
}

fn id(text: &str) -> TaskId {
    TaskId::parse(text).expect("an id")
}

fn agent() -> Actor {
    Actor::Agent(Some(session("s")))
}

fn plan(fields: &Fields) -> Plan {
    Plan {
        id: "demo".into(),
        record: Record::Fields(fields.clone()),
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
        let next = advanced(&busy, &phase, Some(&task), &Actor::Person, &models());
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
    complete              complete → null task 7 iter 3 sonnet clean 1 max 5 tdd true
    ");
}

#[test]
fn a_review_by_hand_starts_no_cycle_with_its_answer() {
    let fields = Fields::default();
    let review = Phase::Review(Kind::Code);
    let after = advanced(&fields, &review, Some(&id("1")), &agent(), &models());
    let answer = Phase::PostReview(Kind::Code);
    let after = advanced(&after.expect("allowed"), &answer, None, &agent(), &models());
    assert_eq!(after.expect("allowed").next_phase, None);
}

#[test]
fn continue_task_lets_the_due_review_be() {
    let due = Fields {
        next_phase: Some(Phase::Review(Kind::Code)),
        ..Fields::default()
    };
    let after = advanced(&due, &Phase::ContinueTask, None, &agent(), &models());
    assert_eq!(after.expect("allowed").due(), Some(Kind::Code));
}

#[test]
fn an_agent_does_not_go_around_a_review() {
    let due = Fields {
        current_task: Some("1".into()),
        phase_iteration: Some(1),
        next_phase: Some(Phase::Review(Kind::Code)),
        ..Fields::default()
    };
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
        let agent = advanced(&due, &phase, task, &agent(), &models());
        assert_eq!(agent.is_ok(), allowed, "{phase}");
        assert!(advanced(&due, &phase, task, &Actor::Person, &models()).is_ok());
    }
    let jump = Setting::NextPhase(Some(Phase::Complete));
    assert_eq!(
        set(&plan(&due), jump.clone(), &agent()),
        Err(Refused::UnderReview(Kind::Code))
    );
    assert!(set(&plan(&due), jump, &Actor::Person).is_ok());
    let hatch = set(&plan(&due), Setting::NextPhase(None), &agent());
    let State::Plan(ended) = hatch.expect("the escape hatch").state else {
        panic!("no plan")
    };
    assert_eq!(fields(&ended).expect("its fields").due(), None);
}

#[test]
fn what_is_not_known_is_not_written_over() {
    let later = Fields {
        phase: Some(Phase::parse("polish")),
        ..Fields::default()
    };
    let refused = advanced(&later, &Phase::Complete, None, &Actor::Person, &models());
    assert_eq!(refused, Err(Refused::Unknown("phase", "polish".into())));
    let refused = advanced(
        &Fields::default(),
        &Phase::parse("x"),
        None,
        &Actor::Person,
        &models(),
    );
    assert_eq!(refused, Err(Refused::NoSuchPhase("x".into())));
    let refused = advanced(
        &Fields::default(),
        &Phase::NextTask,
        None,
        &agent(),
        &models(),
    );
    assert_eq!(refused, Err(Refused::NoTask(Phase::NextTask)));
}

#[test]
fn a_plan_is_recorded_once_and_its_costs_are_kept() {
    let spent = Memory {
        spent: 7,
        ..Memory::default()
    };
    let first = init(&State::Nothing, "demo", spent.clone(), &agent(), &models());
    let State::Plan(recorded) = first.expect("recorded").state else {
        panic!("no plan")
    };
    assert_eq!(recorded.memory.owner, Some(session("s")));
    assert_eq!(recorded.memory.spent, 7);
    let again = init(&State::Plan(recorded), "demo", spent, &agent(), &models());
    assert_eq!(again, Err(Refused::Recorded("demo".into())));
}

#[test]
fn a_plan_without_readable_fields_can_be_adopted_and_nothing_else() {
    let unreadable = Plan {
        record: Record::Unreadable("line 1".into()),
        ..plan(&Fields::default())
    };
    let refused = Refused::Unreadable {
        plan: "demo".into(),
        problem: "line 1".into(),
    };
    let tdd = set(&unreadable, Setting::Tdd(true), &agent());
    assert_eq!(tdd, Err(refused.clone()));
    assert_eq!(review_now(&unreadable, &agent()), Err(refused));
    let missing = Plan {
        record: Record::Missing,
        ..unreadable
    };
    let next = advance(&missing, &Phase::Complete, None, &agent(), &models());
    assert_eq!(next, Err(Refused::NoState("demo".into())));
    let State::Plan(adopted) = adopt(&missing, Some(&session("s"))).state else {
        panic!("no plan")
    };
    assert_eq!(adopted.memory.owner, Some(session("s")));
}
