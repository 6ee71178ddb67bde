//! Every transition against the table, the cycles of the seed's diagrams, and what is said.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use pretty_assertions::assert_eq;

use super::phase::Phase;
use super::table::{Document, Subtasks, Tasks};
use super::*;
use crate::decision::Decision;
use crate::deliberate::{Case, Deliberation, Outcome as Came, Trust, deliberate};
use crate::effect::{Intent, Owner, Standing};
use crate::event::{Background, Chain, EndReason, Event, Kind as EventKind, Speaker};
use crate::ids::{Digest, SessionId};
use crate::ledger::{Cap, Ledger, ToolUse};
use crate::machines::{Move, Moved, Part, Pending, Slot};

pub(super) const TABLE_MD: &str = "| Id | Status |\n|--|--|\n| 1 | done |\n| 2 | pending |\n";

/// A plan in a directory, and whoever stops there.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) facts: Facts,
    pub(super) event: Event,
    pub(super) standing: Standing<Review>,
    pub(super) cap: Cap,
    pub(super) now: Millis,
}

/// What a stop came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    Runs(Intent<Review>),
    Says { hold: String, notes: Vec<String> },
}

pub(super) fn session(text: &str) -> SessionId {
    SessionId::parse(text).expect("an id")
}

pub(super) fn stop(chain: Chain) -> EventKind {
    EventKind::Stop {
        chain,
        background: Background::Quiet,
    }
}

impl World {
    pub(super) fn new(fields: Fields) -> Self {
        Self {
            plan: Plan {
                id: "demo".into(),
                record: Record::Fields(fields),
                memory: Memory {
                    owner: Some(session("s")),
                    ..Memory::default()
                },
                passing: None,
            },
            facts: Facts {
                door: Door::Hook,
                company: Company::Alone,
                violations: vec![],
                warnings: vec![],
                tasks: Tasks::parse(TABLE_MD),
                written: vec![],
                answer: AnswerFile::Missing,
                settings: Settings {
                    models: ["opus", "sonnet"].map(ToOwned::to_owned).into(),
                    on_failure: OnFailure::Approve,
                    max_cost: None,
                    deadline: Millis::seconds(600),
                },
            },
            event: Event {
                session: Some(session("s")),
                speaker: Speaker::Main,
                kind: stop(Chain::First),
            },
            standing: Standing::Clear,
            cap: Cap::After(8),
            now: Millis(1_000_000),
        }
    }

    pub(super) fn due(review: Kind) -> Self {
        Self::new(Fields {
            current_task: Some("1".into()),
            phase_iteration: Some(0),
            next_phase: Some(Phase::Review(review)),
            ..Fields::default()
        })
    }

    pub(super) fn fields(&mut self) -> &mut Fields {
        match &mut self.plan.record {
            Record::Fields(fields) => fields,
            other => panic!("no fields: {other:?}"),
        }
    }

    fn case(&self, state: State) -> Case {
        let mut slot = Slot::new(state, self.facts.clone());
        slot.standing = self.standing.clone();
        Case {
            event: self.event.clone(),
            now: self.now,
            delivery: Digest(format!("{:?}", self.now)),
            parts: vec![Part::Review(slot)],
            broken: vec![],
            overtaken: None,
            ledger: Ledger::default(),
            cap: self.cap,
            tools: ToolUse::NotSeen,
            trust: Trust::Trusted,
            fence: Fence(7),
            me: Owner {
                pid: 1,
                started: 1,
                boot: "b".into(),
            },
        }
    }

    /// One stop; the plan is then what it was moved to.
    pub(super) fn hear(&mut self) -> Heard {
        let case = self.case(State::Plan(self.plan.clone()));
        match deliberate(&case) {
            Deliberation::Intends(Pending::Review(intent)) => Heard::Runs(intent),
            Deliberation::Settled(settled) => {
                let Move::Review(moved) = &settled.moves[0] else {
                    panic!("another machine's move")
                };
                assert_in_table(moved, self.event.kind.name());
                let State::Plan(plan) = &moved.state else {
                    panic!("the plan is gone")
                };
                assert_eq!(plan.passing, None, "a target outlives its turn");
                self.plan = plan.clone();
                self.standing = Standing::Clear;
                let hold = match &settled.answer.decision {
                    Decision::Stop { hold } => hold.text(),
                    Decision::Context { tell } => tell.text(),
                    _ => String::new(),
                };
                assert_eq!(settled.outcome == Came::Held, {
                    matches!(settled.answer.decision, Decision::Stop { .. }) && !hold.is_empty()
                });
                let notes = settled.answer.notes.iter().map(|note| note.text.clone());
                Heard::Says {
                    hold,
                    notes: notes.collect(),
                }
            }
            other => panic!("{other:?}"),
        }
    }

