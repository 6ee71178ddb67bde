//! What a person or an agent does to a plan by a command.

use alloc::string::String;

use super::phase::{Phase, Review, TaskId};
use super::plan::Fields;

/// Who runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    Agent,
    Person,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("there is no phase \"{0}\"")]
    NoSuchPhase(String),
    #[error("{0} of state.json is \"{1}\", which this version does not know: it is left as it is")]
    Unknown(&'static str, String),
    #[error("{0} needs a task: --task ID")]
    NoTask(Phase),
    #[error(
        "the {} of this plan is not over, and an agent does not leave it: finish it, or ask the \
         person who may (`mainspring plan set next_phase null` ends it)", .0.words()
    )]
    UnderReview(Review),
}

/// A new plan: the only state that is made from nothing.
pub fn init(models: &[String]) -> Fields {
    let mut fields = Fields {
        phase: Some(Phase::NewPlan),
        ..Fields::default()
    };
    fields.enter(Review::Plan, models);
    fields
}

/// An action is done: what the plan's state is then.
pub fn advance(
    fields: &Fields,
    phase: &Phase,
    task: Option<&TaskId>,
    actor: Actor,
    models: &[String],
) -> Result<Fields, Refused> {
    if let Phase::Unknown(text) = phase {
        return Err(Refused::NoSuchPhase(text.clone()));
    }
    if let Some((field, text)) = fields.unknown() {
        return Err(Refused::Unknown(field, text.into()));
    }
    if actor == Actor::Agent {
        stay_under_review(fields, phase, task)?;
    }
    let mut next = fields.clone();
    next.phase = Some(phase.clone());
    if let Some(task) = task {
        next.current_task = Some(task.as_str().into());
    }
    let need_task = || match &next.current_task {
        Some(_) => Ok(()),
        None => Err(Refused::NoTask(phase.clone())),
    };
    match phase {
        Phase::NewPlan => {
            next.current_task = None;
            next.enter(Review::Plan, models);
        }
        Phase::CreateTasks => {
            next.current_task = None;
            next.enter(Review::Tasks, models);
        }
        Phase::CompleteTask | Phase::CompleteTaskTdd => {
            need_task()?;
            next.tdd = *phase == Phase::CompleteTaskTdd;
            next.enter(Review::Code, models);
        }
        Phase::NextTask | Phase::NextTaskTdd => {
            need_task()?;
            next.next_phase = None;
            next.phase_iteration = None;
        }
        // By hand: no cycle, so that its answer starts none.
        Phase::Review(_) => {
            next.next_phase = None;
            next.phase_iteration = None;
        }
        Phase::PostReview(review) => {
            next.next_phase = next.phase_iteration.map(|_| Phase::Review(*review));
        }
        Phase::Complete => next.next_phase = None,
        Phase::ContinueTask | Phase::Unknown(_) => {}
    }
    Ok(next)
}

/// A cycle that is under way is left through its reviews, not around them.
fn stay_under_review(fields: &Fields, phase: &Phase, task: Option<&TaskId>) -> Result<(), Refused> {
    let Some(review) = fields.due().or_else(|| fields.unanswered()) else {
        return Ok(());
    };
    let same_task = task.is_none_or(|task| Some(task.as_str()) == fields.current_task.as_deref());
    let within = fields.max_reviews == 0
        || match phase {
            Phase::PostReview(answered) => *answered == review,
            Phase::ContinueTask => true,
            Phase::NewPlan => review == Review::Plan,
            Phase::CreateTasks => review == Review::Tasks,
            Phase::CompleteTask | Phase::CompleteTaskTdd => review == Review::Code && same_task,
            Phase::NextTask
            | Phase::NextTaskTdd
            | Phase::Review(_)
            | Phase::Complete
            | Phase::Unknown(_) => false,
        };
    if within {
        Ok(())
    } else {
        Err(Refused::UnderReview(review))
    }
}

/// One field, set by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    MaxReviews(u32),
    NextPhase(Option<Phase>),
    CurrentTask(Option<TaskId>),
    Tdd(bool),
}

