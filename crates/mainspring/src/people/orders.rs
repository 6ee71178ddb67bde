//! A person's orders for a project: our record of them, the person's own file in the project, and
//! how an order is typed.

use std::path::PathBuf;

use mainspring_kernel::journal::{Entry, FileChange};
use mainspring_kernel::orders::{Given, Order, Scope, Until};
use mainspring_kernel::{Millis, Name, Orders};
use mainspring_store::journal::{self, JournalLine, Reader};
use mainspring_store::{Trouble, json_change, read_json};

use crate::project::Project;
use crate::store::ProjectStore;
use crate::timestamp;

/// While this file exists, the machines are stopped here.
pub(crate) const OFF_FILE: &str = ".mainspring-off";

/// The orders as they are recorded, with the bytes that they were read from.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) orders: Orders,
    path: PathBuf,
    bytes: Option<Vec<u8>>,
}

impl Recorded {
    pub(crate) fn load(store: &ProjectStore) -> Result<Self, Trouble> {
        let found = read_json::<Orders>(store.dir().join("orders.json"))?;
        Ok(Self {
            orders: found.value.unwrap_or_default(),
            path: found.path,
            bytes: found.bytes,
        })
    }

    /// The change that records these orders; without orders the file is deleted.
    pub(crate) fn change(&self, orders: &Orders) -> Result<FileChange, Trouble> {
        let orders = Some(orders).filter(|orders| !orders.is_empty());
        json_change(&self.path, self.bytes.as_deref(), orders)
    }
}

/// The orders in force: those that were recorded, and the file in the project.
pub(crate) fn in_force(project: &Project, store: &ProjectStore) -> Result<Orders, Trouble> {
    let mut orders = Recorded::load(store)?.orders;
    if std::fs::symlink_metadata(project.file(OFF_FILE)).is_ok() {
        orders.everything = Some(Until::FileGone);
    }
    Ok(orders)
}

/// The orders that were given here since then, as far as the current part of the journal tells.
pub(crate) fn given_since(store: &ProjectStore, since: Millis) -> Vec<Given> {
    let current = store.dir().join(journal::CURRENT);
    let Ok(Some(lines)) = Reader::open(&current, 0, None) else {
        return Vec::new();
    };
    let given = |line| match line {
        Ok(JournalLine::Record(line)) => match line.record.entry {
            Entry::Verb { command, .. } => Some(Given {
                order: parse(&command)?.ok()?,
                at: line.record.at,
            }),
            Entry::Turn { .. } => None,
        },
        Ok(_) | Err(_) => None,
    };
    lines
        .filter_map(given)
        .filter(|given| given.at >= since)
        .collect()
}

/// What our commands are called in a client.
const COMMAND: &str = "/mainspring:";

/// The same in a message.
const MESSAGE: &str = "mainspring ";

/// How long a pause is, if the person does not say.
const PAUSE: Millis = Millis::seconds(30 * 60);

/// A year, which is longer than anybody means.
const LONGEST: Millis = Millis::seconds(365 * 24 * 60 * 60);

/// The order in what a person typed in a client, or what is wrong with it: a command of ours, or a
/// message that is nothing but an order. A message that is more than that is for the agent.
pub(crate) fn typed(text: &str) -> Option<Result<Order, String>> {
    let text = text.trim();
    match text.strip_prefix(COMMAND) {
        Some(command) => parse(command),
        None => parse(text.strip_prefix(MESSAGE)?).filter(Result::is_ok),
    }
}

/// An order as it is typed after our name: `pause 30m loop`. `None` for any other command.
fn parse(text: &str) -> Option<Result<Order, String>> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let order: fn(Scope, Option<Millis>) -> Order = match *words.first()? {
        "stop" => |scope, _| Order::Stop(scope),
        "pause" => |scope, span| Order::Pause(scope, span.unwrap_or(PAUSE)),
        "resume" => |scope, _| Order::Resume(scope),
        _ => return None,
    };
    let pauses = words.remove(0) == "pause";
    let named = words.last().map(|word| machine(word));
    let scope = match named {
        Some(Ok(name)) => {
            words.pop();
            Scope::Machine(name)
        }
        Some(Err(problem)) if !pauses || words.len() > 1 => return Some(Err(problem)),
        Some(Err(_)) | None => Scope::Everything,
    };
    Some(match words.as_slice() {
        [] => Ok(order(scope, None)),
        [span] if pauses => pause_span(span).map(|span| order(scope, Some(span))),
        more => Err(format!("these words are too many: {}", more.join(" "))),
    })
}