    /// A stop that must start a reviewer.
    #[track_caller]
    pub(super) fn runs(&mut self) -> Intent<Review> {
        match self.hear() {
            Heard::Runs(intent) => intent,
            Heard::Says { .. } => panic!("no reviewer was started: {self:#?}"),
        }
    }

    /// A stop that must start none: what holds the agent, and what the person hears.
    #[track_caller]
    pub(super) fn says(&mut self) -> (String, Vec<String>) {
        match self.hear() {
            Heard::Says { hold, notes } => (hold, notes),
            Heard::Runs(intent) => panic!("a reviewer was started: {intent:?}"),
        }
    }

    /// A stop with its review: what the agent is held with.
    #[track_caller]
    pub(super) fn reviewed(&mut self, result: Finding) -> (Request, String, Vec<String>) {
        let intent = self.runs();
        let request = intent.effect.clone();
        if let Finding::Reviewed(_) = result {
            self.facts.written.push(request.iteration);
        }
        let outcome = Outcome {
            result,
            took: Millis(1),
            cost: 10_000,
        };
        self.standing = Standing::Done(intent, outcome);
        let (hold, notes) = self.says();
        (request, hold, notes)
    }

    /// The agent answers the review as it was told to.
    pub(super) fn answers(&mut self) {
        let fields = self.fields();
        let review = fields.unanswered().expect("a review to answer");
        fields.phase = Some(Phase::PostReview(review));
        fields.next_phase = Some(Phase::Review(review));
        self.event.kind = stop(Chain::Continued);
    }

    pub(super) fn line(&mut self) -> String {
        let fields = self.fields();
        let text =
            |phase: &Option<Phase>| phase.as_ref().map_or("null".into(), ToString::to_string);
        format!(
            "{} → {} iter {} {} clean {}",
            text(&fields.phase),
            text(&fields.next_phase),
            fields
                .phase_iteration
                .map_or("null".into(), |n| n.to_string()),
            fields.review_model,
            fields.consecutive_clean,
        )
    }
}

pub(super) const PASS: Finding = Finding::Reviewed(Verdict::Pass);
pub(super) const FAIL: Finding = Finding::Reviewed(Verdict::Fail);

fn assert_in_table(moved: &Moved<Review>, on: &str) -> &'static Arrow {
    Review::TABLE
        .iter()
        .find(|arrow| {
            arrow.rule == moved.rule
                && arrow.from == moved.from
                && arrow.to == moved.to
                && arrow.on == on
        })
        .unwrap_or_else(|| {
            panic!(
                "no arrow {} from {} to {} on {on}",
                moved.rule, moved.from, moved.to
            )
        })
}

#[test]
fn no_two_arrows_of_a_name_leave_one_state() {
    let mut seen = BTreeSet::new();
    for arrow in Review::TABLE {
        assert!(seen.insert((arrow.rule, arrow.from)), "{arrow:?}");
    }
}

