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
mod tests {
    use alloc::string::ToString;

    use super::*;

    const NOW: Millis = Millis(1_000);

    #[test]
    fn a_machine_is_suspended_until_the_time_is_over() {
        for (until, holds) in [
            (Until::Resumed, true),
            (Until::FileGone, true),
            (Until::At(Millis(1_001)), true),
            (Until::At(NOW), false),
            (Until::At(Millis(0)), false),
        ] {
            let everything = Orders::default().stopped(Scope::Everything, until);
            let one = Orders::default().stopped(Scope::Machine(Name::Loop), until);
            for &name in Name::ALL {
                let all = holds && name != Name::Tasks;
                assert_eq!(everything.suspension(name, NOW).is_some(), all, "{until:?}");
                let only = holds && name == Name::Loop;
                assert_eq!(
                    one.suspension(name, NOW).is_some(),
                    only,
                    "{name} {until:?}"
                );
            }
        }
    }

    #[test]
    fn an_expired_pause_of_everything_does_not_end_that_of_one_machine() {
        let orders = Orders::default()
            .stopped(Scope::Everything, Until::At(Millis(1)))
            .stopped(Scope::Machine(Name::Gate), Until::Resumed);
        assert_eq!(orders.suspension(Name::Gate, NOW), Some(Until::Resumed));
        assert_eq!(orders.suspension(Name::Loop, NOW), None);
    }

    #[test]
    fn one_machine_may_resume_while_all_others_stay_suspended() {
        let orders = Orders::default()
            .stopped(Scope::Everything, Until::Resumed)
            .resumed(Scope::Machine(Name::Review), NOW);
        for &name in Name::ALL {
            let free = matches!(name, Name::Review | Name::Tasks);
            assert_eq!(orders.suspension(name, NOW).is_none(), free, "{name}");
        }
        let free = orders.resumed(Scope::Everything, NOW);
        assert!(free.is_empty(), "{free:?}");
    }

    #[test]
    fn hydration_goes_on_under_every_order_that_does_not_name_it() {
        let mut everything = Orders::default().stopped(Scope::Everything, Until::FileGone);
        everything.mode = Mode::Observe;
        assert_eq!(everything.allowance(Name::Tasks, NOW), Allowance::Act);
        for &name in Name::ALL.iter().filter(|name| **name != Name::Tasks) {
            assert_eq!(
                everything.allowance(name, NOW),
                Allowance::Suspended(Until::FileGone)
            );
        }
        let named = Orders::default().stopped(Scope::Machine(Name::Tasks), Until::Resumed);
        assert_eq!(
            named.allowance(Name::Tasks, NOW),
            Allowance::Suspended(Until::Resumed)
        );
        assert_eq!(named.allowance(Name::Claim, NOW), Allowance::Act);
    }

    #[test]
    fn nothing_is_started_for_an_agent_under_an_order_and_everything_for_a_person() {
        let observing = Orders {
            mode: Mode::Observe,
            ..Orders::default()
        };
        for (orders, said) in [
            (
                Orders::default().stopped(Scope::Everything, Until::Resumed),
                "nothing is started for claim: a person stopped it",
            ),
            (
                Orders::default().stopped(Scope::Machine(Name::Claim), Until::At(Millis(1_001))),
                "nothing is started for claim: a person paused it",
            ),
            (
                Orders::default().stopped(Scope::Everything, Until::FileGone),
                "nothing is started for claim: .mainspring-off is in this project",
            ),
            (
                observing,
                "nothing is started for claim: a person set observe mode",
            ),
        ] {
            let agent = orders.clone().binding(&Actor::Agent(None));
            let forbidden = agent.may_start(Name::Claim, NOW).expect_err("an order");
            assert_eq!(forbidden.to_string(), said);
            let person = orders.binding(&Actor::Person);
            assert_eq!(person.may_start(Name::Claim, NOW), Ok(()));
        }
        assert_eq!(Orders::default().may_start(Name::Claim, NOW), Ok(()));
    }

    #[test]
    fn going_on_with_one_does_not_revive_a_pause_that_is_over() {
        let orders = Orders::default()
            .stopped(Scope::Everything, Until::At(Millis(1)))
            .resumed(Scope::Machine(Name::Review), NOW);
        assert!(orders.is_empty(), "{orders:?}");
    }
}
