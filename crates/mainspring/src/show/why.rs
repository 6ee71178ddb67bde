//! `mainspring why`: why the last decision was what it was.

use mainspring_kernel::deliberate::{Case, Outcome, Ruling, Settlement};
use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::journal::{Entry, Record};
use mainspring_kernel::machines::{MachineInput, Transition};
use mainspring_kernel::spoken_signal::SpokenSignal;
use mainspring_kernel::{Kind, Millis, ids};
use mainspring_store::digest;
use serde::Serialize;

use super::filter::Filter;
use super::journal_cursor::Shown;
use super::records;
use crate::command::{CommandContext, Result, timestamp};
use crate::error::CliError;
use crate::hosts::text::excerpt;
use crate::machines;
use crate::machines::at_work;
use crate::people::which_session;
use crate::store::ProjectStore;

/// Explain the last stop: why the agent was held or let go, which machine decided that, what it
/// saw, and what would have changed it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring why\n  mainspring why 12                       record #12, as `log` numbers them\n  mainspring why --event any              the last decision at any event\n  mainspring why -n 3 --machine review    the last three in which review took part"
)]
pub(crate) struct Args {
    /// Explain the record with this number, as `mainspring log` shows it
    #[arg(value_name = "RECORD", value_parser = crate::command::number,
          conflicts_with_all = ["machine", "session", "since", "event", "last"])]
    record: Option<u64>,
    #[command(flatten)]
    filter: Filter,
    /// Explain decisions at this event, such as `prompt` or `session_start`; `any` for all
    #[arg(long, value_name = "EVENT", default_value = STOP, value_parser = event_name)]
    event: String,
    /// Explain the last N decisions, the latest first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 1)]
    last: usize,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// The event that people ask about.
const STOP: &str = "stop";

/// Every event.
const ANY: &str = "any";

fn event_name(text: &str) -> std::result::Result<String, String> {
    if [ANY, records::COMMAND].contains(&text) || Kind::NAMES.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "use one of {}, {}, {ANY}",
        Kind::NAMES.join(", "),
        records::COMMAND
    ))
}

/// The number of a simulated record; those in the journal begin with 1.
pub(crate) const SIMULATED: u64 = 0;

