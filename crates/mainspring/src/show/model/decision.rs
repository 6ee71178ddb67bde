//! One decision, explained: for `why` and for the page.

use mainspring_kernel::deliberate::{Case, Outcome, Ruling, Settlement};
use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::journal::{Entry, Record};
use mainspring_kernel::machines::{MachineInput, Transition};
use mainspring_kernel::spoken_signal::SpokenSignal;
use mainspring_kernel::{Decision, Kind, Millis};
use serde::Serialize;

use super::super::records::{self, Ending};
use crate::command::timestamp;
use crate::hosts::text::excerpt;
use crate::machines;

/// The number of a simulated record; those in the journal begin with 1.
pub(crate) const SIMULATED: u64 = 0;

/// One decision, explained.
#[derive(Serialize)]
pub(crate) struct Explanation {
    pub(crate) seq: u64,
    pub(crate) at: String,
    #[serde(skip)]
    pub(crate) time: Millis,
    pub(crate) event: String,
    pub(crate) session: Option<String>,
    pub(crate) outcome: Ending,
    pub(crate) sentence: String,
    pub(crate) machines: Vec<Because>,
    pub(crate) notes: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct Because {
    pub(crate) machine: &'static str,
    pub(crate) rule: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// The machine's state before, and what the agent said.
    pub(crate) saw: String,
    pub(crate) when: String,
    pub(crate) did: String,
    pub(crate) otherwise: String,
    pub(crate) said: Option<String>,
}

/// A record, for a person.
pub(crate) enum Explained {
    Decision(Explanation),
    /// A command is no decision: its words, and what it did.
    Command(String, String),
}

impl Because {
    /// What there is to say, each with its label.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let parts = [
            ("saw", self.saw.as_str()),
            ("because", self.when.as_str()),
            ("so", self.did.as_str()),
            ("said", self.said.as_deref().unwrap_or_default()),
            ("otherwise", self.otherwise.as_str()),
        ];
        parts.into_iter().filter(|(_, words)| !words.is_empty())
    }
}

/// Explains a record that people may see: [`Record::shareable`].
pub(crate) fn explain(record: &Record) -> Explained {
    let (case, ruling) = match &record.entry {
        Entry::Turn { case, ruling } => (case, ruling),
        Entry::Verb { command, did, .. } => {
            return Explained::Command(format!("mainspring {command}"), did.clone());
        }
    };
    let mut explanation = Explanation {
        seq: record.seq,
        at: timestamp(record.at),
        time: record.at,
        event: records::event(case).to_owned(),
        session: case.event.session.as_ref().map(ToString::to_string),
        outcome: Ending::of(ruling),
        sentence: String::new(),
        machines: Vec::new(),
        notes: Vec::new(),
    };
    match &**ruling {
        Ruling::Repeated(_) => {
            explanation.sentence =
                "The host sent the same event twice, and got the same answer.".into();
        }
        Ruling::Intends(pending) => {
            let name = pending.name();
            explanation.sentence = format!("{name} started {}.", records::effect(name));
        }
        Ruling::Settled(settlement) => {
            explanation.sentence = sentence(case, settlement);
            explanation.notes = records::told(settlement)
                .map(|note| note.text.clone())
                .collect();
            let moved = settlement
                .transitions
                .iter()
                .filter(|moved| !moved.rule().is_empty());
            explanation.machines = moved.map(|moved| because(case, moved)).collect();
        }
    }
    Explained::Decision(explanation)
}

fn sentence(case: &Case, settlement: &Settlement) -> String {
    let at_stop = matches!(case.event.kind, Kind::Stop { .. });
    let holding: Vec<&str> = settlement
        .transitions
        .iter()
        .filter(|moved| !moved.said().is_nothing())
        .map(|moved| moved.name().as_str())
        .collect();
    match settlement.outcome {
        Outcome::Passed if case.by_command => "No agent stopped: a command ran this.".into(),
        Outcome::Told if case.by_command => format!(
            "No agent stopped: a command ran this, and {} answered it.",
            holding.join(" and ")
        ),
        Outcome::Passed if at_stop => let_go(case, settlement),
        Outcome::Passed => "Nothing was said to the agent.".into(),
        Outcome::Held => format!("{} kept the agent going.", holding.join(" and ")),
        Outcome::Capped => {
            "The agent was let go, because the limit of blocks in a row was reached.".into()
        }
        Outcome::SameAnswer => {
            "The agent was let go, because it gave the same answer again and again.".into()
        }
        Outcome::Told if case.event.kind == Kind::Watch => {
            format!("{} woke the agent.", holding.join(" and "))
        }
        Outcome::Told => format!("{} told the agent something.", holding.join(" and ")),
        Outcome::Observed => {
            "Only observing: this is what would have happened. Nothing was done.".into()
        }
    }
}