/// A machine's name, as a person types it.
pub(crate) fn machine(text: &str) -> Result<Name, String> {
    let known = Name::ALL.iter().find(|name| name.as_str() == text);
    known.copied().ok_or_else(|| {
        let names: Vec<&str> = Name::ALL.iter().map(|name| name.as_str()).collect();
        format!("use one of {}", names.join(", "))
    })
}

pub(crate) fn pause_span(text: &str) -> Result<Millis, String> {
    match timestamp::span(text)? {
        Millis(0) => Err("a pause of no time changes nothing: write 90s, 30m or 2h".into()),
        span if span > LONGEST => {
            Err("a pause lasts a year at most; `mainspring stop` has no end".into())
        }
        span => Ok(span),
    }
}

/// The machine that an order is about, if it is about one.
pub(crate) fn machine_of(order: Order) -> Option<Name> {
    match order.scope() {
        Scope::Machine(name) => Some(name),
        Scope::Everything => None,
    }
}

/// The order as it can be typed again.
pub(crate) fn command(order: Order) -> String {
    let verb = match order {
        Order::Stop(_) => "stop".to_owned(),
        Order::Pause(_, span) => format!("pause {}s", span.0 / 1_000),
        Order::Resume(_) => "resume".to_owned(),
    };
    match machine_of(order) {
        Some(name) => format!("{verb} {name}"),
        None => verb,
    }
}

/// What an order does when it is carried out, in a sentence.
pub(crate) fn effect(order: Order, now: Millis) -> String {
    let resume = command(Order::Resume(order.scope()));
    match (order, machine_of(order)) {
        (Order::Stop(_), machine) => {
            let what = match machine {
                None => "nothing here holds the agent any more".to_owned(),
                Some(name) => format!("{name} is stopped"),
            };
            format!("{what}; `mainspring {resume}` undoes this")
        }
        (Order::Pause(_, span), machine) => {
            let what = match machine {
                None => "nothing here holds the agent".to_owned(),
                Some(name) => format!("{name} is paused"),
            };
            let time = timestamp::until(now, now.plus(span));
            format!("{what} until {time}; `mainspring {resume}` ends the pause")
        }
        (Order::Resume(_), machine) => {
            let what = machine.map_or("everything here", Name::as_str);
            format!("{what} is resumed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Scope = Scope::Everything;
    const LOOP: Scope = Scope::Machine(Name::Loop);

    #[test]
    fn what_a_person_types_is_an_order_or_for_the_agent() {
        let minutes = |count: u64| Millis::seconds(count * 60);
        for (text, order) in [
            ("/mainspring:stop", Order::Stop(ALL)),
            (" /mainspring:stop loop \n", Order::Stop(LOOP)),
            ("/mainspring:pause", Order::Pause(ALL, minutes(30))),
            ("/mainspring:pause 5m", Order::Pause(ALL, minutes(5))),
            ("/mainspring:pause loop", Order::Pause(LOOP, minutes(30))),
            ("/mainspring:pause 5m loop", Order::Pause(LOOP, minutes(5))),
            ("/mainspring:resume loop", Order::Resume(LOOP)),
            ("mainspring stop", Order::Stop(ALL)),
            ("mainspring  pause 5m  loop", Order::Pause(LOOP, minutes(5))),
            ("mainspring resume", Order::Resume(ALL)),
        ] {
            assert_eq!(typed(text), Some(Ok(order)), "{text:?}");
            let again = format!("mainspring {}", command(order));
            assert_eq!(typed(&again), Some(Ok(order)), "{again:?}");
        }
        for wrong in [
            "/mainspring:stop everything",
            "/mainspring:stop loop gate",
            "/mainspring:pause for ever",
            "/mainspring:pause 0s",
            "/mainspring:pause 900d",
            "/mainspring:resume 5m",
        ] {
            let order = typed(wrong);
            assert!(matches!(order, Some(Err(_))), "{wrong:?}: {order:?}");
        }
        for other in [
            "",
            "stop",
            "/stop",
            "/mainspring:",
            "/mainspring:claim 4",
            "mainspring",
            "mainspring trust",
            "mainspring stop holding me up",
            "mainspring stop\nand then go on",
            "please run mainspring stop",
            "`mainspring stop`",
        ] {
            assert_eq!(typed(other), None, "{other:?}");
        }
    }
}
