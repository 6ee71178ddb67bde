//! Who may say what: the one table, and the function that reads it.
//!
//! A person may run every command. An agent may not end or weaken what a person wants: it is
//! refused, and told what to ask its user for. The commands ask [`may`] before they change
//! anything; what they need for the answer (who began a loop, whether the user consented)
//! comes in as [`Grounds`].

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ids::SessionId;
use crate::verbs::{Actor, Refusal};

/// Who may run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// Anybody, because it takes nothing from a person.
    Anyone,
    /// A person, without a question: a brake must work at once.
    Person,
    /// A person who confirms it, on the terminal or with `--yes`.
    ConfirmedPerson,
    /// A person; and an agent for what its own session began.
    OwnSession,
    /// A person who confirms it; and an agent whose user consented in the client.
    Consent,
}

/// One command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub command: &'static str,
    pub who: Who,
    /// What an agent cannot do, to complete "an agent cannot …".
    pub what: &'static str,
}

const fn row(command: &'static str, who: Who, what: &'static str) -> Row {
    Row { command, who, what }
}

const fn anyones(command: &'static str) -> Row {
    row(command, Who::Anyone, "")
}

/// Every command, and who may run it. A command that is not here is a person's.
#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    row("trust",                    Who::ConfirmedPerson, "trust a project"),
    row("untrust",                  Who::Person,          "untrust a project"),
    row("install",                  Who::ConfirmedPerson, "install"),
    row("uninstall",                Who::ConfirmedPerson, "uninstall"),
    row("debug state purge",        Who::ConfirmedPerson, "purge state"),
    row("stop",                     Who::Person,          "give orders"),
    row("pause",                    Who::Person,          "give orders"),
    row("resume",                   Who::Person,          "give orders"),
    row("observe",                  Who::Person,          "give orders"),
    row("pulse off",                Who::Person,          "end a pulse"),
    row("gate off",                 Who::OwnSession,      "switch off a gate that it did not switch on itself"),
    row("loop push",                Who::OwnSession,      "push onto the loop of another session"),
    row("loop abort",               Who::OwnSession,      "end the loop of another session"),
    row("loop adopt",               Who::OwnSession,      "take the loop of another session, or give one away"),
    row("config set",               Who::Person,          "change settings"),
    row("config unset",             Who::Person,          "change settings"),
    row("config edit",              Who::Person,          "change settings"),
    row("doctor --fix",             Who::Person,          "move a damaged file away"),
    row("plan set max_reviews",     Who::Person,          "change how many reviews there are"),
    row("plan accept",              Who::Consent,         "accept a plan without its user's consent"),
    row("plan adopt",               Who::OwnSession,      "give a plan to another session"),
    row("check run",                Who::Person,          "run the checks by itself: they run when it stops"),
    row("check prove",              Who::Person,          "prove a check"),
    row("claim done",               Who::Consent,         "close an issue without its user's consent"),
    // `gate on`, a loop, a plan and a claim only add to what is asked of the agent.
    anyones("gate on"), anyones("gate status"), anyones("gate check"),
    anyones("loop start"), anyones("loop status"), anyones("loop list"),
    anyones("plan init"), anyones("plan advance"), anyones("plan set"), anyones("plan repair"), anyones("plan answer"),
    anyones("plan route"), anyones("plan status"), anyones("plan list"), anyones("plan review"), anyones("plan review restart"),
    anyones("claim"), anyones("claim status"), anyones("claim abort"), anyones("claim watch"),
    anyones("claim list"), anyones("claim release"), anyones("claim repair"), anyones("claim retry"), anyones("claim rework"),
    anyones("handoff"),
    anyones("check"), anyones("check init"), anyones("check log"), anyones("check verify"),
    anyones("tasks list"), anyones("tasks next"), anyones("tasks start"), anyones("tasks done"),
    anyones("tasks note"), anyones("tasks add"), anyones("tasks validate"), anyones("tasks preview"),
    anyones("pulse"), anyones("hook"), anyones("compat"),
    anyones("demo"), anyones("doctor"), anyones("status"), anyones("sessions"), anyones("why"), anyones("log"),
    // An agent that starts the page cannot use its buttons: they are `pause` and `resume`.
    anyones("view"),
    anyones("graph"), anyones("config"), anyones("config check"), anyones("config get"), anyones("config schema"),
    anyones("debug self"), anyones("debug state"), anyones("debug replay"), anyones("debug simulate"),
    anyones("completions"), anyones("man"),
];

