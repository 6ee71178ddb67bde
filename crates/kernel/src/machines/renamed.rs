//! States and rules that have another name in the journals of earlier versions.

use alloc::borrow::ToOwned;
use alloc::string::String;

use serde::{Deserialize, Deserializer};

use super::ask::SUSPENDED;

/// The former name and the present name.
const STATES: [(&str, &str); 1] = [("worn", "gave_up")];
const RULES: [(&str, &str); 31] = [
    ("braked", SUSPENDED),
    ("asked-worn", "asked"),
    ("still-worn", "gave-up"),
    ("typed-worn", "typed"),
    ("follow-done", "follow"),
    ("leave-done", "leave"),
    ("return-done", "return"),
    ("take-done", "take"),
    ("asked-card", "card"),
    ("coding-card", "card"),
    ("created-card", "card"),
    ("running-card", "card"),
    ("closing", "busy"),
    ("opening", "busy"),
    ("retrying", "busy"),
    ("created", "watched"),
    ("running", "watched"),
    ("created-backoff", "poll-backoff"),
    ("running-backoff", "poll-backoff"),
    ("created-merged", "merged"),
    ("running-merged", "merged"),
    ("created-poll", "poll"),
    ("running-poll", "poll"),
    ("created-polled", "polled"),
    ("running-polled", "polled"),
    ("created-unpolled", "unpolled"),
    ("running-unpolled", "unpolled"),
    ("handoff-again", "handoff"),
    ("retry-closed", "closed"),
    ("retry-lacking", "lacking"),
    ("retry-opened", "opened"),
];

/// Reads a state's name and translates it, so that an old record is explained and replayed like
/// a new one.
pub(super) fn state<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    current(&STATES, String::deserialize(from)?)
}

/// The same for a rule's name.
pub(super) fn rule<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    current(&RULES, String::deserialize(from)?)
}

fn current<E>(renamed: &[(&str, &str)], read: String) -> Result<String, E> {
    let found = renamed.iter().find(|(before, _)| *before == read);
    Ok(found.map_or(read, |(_, now)| (*now).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Name;

    #[test]
    fn every_present_name_is_a_rule_and_no_former_name_is() {
        let is_rule = |name: &str| {
            let tables = Name::ALL.iter().map(|machine| machine.table());
            name == SUSPENDED || tables.flatten().any(|arrow| arrow.rule == name)
        };
        for (before, now) in RULES {
            assert!(is_rule(now) && !is_rule(before), "{before} is {now}");
        }
    }
}
