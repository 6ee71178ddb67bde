//! What a person has ordered for a project: to suspend machines, or only to observe.
//!
//! Orders come before the machines. A machine that was stopped or paused is *suspended*: it is
//! not asked, its state stays, and the agent may stop. In observe mode everything is decided as
//! usual, but only recorded. Under either order, no program is started for the machine, unless a
//! person types the command that starts it. A machine that neither starts nor holds anything is
//! suspended only by an order that names it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::decision::listed;
use crate::ids::Millis;
use crate::machine::Obeys;
use crate::name::Name;
use crate::verbs::Actor;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Orders {
    /// Every machine is suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub everything: Option<Until>,
    /// These machines are suspended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machines: BTreeMap<Name, Until>,
    #[serde(default, skip_serializing_if = "Mode::acts")]
    pub mode: Mode,
}

/// How long a machine is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Until the person says `resume`.
    Resumed,
    At(Millis),
    /// As long as `.mainspring-off` is there.
    FileGone,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Act,
    /// Decide and record, but ask nothing of anybody.
    Observe,
}

impl Mode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn acts(&self) -> bool {
        *self == Self::Act
    }
}

/// What the orders allow a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Allowance {
    /// It does its work.
    Act,
    /// It is asked, but its decision is only recorded.
    Observe,
    /// It is not asked.
    Suspended(Until),
}

/// Why no program is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Forbidden {
    pub machine: Name,
    pub allowance: Allowance,
}

/// What an order is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    Everything,
    Machine(Name),
}

/// An order, as a person gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    Stop(Scope),
    /// For this long.
    Pause(Scope, Millis),
    Resume(Scope),
}

/// An order, and when it was typed or carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Given {
    pub order: Order,
    pub at: Millis,
}

/// How far an order comes that a person types in the client while the agent is held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypedHere {
    /// It brakes at the agent's next stop; or the client's user can type none at all.
    #[default]
    AtOnce,
    /// It waits, where nobody sees it, until the turn is over: Esc ends the turn.
    AfterEsc,
}

impl TypedHere {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(crate) fn is_at_once(&self) -> bool {
        *self == Self::AtOnce
    }
}

impl Scope {
    /// Is an order about this also about that?
    fn covers(self, other: Self) -> bool {
        self == Self::Everything || self == other
    }
}

impl Order {
    pub const fn scope(self) -> Scope {
        match self {
            Self::Stop(scope) | Self::Pause(scope, _) | Self::Resume(scope) => scope,
        }
    }

    const fn brakes(self) -> bool {
        match self {
            Self::Stop(_) | Self::Pause(..) => true,
            Self::Resume(_) => false,
        }
    }
}

impl Given {
    /// Is this about the same, and no earlier?
    fn replaces(&self, earlier: &Self) -> bool {
        self.at >= earlier.at && self.order.scope().covers(earlier.order.scope())
    }
}

/// Which of the orders that wait in a client's queue (`typed`, oldest first) brake now. One counts
/// until another one about the same was given after it (`given`, by any way): then it was carried
/// out, or the person changed their mind. To resume waits for its turn.
pub fn due(typed: &[Given], given: &[Given]) -> Vec<Order> {
    let stands = |(at, order): &(usize, &Given)| {
        let later = typed.iter().skip(at + 1).chain(given);
        order.order.brakes() && !later.clone().any(|other| other.replaces(order))
    };
    let standing = typed.iter().enumerate().filter(stands);
    standing.map(|(_, given)| given.order).collect()
}

/// Did a person resume after they had typed this? It waited in the client's queue until now.
pub fn is_undone(typed: &Given, given: &[Given]) -> bool {
    let undoes = |other: &Given| !other.order.brakes() && other.replaces(typed);
    typed.order.brakes() && given.iter().any(undoes)
}

impl Until {
    pub fn holds(self, now: Millis) -> bool {
        match self {
            Self::Resumed | Self::FileGone => true,
            Self::At(end) => now < end,
        }
    }
}