pub fn set(fields: &Fields, setting: Setting, actor: Actor) -> Result<Fields, Refused> {
    let mut next = fields.clone();
    match setting {
        Setting::MaxReviews(count) => next.max_reviews = count,
        Setting::CurrentTask(task) => next.current_task = task.map(|task| task.as_str().into()),
        Setting::Tdd(tdd) => next.tdd = tdd,
        Setting::NextPhase(Some(Phase::Unknown(text))) => return Err(Refused::NoSuchPhase(text)),
        Setting::NextPhase(phase) => {
            let around = match &phase {
                None | Some(Phase::Review(_) | Phase::PostReview(_)) => false,
                Some(_) => actor == Actor::Agent,
            };
            match fields.due().or_else(|| fields.unanswered()) {
                Some(review) if around => return Err(Refused::UnderReview(review)),
                Some(_) | None => next.next_phase = phase,
            }
        }
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use core::fmt::Write as _;
    use pretty_assertions::assert_eq;

    fn models() -> Vec<String> {
        ["opus", "sonnet"].map(ToOwned::to_owned).into()
    }

    fn id(text: &str) -> TaskId {
        TaskId::parse(text).expect("an id")
    }

    fn line(fields: &Fields) -> String {
        let text =
            |phase: &Option<Phase>| phase.as_ref().map_or("null".into(), ToString::to_string);
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

    /// Each action sets the state that the seed gives it.
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
        let mut table = format!("{:22}{}\n", "init", line(&init(&models())));
        for phase in Phase::ALL {
            let task = id("7");
            let next = advance(&busy, &phase, Some(&task), Actor::Person, &models());
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
        let review = Phase::Review(Review::Code);
        let after = advance(&fields, &review, Some(&id("1")), Actor::Agent, &models());
        let answer = Phase::PostReview(Review::Code);
        let after = advance(
            &after.expect("allowed"),
            &answer,
            None,
            Actor::Agent,
            &models(),
        );
        assert_eq!(after.expect("allowed").next_phase, None);
    }

    #[test]
    fn continue_task_lets_the_due_review_be() {
        let due = Fields {
            next_phase: Some(Phase::Review(Review::Code)),
            ..Fields::default()
        };
        let after = advance(&due, &Phase::ContinueTask, None, Actor::Agent, &models());
        assert_eq!(after.expect("allowed").due(), Some(Review::Code));
    }

    #[test]
    fn an_agent_does_not_go_around_a_review() {
        let due = Fields {
            current_task: Some("1".into()),
            phase_iteration: Some(1),
            next_phase: Some(Phase::Review(Review::Code)),
            ..Fields::default()
        };
        let (same, other) = (id("1"), id("2"));
        for (phase, task, allowed) in [
            (Phase::Complete, None, false),
            (Phase::NextTask, Some(&other), false),
            (Phase::CompleteTask, Some(&other), false),
            (Phase::CompleteTask, Some(&same), true),
            (Phase::CreateTasks, None, false),
            (Phase::Review(Review::Code), None, false),
            (Phase::PostReview(Review::Plan), None, false),
            (Phase::PostReview(Review::Code), None, true),
        ] {
            let agent = advance(&due, &phase, task, Actor::Agent, &models());
            assert_eq!(agent.is_ok(), allowed, "{phase}");
            assert!(advance(&due, &phase, task, Actor::Person, &models()).is_ok());
        }
        let jump = Setting::NextPhase(Some(Phase::Complete));
        assert_eq!(
            set(&due, jump.clone(), Actor::Agent),
            Err(Refused::UnderReview(Review::Code))
        );
        assert!(set(&due, jump, Actor::Person).is_ok());
        let hatch = set(&due, Setting::NextPhase(None), Actor::Agent);
        assert_eq!(hatch.expect("the escape hatch").next_phase, None);
    }

    #[test]
    fn what_is_not_known_is_not_written_over() {
        let later = Fields {
            phase: Some(Phase::parse("polish")),
            ..Fields::default()
        };
        let refused = advance(&later, &Phase::Complete, None, Actor::Person, &models());
        assert_eq!(refused, Err(Refused::Unknown("phase", "polish".into())));
        let refused = advance(
            &Fields::default(),
            &Phase::parse("x"),
            None,
            Actor::Person,
            &models(),
        );
        assert_eq!(refused, Err(Refused::NoSuchPhase("x".into())));
        let refused = advance(
            &Fields::default(),
            &Phase::NextTask,
            None,
            Actor::Agent,
            &models(),
        );
        assert_eq!(refused, Err(Refused::NoTask(Phase::NextTask)));
    }
}
