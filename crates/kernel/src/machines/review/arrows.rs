//! Every transition against the table.

use alloc::vec;
use alloc::vec::Vec;

use super::phase::Phase;
use super::table::Tasks;
use super::verbs::Setting;
use super::world::{FAIL, PASS, World, assert_in_table, session};
use super::*;
use crate::deliberate::{Ruling, deliberate};
use crate::effect::{EffectOwner, EffectStatus, Intent};
use crate::event::{Author, Background, Chain, EndReason, Kind as EventKind};
use crate::machines::conformance::{Coverage, actors, verb};
use crate::machines::{Pending, Transition};

/// Every pair of a state and an event, under every fact that the table mentions: each step is an
/// arrow of the table, and each arrow is taken.
#[test]
fn the_table_is_what_happens() {
    let mut coverage = Coverage::default();
    for world in worlds() {
        let states = [State::Nothing, State::Plan(world.plan.clone().into())];
        for state in states {
            let case = world.case(state);
            match deliberate(&case) {
                Ruling::Intends(Pending::Review(_)) => {
                    coverage.saw("review", case.inputs[0].label());
                }
                Ruling::Settled(settled) => {
                    let Transition::Review(moved) = &settled.transitions[0] else {
                        panic!("another machine's move")
                    };
                    if !moved.rule.is_empty() {
                        let arrow = assert_in_table(moved, case.event.kind.name());
                        coverage.saw(arrow.rule, case.inputs[0].label());
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }
    for state in plans() {
        command(&mut coverage, &state);
    }
    coverage.assert_complete::<Review>();
}

/// A plan in every state, and no plan.
fn plans() -> Vec<State> {
    let mut all = vec![State::Nothing];
    let nexts = [
        None,
        Some(Phase::CompleteTask),
        Some(Phase::Review(Kind::Code)),
        Some(Phase::PostReview(Kind::Code)),
        Some(Phase::Unknown("later".into())),
    ];
    for next in nexts {
        let mut world = World::due(Kind::Code);
        world.fields().next_phase = next;
        world.plan.memory.ledger = vec![finding(0)];
        all.push(State::Plan(world.plan.clone().into()));
        for lack in [Lack::Missing, Lack::Unreadable("line 1".into())] {
            all.push(State::of(
                "demo".into(),
                Err(lack),
                world.plan.memory.clone(),
            ));
        }
    }
    all
}

/// A finding in the code of task 1 that was not fixed so often.
fn finding(unfixed: u32) -> findings::Entry {
    findings::Entry {
        id: "F1".into(),
        key: cycle::CycleKey {
            review: Kind::Code,
            task: TaskId::parse("1"),
        },
        severity: findings::Severity::Major,
        place: None,
        claim: "it leaks".into(),
        print: crate::ids::Digest("x".into()),
        state: findings::EntryState::Open,
        answer: None,
        unfixed,
        disputed: 0,
    }
}

/// Every command, by every actor.
fn command(coverage: &mut Coverage, state: &State) {
    let models = ["opus".into(), "sonnet".into()];
    let task = TaskId::parse("7");
    let some = Tasks::parse("| Id | Status |\n| 1 | done |\n| 7 | pending |");
    let last = Tasks::parse("| Id | Status |\n| 1 | done |");
    for (actor, tasks) in actors()
        .into_iter()
        .flat_map(|actor| [(actor.clone(), &some), (actor, &last)])
    {
        let asked = verbs::Asked {
            actor: &actor,
            typed: verbs::Typed::No,
            models: &models,
            tasks,
        };
        let memory = plan::Memory::default();
        verb(coverage, state, verbs::init(state, "demo", memory, asked));
        let adopted = verbs::adopt(state, actor.session());
        if *state != State::Nothing {
            verb(coverage, state, Ok::<_, verbs::Refused>(adopted));
        }
        let Ok(plan) = verbs::recorded(state) else {
            continue;
        };
        for phase in Phase::ALL {
            for task in [None, task.as_ref()] {
                verb(coverage, state, verbs::advance(plan, &phase, task, asked));
            }
        }
        for setting in [
            Setting::MaxReviews(3),
            Setting::CurrentTask(task.clone()),
            Setting::Tdd(true),
        ] {
            verb(coverage, state, verbs::set(plan, setting, asked));
        }
        for kind in [None].into_iter().chain(Kind::ALL.map(Some)) {
            verb(coverage, state, verbs::restart(plan, kind, None, asked));
        }
        verb(
            coverage,
            state,
            verbs::accept(plan, verbs::Written::Yes, asked),
        );
        let reply = findings::Reply {
            id: "F1".into(),
            how: findings::How::Fixed,
            why: "done".into(),
        };
        verb(coverage, state, verbs::answer(plan, &reply, asked));
        verb(coverage, state, verbs::review_now(plan, &actor));
    }
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

type Change = fn(&mut World);

/// The usual facts, with one of them changed.
const CHANGES: [Change; 26] = [
    |world| world.plan.memory.ledger = vec![finding(2)],
    |world| {
        world.fields().current_task = None;
        world.plan.memory.done = Some(vec![]);
    },
    |world| {
        world.fields().next_phase = Some(Phase::Review(Kind::AllCode));
        world.facts.tasks = Tasks::default();
        world.begin(0, 0);
        world.facts.tasks = Tasks::parse("| Id | Status |\n| 1 | pending |");
    },
    |world| {
        world.facts.tasks = Tasks::default();
        world.begin(0, 0);
        world.facts.tasks = Tasks::parse("| Id | Status |\n| 1 | pending |");
    },
    |world| {
        world.begin(8, 0);
        world.plan.memory.waiting = Some(plan::Waiting::Untold);
        world.event.kind = EventKind::Prompt {
            author: Author::Person,
        };
    },
    |world| {
        let key = cycle::CycleKey {
            review: Kind::Plan,
            task: None,
        };
        world.plan.memory.exhaust(&key);
        world.event.kind = EventKind::Prompt {
            author: Author::Person,
        };
    },
    |_| {},
    |world| world.plan.memory.owner = Some(session("other")),
    |world| world.plan.memory.owner = None,
    |world| {
        world.plan.memory.owner = None;
        world.facts.asker = Asker::Session(OtherSessions::Several);
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
    |world| world.begin(8, 0),
    |world| {
        world.begin(8, 0);
        world.facts.violations = vec!["x".into()];
    },
    |world| {
        world.begin(8, 0);
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
        world.plan.memory.trouble = Some(plan::OverdueReview {
            key: cycle::CycleKey {
                review: Kind::Code,
                task: TaskId::parse("1"),
            },
            failures: 1,
            at: Millis(0),
            parked: plan::Parked::Yes,
        });
    },
    |world| world.facts.settings.on_failure = OnFailure::Retry,
    |world| world.begin(1, 1),
    |world| {
        world.begin(1, 1);
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

/// Every status of the effect.
fn standings() -> Vec<EffectStatus<Review>> {
    let request = Request {
        plan: "demo".into(),
        review: Kind::Code,
        task: TaskId::parse("1"),
        iteration: 1,
        model: "opus".into(),
        progress: Progress::default(),
        tasks: vec![],
        ledger: None,
        not_before: Millis(0),
        resumes: vec![],
    };
    let intent = Intent {
        fence: Fence(3),
        effect: request,
        owner: EffectOwner {
            pid: 1,
            started: 1,
            boot: "b".into(),
        },
        since: Millis(0),
        deadline: Millis(1),
        uptime: crate::Uptime(0),
    };
    let outcomes = [
        PASS,
        FAIL,
        Finding::Reviewed(Verdict::Unsaid),
        Finding::NotDone(Failure::NoFile),
        Finding::NotDone(Failure::NoProgram("claude".into())),
    ];
    let mut standings: Vec<EffectStatus<Review>> = vec![
        EffectStatus::Clear,
        EffectStatus::Running(intent.clone()),
        EffectStatus::Abandoned(intent.clone()),
    ];
    standings.extend(outcomes.map(|result| {
        let outcome = Outcome::new(result, Millis(1), 1);
        EffectStatus::Done(intent.clone(), outcome)
    }));
    standings
}

fn variations(plain: &World) -> Vec<World> {
    let mut all = vec![];
    let standings = standings();
    for change in CHANGES {
        for effect_status in &standings {
            let mut world = plain.clone();
            change(&mut world);
            world.effect_status = effect_status.clone();
            all.push(world.clone());
            world.remind();
            all.push(world);
        }
    }
    all
}