impl Orders {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Until when this machine is suspended, if it is.
    pub fn suspension(&self, machine: Name, now: Millis) -> Option<Until> {
        let everything = match machine.obeys() {
            Obeys::EveryOrder => self.everything,
            Obeys::OrdersThatNameIt => None,
        };
        [everything, self.machines.get(&machine).copied()]
            .into_iter()
            .flatten()
            .find(|until| until.holds(now))
    }

    pub fn allowance(&self, machine: Name, now: Millis) -> Allowance {
        match (self.suspension(machine, now), self.mode, machine.obeys()) {
            (Some(until), _, _) => Allowance::Suspended(until),
            (None, Mode::Observe, Obeys::EveryOrder) => Allowance::Observe,
            (None, Mode::Observe, Obeys::OrdersThatNameIt) | (None, Mode::Act, _) => Allowance::Act,
        }
    }

    /// The orders that bind this actor: they do not bind a person, who gave them.
    #[must_use]
    pub fn binding(self, actor: &Actor) -> Self {
        match actor {
            Actor::Person => Self::default(),
            Actor::Agent(_) => self,
        }
    }

    /// May a program be started for this machine?
    pub fn may_start(&self, machine: Name, now: Millis) -> Result<(), Forbidden> {
        match self.allowance(machine, now) {
            Allowance::Act => Ok(()),
            allowance => Err(Forbidden { machine, allowance }),
        }
    }

    /// The orders once this one is carried out.
    #[must_use]
    pub fn after(self, order: Order, now: Millis) -> Self {
        match order {
            Order::Stop(scope) => self.stopped(scope, Until::Resumed),
            Order::Pause(scope, span) => self.stopped(scope, Until::At(now.plus(span))),
            Order::Resume(scope) => self.resumed(scope, now),
        }
    }

    #[must_use]
    pub fn stopped(mut self, scope: Scope, until: Until) -> Self {
        match scope {
            Scope::Everything => self.everything = Some(until),
            Scope::Machine(name) => {
                self.machines.insert(name, until);
            }
        }
        self
    }

    /// Ends the suspension. To resume everything resumes the single machines too; to resume one
    /// machine leaves the others suspended.
    #[must_use]
    pub fn resumed(mut self, scope: Scope, now: Millis) -> Self {
        match scope {
            Scope::Everything => {
                self.everything = None;
                self.machines.clear();
            }
            Scope::Machine(name) => {
                if let Some(until) = self.everything.take().filter(|until| until.holds(now)) {
                    let all = Name::ALL.iter();
                    for other in all.filter(|name| name.obeys() == Obeys::EveryOrder) {
                        self.machines.entry(*other).or_insert(until);
                    }
                }
                self.machines.remove(&name);
            }
        }
        self
    }

    /// The line for the person at a stop that these machines did not check.
    pub(crate) fn note(suspended: &[(Name, Until)]) -> Option<String> {
        let (_, until) = suspended.first()?;
        let names: Vec<&str> = suspended.iter().map(|(name, _)| name.as_str()).collect();
        let names = listed(&names);
        let they = if suspended.len() == 1 { "it" } else { "they" };
        Some(match until {
            Until::Resumed => format!(
                "you stopped {names}; {they} did not check this stop. `mainspring resume` undoes \
                 that"
            ),
            Until::At(_) => format!(
                "you paused {names} for a while; {they} did not check this stop. \
                 `mainspring resume` ends the pause at once"
            ),
            Until::FileGone => {
                format!("{names} did not check this stop, because .mainspring-off is here")
            }
        })
    }
}

impl core::fmt::Display for Forbidden {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let machine = self.machine;
        let ordered = match self.allowance {
            Allowance::Act => "",
            Allowance::Observe => "a person set observe mode",
            Allowance::Suspended(Until::Resumed) => "a person stopped it",
            Allowance::Suspended(Until::At(_)) => "a person paused it",
            Allowance::Suspended(Until::FileGone) => ".mainspring-off is in this project",
        };
        write!(f, "nothing is started for {machine}: {ordered}")
    }
}

#[cfg(test)]
mod tests;