/// What speaks for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grounds<'a> {
    Nothing,
    /// What it would end was begun by an agent of this session.
    BegunBy(&'a SessionId),
    /// What it would end is nobody's.
    Nobodys,
    /// The user said yes, and the host's own record shows it.
    Consent,
}

/// An agent is refused what only a person may do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an agent cannot {what}; a person must")]
pub struct Denied {
    pub what: &'static str,
    /// What the person types.
    pub command: String,
}

impl Refusal for Denied {
    fn next(&self) -> Vec<String> {
        Vec::from([format!(
            "tell the user to run `mainspring {}` in their own terminal",
            self.command
        )])
    }
}

/// The row of a command, with or without arguments: the longest that it begins with.
pub fn of(command: &str) -> Option<&'static Row> {
    let begins = |row: &&Row| {
        let rest = command.strip_prefix(row.command);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let rows = TABLE.iter().filter(begins);
    rows.max_by_key(|row| row.command.len())
}

/// May this actor run this command?
pub fn may(command: &str, actor: &Actor, grounds: Grounds<'_>) -> Result<(), Denied> {
    let Actor::Agent(session) = actor else {
        return Ok(());
    };
    let row = of(command);
    let allowed = match row.map_or(Who::Person, |row| row.who) {
        Who::Anyone => true,
        Who::Person | Who::ConfirmedPerson => false,
        Who::OwnSession => match grounds {
            Grounds::BegunBy(began) => session.as_ref() == Some(began),
            Grounds::Nobodys => true,
            Grounds::Nothing | Grounds::Consent => false,
        },
        Who::Consent => grounds == Grounds::Consent,
    };
    if allowed {
        return Ok(());
    }
    Err(Denied {
        what: row.map_or("do this", |row| row.what),
        command: command.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str) -> SessionId {
        SessionId::parse(id).expect("an id")
    }

    const PERSONS: [Who; 2] = [Who::Person, Who::ConfirmedPerson];

    #[test]
    fn a_person_may_run_every_command() {
        for row in TABLE {
            let may = may(row.command, &Actor::Person, Grounds::Nothing);
            assert_eq!(may, Ok(()), "{}", row.command);
        }
    }

    #[test]
    fn an_agent_may_run_what_is_anyones_and_nothing_else_without_grounds() {
        let (own, other) = (session("own"), session("other"));
        for row in TABLE {
            for agent in [Actor::Agent(None), Actor::Agent(Some(own.clone()))] {
                let may = |grounds| may(row.command, &agent, grounds).is_ok();
                let anyones = row.who == Who::Anyone;
                assert_eq!(may(Grounds::Nothing), anyones, "{}", row.command);
                assert_eq!(may(Grounds::BegunBy(&other)), anyones, "{}", row.command);
                let named = agent.session().is_some();
                let ours = row.who == Who::OwnSession;
                assert_eq!(may(Grounds::BegunBy(&own)), anyones || (ours && named));
                assert_eq!(may(Grounds::Nobodys), anyones || ours, "{}", row.command);
                let consent = row.who == Who::Consent;
                assert_eq!(may(Grounds::Consent), anyones || consent);
                if PERSONS.contains(&row.who) {
                    assert!(!may(Grounds::Consent) && !may(Grounds::Nobodys));
                }
            }
        }
    }

    #[test]
    fn every_command_has_one_row_and_every_refusal_says_what_to_tell_the_user() {
        for row in TABLE {
            let same = TABLE.iter().filter(|other| other.command == row.command);
            assert_eq!(same.count(), 1, "{}", row.command);
            assert_eq!(row.what.is_empty(), row.who == Who::Anyone);
            if let Err(denied) = may(row.command, &Actor::Agent(None), Grounds::Nothing) {
                let next = denied.next().concat();
                assert!(
                    next.starts_with("tell the user to run `mainspring "),
                    "{next}"
                );
                assert!(next.contains(row.command), "{next}");
            }
        }
    }

    #[test]
    fn arguments_do_not_hide_a_command_and_an_unknown_one_is_a_persons() {
        let agent = Actor::Agent(None);
        let may = |command| may(command, &agent, Grounds::Nothing).is_ok();
        assert!(!may("stop loop") && !may("plan set max_reviews 3 --plan x"));
        assert!(may("plan set tdd true") && may("plan review restart code"));
        assert!(!may("planet") && !may(""));
    }
}