/// One decision, explained.
#[derive(Serialize)]
pub(super) struct Explanation {
    pub(super) seq: u64,
    pub(super) at: String,
    #[serde(skip)]
    time: Millis,
    pub(super) event: String,
    pub(super) session: Option<String>,
    pub(super) outcome: &'static str,
    pub(super) sentence: String,
    pub(super) machines: Vec<Because>,
    pub(super) notes: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Because {
    pub(super) machine: &'static str,
    pub(super) rule: String,
    pub(super) from: String,
    pub(super) to: String,
    /// The machine's state before, and what the agent said.
    pub(super) saw: String,
    pub(super) when: String,
    pub(super) did: String,
    pub(super) otherwise: String,
    pub(super) said: Option<String>,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let (_, store) = cmd.project()?;
    if let Some(number) = args.record {
        return numbered(number, args, cmd, &store);
    }
    let filter = args.filter.resolved(cmd)?;
    let mut explained = Vec::new();
    for seen in records::all(store.dir())?.into_iter().rev() {
        let Shown::Record(record) = seen else {
            continue;
        };
        if !filter.takes(&record, cmd.env.now()) {
            continue;
        }
        let record = record.shareable(digest::REDUCER);
        if let Entry::Turn { case, ruling } = &record.entry
            && (args.event == ANY || records::event(case) == args.event)
        {
            explained.push(explain(&record, case, ruling));
        }
        if explained.len() >= args.last {
            break;
        }
    }
    if explained.is_empty() {
        let what = match args.event.as_str() {
            ANY => "no decision in this project's journal matches".to_owned(),
            event => format!("no decision at a {event} in this project's journal matches"),
        };
        return Err(CliError::not_found(what).hint(
            "`mainspring why --event any` explains the last decision; `mainspring log` shows all",
        ));
    }
    if args.json {
        return crate::command::json_list("decisions", &explained);
    }
    let running = at_work::all(&cmd.env, &store)?;
    let now = running.iter().map(|work| {
        let line = escape_name(&work.line_and_end()).into_owned();
        format!("{} {line}\n", cmd.paint.bold("now:"))
    });
    let texts: Vec<String> = now
        .chain(explained.iter().map(|one| render(cmd, one)))
        .chain(unrecorded(args, cmd, &store, &explained))
        .collect();
    Ok(cmd.fitted(&texts.join("\n")))
}

/// The record with this number.
fn numbered(number: u64, args: &Args, cmd: &CommandContext, store: &ProjectStore) -> Result {
    let records = records::all(store.dir())?.into_iter();
    let mut records = records.filter_map(|seen| match seen {
        Shown::Record(record) => Some(record),
        Shown::Problem(_) => None,
    });
    let record = records.find(|record| record.seq == number);
    let record = record.ok_or_else(|| {
        CliError::not_found(format!("this project's journal has no record #{number}"))
            .hint("`mainspring log` shows the records with their numbers")
    })?;
    let record = record.shareable(digest::REDUCER);
    match &record.entry {
        Entry::Turn { case, ruling } if args.json => {
            crate::command::json_list("decisions", &[explain(&record, case, ruling)])
        }
        Entry::Verb { command, .. } if args.json => Err(CliError::usage(format!(
            "record #{number} is no decision, but a command: mainspring {command}"
        ))
        .hint("`mainspring log --json` prints every record")),
        Entry::Turn { .. } | Entry::Verb { .. } => Ok(cmd.fitted(&plainly(cmd, &record))),
    }
}

/// A stop at which no machine applies leaves no record. So the one that is explained may be older
/// than the stop that the person asks about, or another session's.
fn unrecorded(
    args: &Args,
    cmd: &CommandContext,
    store: &ProjectStore,
    explained: &[Explanation],
) -> Option<String> {
    let newest = explained.first()?;
    if args.event != STOP || args.last != 1 {
        return None;
    }
    let mut other = String::new();
    if args.filter.session.is_none()
        && let Some((live, _)) = which_session::here(&cmd.env, store).first()
        && newest.session.as_deref() != Some(live.id.as_str())
    {
        let id = live.id.as_str();
        let short = escape_name(ids::short(id)).into_owned();
        other = format!(
            "This is not session {short}, which is live here: `mainspring why --session {short}`.\n"
        );
    }
    let note = "A later stop at which no machine applied is not recorded: the agent was let go.\n";
    Some(format!("{other}{}", cmd.paint.dim(note)))
}

/// One decision in plain words.
pub(crate) fn plainly(cmd: &CommandContext, record: &Record) -> String {
    match &record.entry {
        Entry::Turn { case, ruling } => render(cmd, &explain(record, case, ruling)),
        Entry::Verb { command, did, .. } => format!("mainspring {command}: {did}\n"),
    }
}

pub(super) fn explain(record: &Record, case: &Case, ruling: &Ruling) -> Explanation {
    let mut explanation = Explanation {
        seq: record.seq,
        at: timestamp(record.at),
        time: record.at,
        event: records::event(case).to_owned(),
        session: case.event.session.as_ref().map(ToString::to_string),
        outcome: records::outcome(ruling),
        sentence: String::new(),
        machines: Vec::new(),
        notes: Vec::new(),
    };
    match ruling {
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
    explanation
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
        let mut arrows = moved.name().table().iter();
        let arrow = arrows.find(|one| one.rule == moved.rule() && one.leaves(moved.from()))?;
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
    let mut arrows = moved.name().table().iter();
    let arrow = arrows.find(|arrow| arrow.rule == moved.rule() && arrow.leaves(moved.from()));
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

fn said_text(decision: &mainspring_kernel::Decision) -> String {
    use mainspring_kernel::Decision;
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

fn render(cmd: &CommandContext, one: &Explanation) -> String {
    let paint = cmd.paint;
    let session = match &one.session {
        Some(id) => format!("session {}", ids::short(id)),
        None => "no session".into(),
    };
    let session = escape_name(&session);
    let mut out = format!(
        "{} {}\n{}\n",
        paint.bold(&match one.seq {
            SIMULATED => format!("simulated {}: {}", one.event, one.outcome),
            seq => format!("#{seq} {} {}", one.event, one.outcome),
        }),
        paint.dim(&match one.seq {
            SIMULATED => session.into_owned(),
            _ => format!("{}, {session}", which_session::ago(cmd.env.now(), one.time)),
        }),
        one.sentence,
    );
    for because in &one.machines {
        out += &format!(
            "\n  {}  {} → {}, by rule {}\n",
            paint.bold(because.machine),
            because.from,
            because.to,
            because.rule
        );
        let mut line = |label: &str, text: &str| {
            if !text.is_empty() {
                out += &format!("    {label:<10} {text}\n");
            }
        };
        line("saw", &because.saw);
        line("because", &because.when);
        line("so", &because.did);
        line("said", because.said.as_deref().unwrap_or_default());
        line("otherwise", &because.otherwise);
    }
    for note in &one.notes {
        out += &format!("\n  {} {note}\n", paint.warn("told the person:"));
    }
    out
}
