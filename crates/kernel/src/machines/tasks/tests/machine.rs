use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::super::check::{Fault, Problem, check};
use super::super::draft::{Key, Status};
use super::super::task_list::{MOST_ID, Maker, Reset, TaskList};
use super::super::verbs::{self, Refused};
use super::super::{Facts, Guard, Invoked, Offer, TaskTools, Tasks};
use super::{entry, item, list, plain, row, skill};
use crate::effect::EffectStatus;
use crate::event::{Event, Kind, Speaker};
use crate::ids::Millis;
use crate::machine::{AfterTool, BeforeTool, Input, Machine, OnContext, Step, Verdict};
use crate::machines::conformance::{Coverage, assert_arrow, verb};

fn invoked(offer: Offer) -> Invoked {
    Invoked {
        skill: "plan:ship".into(),
        offer,
        reset: Reset::All,
        guard: Guard::Off,
        tools: TaskTools::Unknown,
        strangers: Vec::new(),
    }
}

fn two() -> Offer {
    Offer::List(list([(1, &[][..]), (2, &[1])]))
}

fn event(kind: Kind) -> Event {
    Event {
        session: None,
        speaker: Speaker::Main,
        kind,
    }
}

fn handle<V>(
    kind: Kind,
    facts: &Facts,
    call: impl FnOnce(&Input<'_, Tasks>) -> Step<Tasks, V>,
) -> Step<Tasks, V> {
    call(&Input {
        event: &event(kind),
        now: Millis(0),
        facts,
        effect_status: &EffectStatus::Clear,
    })
}

fn after_tool(state: &TaskList, facts: &Facts) -> Step<Tasks, AfterTool> {
    let kind = Kind::AfterTool {
        tool: "Skill".into(),
        skill: None,
    };
    handle(kind, facts, |input| Tasks::after_tool(state, input))
}

fn expansion(state: &TaskList, facts: &Facts) -> Step<Tasks, OnContext> {
    let kind = Kind::Expansion {
        command: "ship".into(),
    };
    handle(kind, facts, |input| Tasks::on_expansion(state, input))
}

fn bare() -> TaskList {
    TaskList {
        tasks: vec![entry(1, Maker::Hand)],
        floor: 0,
    }
}

fn under_way() -> TaskList {
    let mut active = entry(2, skill("other"));
    active.status = Status::InProgress;
    TaskList {
        tasks: vec![entry(1, Maker::Hand), active],
        floor: 0,
    }
}

fn guarded() -> Invoked {
    Invoked {
        guard: Guard::Active,
        ..invoked(two())
    }
}

/// Every way an invocation can go, from either state.
fn cases() -> Vec<(&'static str, TaskList, Invoked)> {
    let broken = Offer::Invalid {
        problems: vec![Problem {
            id: None,
            task: 1,
            key: Some(Key::Subject),
            fault: Fault::Missing,
        }],
        more: 0,
    };
    let none = Offer::List(list([]));
    let full = TaskList {
        floor: MOST_ID,
        ..bare()
    };
    let gone = || Offer::Unavailable("no such file".into());
    vec![
        ("unavailable", bare(), invoked(gone())),
        ("unavailable", under_way(), invoked(gone())),
        ("invalid", bare(), invoked(broken.clone())),
        ("invalid", under_way(), invoked(broken)),
        ("exhausted", full, invoked(two())),
        ("guarded", under_way(), guarded()),
        ("lay-out", bare(), guarded()),
        ("lay-out", bare(), invoked(two())),
        ("reset", under_way(), invoked(two())),
        ("empty", bare(), invoked(none.clone())),
        ("empty", under_way(), invoked(none.clone())),
        (
            "empty-beside",
            under_way(),
            Invoked {
                reset: Reset::Skill,
                ..invoked(none)
            },
        ),
    ]
}

#[test]
fn every_way_is_an_arrow_of_the_table() {
    let mut coverage = Coverage::default();
    for (rule, state, invoked) in cases() {
        let facts = Facts::Invoked(invoked);
        let tool = after_tool(&state, &facts);
        let typed = expansion(&state, &facts);
        assert_eq!((tool.rule, typed.rule), (rule, rule));
        assert_eq!(tool.state, typed.state, "{rule}");
        for on in ["after_tool", "expansion"] {
            assert_arrow::<Tasks>(rule, &state, on, &tool.state);
        }
        coverage.saw(rule, Tasks::label(&state));
    }
    let peek = peek();
    assert_arrow::<Tasks>(peek.rule, &bare(), "before_tool", &peek.state);
    coverage.saw(peek.rule, "bare");
    for state in [bare(), under_way()] {
        for id in [1, 2, 99] {
            verb(&mut coverage, &state, verbs::start(&state, id));
            verb(&mut coverage, &state, verbs::done(&state, id));
            verb(&mut coverage, &state, verbs::note(&state, id));
            let added = verbs::add(&state, "More", &[id]);
            verb(&mut coverage, &state, added.map(|(_, step)| step));
        }
    }
    coverage.assert_complete::<Tasks>();
}

#[test]
fn a_task_waits_for_what_is_open_before_it() {
    let (second, step) = verbs::add(&bare(), "Then this", &[1]).unwrap();
    let added = step.state;
    assert_eq!((second.maker, second.blocked_by), (Maker::Hand, vec![1]));
    assert_eq!(added.entry(1).unwrap().blocks, [2], "both sides know");
    let waits = Refused::Waits {
        id: 2,
        waits_for: vec![1],
    };
    assert_eq!(verbs::start(&added, 2), Err(waits));
    let free = verbs::done(&added, 1).unwrap().state;
    let started = verbs::start(&free, 2).unwrap().state;
    assert_eq!(started.entry(2).unwrap().status, Status::InProgress);
}

#[test]
fn a_command_about_no_task_is_refused() {
    let full = TaskList {
        floor: MOST_ID,
        ..bare()
    };
    assert_eq!(verbs::start(&bare(), 7), Err(Refused::NoTask(7)));
    assert_eq!(verbs::done(&bare(), 7), Err(Refused::NoTask(7)));
    assert_eq!(verbs::note(&bare(), 7), Err(Refused::NoTask(7)));
    assert_eq!(
        verbs::add(&bare(), "x", &[7]).map(drop),
        Err(Refused::NoTask(7))
    );
    assert_eq!(
        verbs::add(&bare(), " ", &[]).map(drop),
        Err(Refused::NoSubject)
    );
    assert_eq!(
        verbs::add(&full, "x", &[]).map(drop),
        Err(Refused::NoNumber)
    );
}

#[test]
fn a_refusal_changes_nothing_and_tells_both() {
    for (rule, state, invoked) in cases() {
        let facts = Facts::Invoked(invoked);
        let tool = after_tool(&state, &facts);
        let refused = matches!(tool.verdict, Verdict::Say(AfterTool::Object(_)));
        let told_person = !tool.notes.is_empty();
        assert_eq!(refused, told_person, "{rule}");
        let emptied = rule.starts_with("empty");
        assert_eq!(refused, tool.state == state && !emptied, "{rule}");
        // A typed skill is never refused: that would erase what the person typed.
        let typed = expansion(&state, &facts);
        let Verdict::Say(OnContext::Tell(_)) = typed.verdict else {
            panic!("{rule}: the agent hears nothing");
        };
    }
}

#[test]
fn with_task_tools_the_list_speaks_for_itself() {
    let shown = Invoked {
        tools: TaskTools::Shown,
        strangers: vec!["notes.json".into()],
        ..invoked(two())
    };
    let step = after_tool(&bare(), &Facts::Invoked(shown));
    assert_eq!(step.verdict, Verdict::Say(AfterTool::Pass));
    assert_eq!(step.state.tasks.len(), 3);
    assert_eq!(
        step.notes,
        ["left alone, because it is not a task: notes.json"]
    );
}

#[test]
fn the_guard_only_minds_tasks_that_would_go() {
    let mut by_hand = entry(1, Maker::Hand);
    by_hand.status = Status::InProgress;
    let state = TaskList {
        tasks: vec![by_hand, entry(2, skill("other"))],
        floor: 0,
    };
    let rule = |invoked| after_tool(&state, &Facts::Invoked(invoked)).rule;
    assert_eq!(rule(guarded()), "reset");
    let own_only = Invoked {
        reset: Reset::Skill,
        ..guarded()
    };
    assert_eq!(
        after_tool(&under_way(), &Facts::Invoked(own_only)).rule,
        "reset"
    );
}

#[test]
fn events_without_a_list_are_ignored() {
    assert_eq!(after_tool(&bare(), &Facts::Nothing).rule, "");
    assert_eq!(expansion(&bare(), &Facts::Nothing).rule, "");
}

#[test]
fn a_peek_is_denied() {
    let step = peek();
    assert_eq!(step.rule, "peek");
    assert!(matches!(step.verdict, Verdict::Say(BeforeTool::Deny(_))));
    let step = before_tool(&Facts::Nothing);
    assert_eq!(step.verdict, Verdict::Say(BeforeTool::Pass));
}

fn peek() -> Step<Tasks, BeforeTool> {
    before_tool(&Facts::Peek {
        file: "fsm.json".into(),
    })
}

fn before_tool(facts: &Facts) -> Step<Tasks, BeforeTool> {
    let kind = Kind::BeforeTool {
        tool: "Read".into(),
    };
    handle(kind, facts, |input| Tasks::before_tool(&bare(), input))
}

fn said(state: &TaskList, offer: Offer) -> String {
    match expansion(state, &Facts::Invoked(invoked(offer))).verdict {
        Verdict::Say(OnContext::Tell(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_agent_reads() {
    let mut items = list([(1, &[][..]), (2, &[1]), (3, &[1, 2])]);
    items.items[0].status = Status::Completed;
    assert_snapshot!(said(&bare(), Offer::List(items)), @r"
    The skill 'plan:ship' laid out 3 tasks, in this order:
    #2 Step 1 [completed]
    #3 Step 2 (after #2)
    #4 Step 3 (after #2, #3)
    Work through them and keep the list as you go. If you have no task tools: `mainspring tasks next` shows what can start now, `mainspring tasks start ID` and `mainspring tasks done ID` move a task.
    ");
    let Err(problems) = check(&[row(plain(1)), row(plain(1)), row(plain(0))]) else {
        panic!("a list")
    };
    assert_snapshot!(said(&bare(), Offer::of(Err(problems))), @r"
    The task list of the skill 'plan:ship' was not laid out, and no task was changed.
    Validation failed:
      Task 2 (id 1): duplicate id 1
      Task 3: 'id' must be a whole number from 1 to 1000000, found 0
    ");
    let step = after_tool(&under_way(), &Facts::Invoked(guarded()));
    assert_snapshot!(step.notes.join("\n"), @r"
    The task list of the skill 'plan:ship' was not laid out, and no task was changed.
    Related active task(s) must be resolved and verified first. In progress: #2.
    ");
}

#[test]
fn what_the_agent_reads_has_an_end() {
    let many = (1..=1_000).map(|local| item(local, &[])).collect();
    let text = said(
        &bare(),
        Offer::List(super::super::check::List { items: many }),
    );
    assert!(text.len() < 7_000, "{}", text.len());
    assert!(text.contains("more: `mainspring tasks list`"));

    let rows: Vec<_> = (0..1_000).map(|_| row(plain(0))).collect();
    let Offer::Invalid { problems, more } = Offer::of(check(&rows)) else {
        panic!("a list")
    };
    assert_eq!((problems.len(), more), (100, 900));
}
