//! For tests: does a machine do what its table says?

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::effect::EffectStatus;
use crate::event::{Author, Background, Chain, EndReason, Event, Kind, Speaker, StartSource};
use crate::ids::{Millis, SessionId};
use crate::machine::{ANY, Input, Machine, Settled, Step};
use crate::verbs::{Actor, VerbStep};

/// What a handler did, whatever its event allows it to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken<M: Machine> {
    pub(crate) rule: &'static str,
    pub(crate) state: M::State,
    /// The verdict, as `{:?}` shows it.
    pub(crate) said: String,
    pub(crate) notes: Vec<String>,
}

impl<M: Machine> Taken<M> {
    pub(crate) fn holds(&self) -> bool {
        self.said.contains("Hold")
    }
}

/// The arrows that a test has seen taken: each is a rule and the state that it left.
#[derive(Debug, Default)]
pub(crate) struct Coverage(BTreeSet<(&'static str, &'static str)>);

impl Coverage {
    pub(crate) fn saw(&mut self, rule: &'static str, from: &'static str) {
        self.0.insert((rule, from));
    }

    /// Every arrow was taken, from every state that it leaves.
    pub(crate) fn assert_complete<M: Machine>(&self) {
        assert_unambiguous::<M>();
        let taken = |rule, from| match from {
            "any" => self.0.iter().any(|(seen, _)| *seen == rule),
            from => self.0.contains(&(rule, from)),
        };
        let missing: Vec<_> = M::TABLE
            .iter()
            .flat_map(|arrow| arrow.from.iter().map(|from| (arrow.rule, *from)))
            .filter(|(rule, from)| !taken(*rule, from))
            .collect();
        assert!(missing.is_empty(), "never taken: {missing:?}");
    }
}

/// A rule and the state that it left must name one arrow: `why` finds the arrow by them.
fn assert_unambiguous<M: Machine>() {
    for (at, arrow) in M::TABLE.iter().enumerate() {
        for other in M::TABLE.iter().skip(at + 1) {
            let shared = arrow.from == ANY
                || other.from == ANY
                || arrow.from.iter().any(|state| other.leaves(state));
            assert!(
                arrow.rule != other.rule || !shared,
                "two arrows {} leave one state",
                arrow.rule
            );
        }
    }
}

pub(crate) fn session(id: &str) -> SessionId {
    SessionId::parse(id).expect("a usable id")
}

pub(crate) fn actors() -> [Actor; 3] {
    let agent = |id| Actor::Agent(Some(session(id)));
    [agent("s1"), agent("other"), Actor::Person]
}

pub(crate) fn event(session_id: &str, kind: Kind) -> Event {
    Event {
        session: SessionId::parse(session_id),
        speaker: Speaker::Main,
        kind,
    }
}

pub(crate) fn stop(background: Background) -> Kind {
    Kind::Stop {
        chain: Chain::First,
        background,
    }
}

/// One of every event, and of every variant of one that a machine might tell apart.
pub(crate) fn every_kind() -> Vec<Kind> {
    let mut all = Vec::from([
        stop(Background::Quiet),
        stop(Background::Working),
        Kind::Stop {
            chain: Chain::Continued,
            background: Background::Quiet,
        },
        Kind::Prompt {
            author: Author::Person,
        },
        Kind::Prompt {
            author: Author::Host,
        },
        Kind::Expansion {
            command: "review".into(),
        },
        Kind::BeforeTool {
            tool: "Bash".into(),
        },
        Kind::AfterTool {
            tool: "Bash".into(),
            skill: None,
        },
        Kind::Idle,
        Kind::Watch,
        Kind::SessionEnd {
            reason: EndReason::Clear,
        },
        Kind::SessionEnd {
            reason: EndReason::Other,
        },
    ]);
    all.extend(
        [
            StartSource::Startup,
            StartSource::Resume,
            StartSource::Clear,
            StartSource::Compact,
            StartSource::Fork,
            StartSource::Other,
        ]
        .map(|source| Kind::SessionStart { source }),
    );
    all
}

/// Gives the event to its handler, and checks what it did against the table.
pub(crate) fn step<M: Machine>(
    state: &M::State,
    event: &Event,
    facts: &M::Facts,
    now: Millis,
) -> Taken<M> {
    let input = Input {
        event,
        now,
        facts,
        effect_status: &EffectStatus::Clear,
    };
    let taken = match &event.kind {
        Kind::Stop { .. } => taken(M::on_stop(state, &input)),
        Kind::SessionStart { .. } => taken(M::on_start(state, &input)),
        Kind::Prompt { .. } => taken(M::on_prompt(state, &input)),
        Kind::Expansion { .. } => taken(M::on_expansion(state, &input)),
        Kind::BeforeTool { .. } => taken(M::before_tool(state, &input)),
        Kind::AfterTool { .. } => taken(M::after_tool(state, &input)),
        Kind::Idle => taken(M::on_idle(state, &input)),
        Kind::Watch => taken(M::on_watch(state, &input)),
        Kind::SessionEnd { .. } => taken(M::on_end(state, &input)),
        Kind::Other { .. } => panic!("no handler"),
    };
    if taken.rule.is_empty() {
        assert_eq!(&taken.state, state, "an ignored event changes nothing");
    } else {
        assert_arrow::<M>(taken.rule, state, event.kind.name(), &taken.state);
    }
    taken
}

/// Checks the result of a command against the table. A refusal changes nothing.
pub(crate) fn verb<M: Machine, E>(
    coverage: &mut Coverage,
    state: &M::State,
    came_to: Result<VerbStep<M>, E>,
) {
    let Ok(step) = came_to else { return };
    if step.rule.is_empty() {
        assert_eq!(
            &step.state, state,
            "a command without an arrow moves nothing"
        );
        return;
    }
    assert_arrow::<M>(step.rule, state, "verb", &step.state);
    coverage.saw(step.rule, M::label(state));
}

/// Tells the machine how the stop ended, and finds the arrow if the state changed.
pub(crate) fn settle<M: Machine>(
    state: &M::State,
    settled: Settled,
) -> (M::State, Option<&'static str>) {
    let next = M::settle(state.clone(), settled);
    let on = match settled {
        Settled::Released => "released",
        Settled::Continued => "continued",
    };
    let (from, to) = (M::label(state), M::label(&next));
    let rule = M::TABLE
        .iter()
        .find(|arrow| arrow.on == on && arrow.leaves(from) && arrow.target(from) == to)
        .map(|arrow| arrow.rule);
    if next != *state {
        assert!(rule.is_some(), "no arrow from {from} to {to} on {on}");
    }
    (next, rule)
}

pub(crate) fn assert_arrow<M: Machine>(rule: &str, from: &M::State, on: &str, to: &M::State) {
    let (from, to) = (M::label(from), M::label(to));
    let arrow = M::TABLE
        .iter()
        .find(|arrow| arrow.rule == rule && arrow.leaves(from))
        .unwrap_or_else(|| panic!("no arrow {rule} leaves {from}"));
    assert_eq!(arrow.target(from), to, "{rule} from {from}");
    assert!(
        arrow.on.split(", ").any(|named| named == on),
        "{rule}: {on}"
    );
}

fn taken<M: Machine, V: core::fmt::Debug>(step: Step<M, V>) -> Taken<M> {
    let said = match &step.verdict {
        crate::machine::Verdict::Say(verdict) => alloc::format!("{verdict:?}"),
        crate::machine::Verdict::Need { .. } => "Need".to_string(),
    };
    Taken {
        rule: step.rule,
        state: step.state,
        said,
        notes: step.notes,
    }
}