/// Why nothing held the agent: a machine was stopped, may start nothing, could not be read or let
/// it go for a reason of its own; or none had to.
fn let_go(case: &Case, settlement: &Settlement) -> String {
    let under = |rule: &str| {
        let moves = settlement
            .transitions
            .iter()
            .filter(|moved| moved.rule() == rule);
        let names: Vec<&str> = moves.map(|moved| moved.name().as_str()).collect();
        (!names.is_empty()).then(|| names.join(" and "))
    };
    if let Some(names) = under("suspended") {
        return format!("The agent was let go: a person stopped or paused {names}.");
    }
    if let Some(names) = under("untrusted") {
        return format!(
            "The agent was let go: {names} may start nothing in a project that is not trusted."
        );
    }
    if let Some(broken) = case.broken.first() {
        return format!(
            "The agent was let go, because the state of {} cannot be used: {}.",
            broken.machine,
            escape_name(broken.cause.trim_end_matches('.'))
        );
    }
    let own = settlement.transitions.iter().filter_map(|moved| {
        let arrow = records::arrow(moved.name(), moved.rule(), moved.from())?;
        Some(format!("{}: {}", moved.name(), arrow.when))
    });
    let own: Vec<String> = own.collect();
    if own.is_empty() {
        return "The agent was let go: no machine had a reason to hold it.".into();
    }
    format!("The agent was let go. {}.", own.join("; "))
}

/// What the decision was made from, in a line.
fn saw(part: &MachineInput) -> String {
    let found = machines::summary(part);
    let heard = match part {
        MachineInput::Gate(input) => heard(&input.facts.heard),
        MachineInput::Loop(input) => heard(&input.facts.heard),
        MachineInput::Check(_)
        | MachineInput::Review(_)
        | MachineInput::Claim(_)
        | MachineInput::Tasks(_)
        | MachineInput::Pulse(_) => None,
    };
    let all: Vec<String> = [found].into_iter().chain(heard).collect();
    excerpt(&all.join("; "))
}

/// What the machine heard in the agent's final message.
fn heard<T>(heard: &SpokenSignal<T>) -> Option<String> {
    match heard {
        SpokenSignal::Said(_) => Some("the agent said it".into()),
        SpokenSignal::Near(near) => Some(format!("nearly said: {near}")),
        SpokenSignal::Nothing => None,
    }
}

fn because(case: &Case, moved: &Transition) -> Because {
    let part = case.inputs.iter().find(|part| part.name() == moved.name());
    let arrow = records::arrow(moved.name(), moved.rule(), moved.from());
    let (when, did, otherwise) = match arrow {
        Some(arrow) => (arrow.when.into(), arrow.does.into(), arrow.remedy.into()),
        None => (
            general(moved.rule()).into(),
            "nothing".into(),
            String::new(),
        ),
    };
    let said = moved.said();
    Because {
        machine: moved.name().as_str(),
        rule: moved.rule().into(),
        from: moved.from().into(),
        to: moved.to().into(),
        saw: part.map(saw).unwrap_or_default(),
        when,
        did,
        otherwise,
        said: (!said.is_nothing()).then(|| excerpt(&said_text(said))),
    }
}

fn said_text(decision: &Decision) -> String {
    match decision {
        Decision::Stop { hold: reasons }
        | Decision::Context { tell: reasons }
        | Decision::BeforeTool { deny: reasons }
        | Decision::Idle { notify: reasons }
        | Decision::Watch { wake: reasons } => reasons.text(),
        Decision::AfterTool { tell, object } => object.clone().join(tell.clone()).text(),
        Decision::Silent => String::new(),
    }
}

/// Rules that no machine's table has, because they apply to all machines.
fn general(rule: &str) -> &'static str {
    match rule {
        "deferred" => "it has work to start, and waits until no other machine holds the agent",
        "untrusted" => "it has work to start, and the project is not trusted",
        "capped" => "the limit of blocks in a row was reached",
        "same-answer" => "the agent gave the same answer again and again, and used no tool",
        "subagent" => "the event came from a sub-agent, not from the agent itself",
        "suspended" => "a person stopped or paused it; `mainspring resume` undoes this",
        _ => "",
    }
}