/// Every pair of a state and an event, under every fact that the table speaks of: each
/// answer is an arrow of the table, and each arrow is reached.
#[test]
fn the_table_is_what_happens() {
    let mut reached = BTreeSet::new();
    for world in worlds() {
        let states = [State::Nothing, State::Plan(world.plan.clone())];
        for state in states {
            let case = world.case(state);
            match deliberate(&case) {
                Deliberation::Intends(Pending::Review(_)) => {
                    reached.insert(("review", case.parts[0].label()));
                }
                Deliberation::Settled(settled) => {
                    let Move::Review(moved) = &settled.moves[0] else {
                        panic!("another machine's move")
                    };
                    if !moved.rule.is_empty() {
                        let arrow = assert_in_table(moved, case.event.kind.name());
                        reached.insert((arrow.rule, arrow.from));
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let all: BTreeSet<_> = Review::TABLE
        .iter()
        .map(|arrow| (arrow.rule, arrow.from))
        .collect();
    assert_eq!(
        all.difference(&reached).collect::<Vec<_>>(),
        [] as [&(&str, &str); 0]
    );
}

fn worlds() -> Vec<World> {
    let mut all = vec![];
    let nexts = [
        None,
        Some(Phase::CompleteTask),
        Some(Phase::Review(Kind::Code)),
        Some(Phase::Review(Kind::Tasks)),
        Some(Phase::PostReview(Kind::Code)),
        Some(Phase::PostReview(Kind::AllCode)),
        Some(Phase::Unknown("later".into())),
    ];
    for next in nexts {
        for answer in [AnswerFile::Missing, AnswerFile::Written] {
            let mut world = World::due(Kind::Code);
            world.fields().next_phase = next.clone();
            world.facts.answer = answer;
            all.extend(variations(&world));
        }
    }
    all
}

/// One thing otherwise than in the plain case, and every way for the effect to stand.
fn variations(plain: &World) -> Vec<World> {
    type Change = fn(&mut World);
    let changes: [Change; 20] = [
        |_| {},
        |world| world.plan.memory.owner = Some(session("other")),
        |world| world.plan.memory.owner = None,
        |world| {
            world.plan.memory.owner = None;
            world.facts.company = Company::Several;
        },
        |world| world.facts.violations = vec!["x".into()],
        |world| {
            world.facts.violations = vec!["x".into()];
            world.plan.memory.complaint = Some(plan::Complaint {
                session: Some(session("s")),
                text: "Plan 'demo': x".into(),
            });
        },
        |world| world.fields().max_reviews = 0,
        |world| {
            world.fields().max_reviews = 0;
            world.facts.tasks = Tasks::parse("| Id | Status |\n| 1 | done |");
        },
        |world| world.fields().phase_iteration = Some(8),
        |world| {
            world.fields().phase_iteration = Some(8);
            world.facts.violations = vec!["x".into()];
        },
        |world| {
            world.fields().phase_iteration = Some(8);
            world.facts.violations = vec!["x".into()];
            world.plan.memory.complaint = Some(plan::Complaint {
                session: Some(session("s")),
                text: "Plan 'demo': x".into(),
            });
        },
        |world| {
            world.facts.settings.max_cost = Some(5);
            world.plan.memory.spent = 5;
        },
        |world| {
            world.fields().current_task = None;
            world.facts.tasks = Tasks::default();
        },
        |world| {
            world.event.kind = EventKind::Stop {
                chain: Chain::First,
                background: Background::Working,
            };
        },
        |world| {
            world.plan.memory.trouble = Some(plan::Trouble {
                review: Kind::Code,
                task: TaskId::parse("1"),
                iteration: 1,
                failures: 1,
                at: Millis(0),
                parked: plan::Parked::Yes,
            });
        },
        |world| world.facts.settings.on_failure = OnFailure::Retry,
        |world| world.fields().consecutive_clean = 1,
        |world| {
            world.fields().consecutive_clean = 1;
            world.facts.tasks = Tasks::parse("| Id | Status |\n| 1 | done |");
        },
        |world| {
            world.plan.memory.owner = None;
            world.event.kind = EventKind::SessionStart {
                source: crate::event::StartSource::Startup,
            };
        },
        |world| {
            world.event.kind = EventKind::SessionEnd {
                reason: EndReason::Other,
            };
        },
    ];
    let request = Request {
        plan: "demo".into(),
        review: Kind::Code,
        task: TaskId::parse("1"),
        iteration: 1,
        model: "opus".into(),
        tasks: vec![],
        not_before: Millis(0),
        resumes: vec![],
    };
    let intent = Intent {
        fence: Fence(3),
        effect: request,
        owner: Owner {
            pid: 1,
            started: 1,
            boot: "b".into(),
        },
        since: Millis(0),
        deadline: Millis(1),
    };
    let outcomes = [
        PASS,
        FAIL,
        Finding::Reviewed(Verdict::Unsaid),
        Finding::NotDone(Failure::NoFile),
        Finding::NotDone(Failure::NoProgram("claude".into())),
    ];
    let mut standings: Vec<Standing<Review>> = vec![
        Standing::Clear,
        Standing::Running(intent.clone()),
        Standing::Abandoned(intent.clone()),
    ];
    standings.extend(outcomes.map(|result| {
        let outcome = Outcome {
            result,
            took: Millis(1),
            cost: 1,
        };
        Standing::Done(intent.clone(), outcome)
    }));
    let mut all = vec![];
    for change in changes {
        for standing in &standings {
            let mut world = plain.clone();
            change(&mut world);
            world.standing = standing.clone();
            all.push(world);
        }
    }
    all
}

/// The planning flow of the seed's diagram, in one chain of stops.
#[test]
fn a_plan_is_reviewed_until_two_in_a_row_are_clean() {
    let mut world = World::new(verbs::init(&["opus".into(), "sonnet".into()]));
    let mut story = format!("{}\n", world.line());
    for result in [FAIL, PASS, FAIL, PASS] {
        let (request, hold, _) = world.reviewed(result);
        assert!(hold.contains(&request.file()), "{hold}");
        story += &format!("{}: {}\n", request.model, world.line());
        world.answers();
    }
    let (request, hold, notes) = world.reviewed(PASS);
    story += &format!("{}: {}\n", request.model, world.line());
    assert_eq!(hold, "", "the person has the word");
    insta::assert_snapshot!(story, @r"
    new-plan → plan-review iter 0 opus clean 0
    opus: plan-review → post-plan-review iter 1 sonnet clean 0
    sonnet: plan-review → post-plan-review iter 2 opus clean 1
    opus: plan-review → post-plan-review iter 3 sonnet clean 0
    sonnet: plan-review → post-plan-review iter 4 opus clean 1
    opus: plan-review → create-tasks iter 5 sonnet clean 2
    ");
    insta::assert_snapshot!(notes.join("\n"), @"plan 'demo': two clean reviews in a row. Next: create-tasks, when you continue the plan");
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
            story += &format!("{}\n", world.line());
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
    all-code-review → complete iter 2 opus clean 2
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
    assert_eq!(
        hold, "",
        "as the seed says: the answer is the agent's to give"
    );
    assert_eq!(
        notes,
        ["plan 'demo': task-1-review-1.md waits for its answer, task-1-post-review-1.md"]
    );
    world.facts.answer = AnswerFile::Written;
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
fn a_killed_review_is_resumed_under_its_own_number() {
    let mut world = World::due(Kind::Code);
    let first = world.runs();
    world.standing = Standing::Abandoned(first.clone());
    world.facts.written = vec![1];
    let second = world.runs();
    assert_eq!(second.effect.iteration, 1, "never skipped");
    assert_eq!(second.effect.resumes, [first.fence]);
    world.standing = Standing::Abandoned(second.clone());
    assert_eq!(world.runs().effect.resumes, [first.fence, second.fence]);
    world.fields().phase_iteration = Some(1);
    world.standing = Standing::Abandoned(second);
    let fresh = world.runs().effect;
    assert_eq!(
        (fresh.iteration, fresh.resumes.len()),
        (2, 0),
        "somebody moved the plan"
    );
}

#[test]
fn a_result_for_a_plan_that_moved_on_changes_nothing_but_the_bill() {
    let mut world = World::due(Kind::Code);
    let intent = world.runs();
    world.fields().next_phase = None;
    let before = world.line();
    world.standing = Standing::Done(
        intent,
        Outcome {
            result: FAIL,
            took: Millis(1),
            cost: 7,
        },
    );
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
    the code review (iteration 1, opus) of plan 'demo' did not happen: `claude` was not found. The stop goes through and the review stays due: it is tried at the next stop
    the code review (iteration 1, opus) of plan 'demo' did not happen: the reviewer ended with exit code 1: no such model; see .taskie/plans/demo/.review-1.log. The stop goes through and the review stays due: it is tried at the next stop
    the code review (iteration 1, opus) of plan 'demo' did not happen: the reviewer was not back after 600 s; see .taskie/plans/demo/.review-1.log. The stop goes through and the review stays due: it is tried at the next stop
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
    world.plan.memory.moved_by(None);
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
          Raise it, or `mainspring plan set next_phase null`"
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
    world.facts.company = Company::Several;
    assert_eq!(world.says().1.len(), 1);
    world.facts.company = Company::Alone;
    world.runs();
    let (_, hold, notes) = world.reviewed(FAIL);
    assert!(!hold.is_empty());
    assert!(notes[0].contains("is now this one's"), "{notes:?}");
    assert_eq!(world.plan.memory.owner, Some(session("s")));
}

#[test]
fn what_this_version_does_not_know_is_reported_and_kept() {
    let mut world = World::due(Kind::Code);
    world.fields().phase = Some(Phase::parse("polish"));
    let before = world.plan.clone();
    let (hold, notes) = world.says();
    assert_eq!(hold, "");
    assert!(
        notes[0].contains("phase of plan 'demo' is \"polish\""),
        "{notes:?}"
    );
    assert_eq!(world.plan, before);
}

/// The host would override the block: the review was paid for, and is not lost.
#[test]
fn a_capped_stop_keeps_the_review() {
    let mut world = World::due(Kind::Code);
    world.cap = Cap::After(0);
    let (_, hold, notes) = world.reviewed(FAIL);
    assert_eq!((hold.as_str(), notes.len()), ("", 1));
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
    let plan = |fields: &Fields| {
        let mut plan = World::new(fields.clone()).plan;
        plan.passing = Some(plan::Target::Step(Kind::Plan, Phase::CreateTasks));
        State::Plan(plan)
    };
    let record = |state: State| match state {
        State::Plan(plan) => plan.record,
        State::Nothing => panic!("the plan is gone"),
    };
    let held = Review::settle(plan(&fields), Settled::Continued);
    assert_eq!(record(held), Record::Fields(fields.clone()));
    let mut world = World::new(fields.clone());
    world.says();
    fields.next_phase = Some(Phase::CreateTasks);
    assert_eq!(
        world.plan.record,
        Record::Fields(fields),
        "no third review is paid for"
    );
}

#[test]
fn the_four_blocks() {
    let texts = Kind::ALL.map(|review| {
        let mut world = World::due(review);
        world.reviewed(FAIL).1
    });
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn the_four_prompts() {
    let texts = Kind::ALL.map(|review| {
        let mut world = World::due(review);
        words::prompt(&world.runs().effect, "/lib/taskie")
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
        assert_eq!(words::dollars(micros), text);
    }
}

#[test]
fn the_routing_table() {
    let artifacts = route::Artifacts {
        plan: Document::Whole,
        tasks: Tasks::parse(TABLE_MD),
        current: Subtasks::Built,
    };
    let mut table = String::new();
    let mut row = |title: &str, record: &Record, artifacts: &route::Artifacts| {
        let route = route::route(record, artifacts);
        table += &format!("{title}: {}\n", route.sentence());
    };
    let fields = |phase: &str, next: Option<&str>| {
        Record::Fields(Fields {
            current_task: Some("1".into()),
            phase: Some(Phase::parse(phase)),
            phase_iteration: Some(2),
            next_phase: next.map(Phase::parse),
            ..Fields::default()
        })
    };
    for phase in Phase::ALL {
        let title = format!("next {phase}");
        row(
            &title,
            &fields("continue-task", Some(phase.as_str())),
            &artifacts,
        );
    }
    row(
        "next code-review, answered",
        &fields("post-code-review", Some("code-review")),
        &artifacts,
    );
    let crashed = route::Artifacts {
        plan: Document::Partial,
        tasks: Tasks::default(),
        current: Subtasks::Open,
    };
    for review in Kind::ALL {
        let title = format!("next {}, crashed", review.action());
        row(
            &title,
            &fields("continue-task", Some(review.action())),
            &crashed,
        );
    }
    for phase in Phase::ALL {
        row(
            &format!("last {phase}"),
            &fields(phase.as_str(), None),
            &artifacts,
        );
    }
    row("no state", &Record::Missing, &artifacts);
    row("no state, nothing", &Record::Missing, &crashed);
    let planned = route::Artifacts {
        plan: Document::Whole,
        ..crashed
    };
    row(
        "bad state, no tasks",
        &Record::Unreadable("state.json contains invalid JSON".into()),
        &planned,
    );
    insta::assert_snapshot!(table);
}
