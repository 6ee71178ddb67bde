//! What a person has ordered for a project: the brake, and the way to try things out.
//!
//! Orders stand above the machines. A braked machine is not asked: it stays as it is, and
//! the agent may stop. In observation everything is decided as usual and nothing comes of
//! it but a record.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ids::Millis;
use crate::machines::Name;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Orders {
    /// Every machine is braked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub everything: Option<Until>,
    /// These are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machines: BTreeMap<Name, Until>,
    #[serde(default, skip_serializing_if = "Mode::acts")]
    pub mode: Mode,
}

/// How long a brake holds.
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
    /// Decide, record, and ask nothing of anybody.
    Observe,
}

impl Mode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn acts(&self) -> bool {
        *self == Self::Act
    }
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

    /// The brake on this machine, if one holds.
    pub fn brake(&self, machine: Name, now: Millis) -> Option<Until> {
        [self.everything, self.machines.get(&machine).copied()]
            .into_iter()
            .flatten()
            .find(|until| until.holds(now))
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

    /// Without the brake. Letting everything go on releases the single machines too;
    /// letting one go on leaves the brake on all others.
    #[must_use]
    pub fn resumed(mut self, scope: Scope, now: Millis) -> Self {
        match scope {
            Scope::Everything => {
                self.everything = None;
                self.machines.clear();
            }
            Scope::Machine(name) => {
                if let Some(until) = self.everything.take().filter(|until| until.holds(now)) {
                    for other in Name::ALL {
                        self.machines.entry(*other).or_insert(until);
                    }
                }
                self.machines.remove(&name);
            }
        }
        self
    }

    /// The line for the person at a stop at which these machines were not asked.
    pub(crate) fn note(braked: &[(Name, Until)]) -> Option<String> {
        let (_, until) = braked.first()?;
        let names: Vec<&str> = braked.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(", ");
        Some(match until {
            Until::Resumed => {
                format!(
                    "not asked, because a person stopped it: {names}. `mainspring resume` goes on"
                )
            }
            Until::At(_) => {
                format!(
                    "not asked while it is paused: {names}. `mainspring resume` goes on at once"
                )
            }
            Until::FileGone => {
                format!("not asked as long as .mainspring-off is there: {names}")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_000);

    #[test]
    fn a_brake_holds_until_it_is_over() {
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
                assert_eq!(everything.brake(name, NOW).is_some(), holds, "{until:?}");
                let only = holds && name == Name::Loop;
                assert_eq!(one.brake(name, NOW).is_some(), only, "{name} {until:?}");
            }
        }
    }

    #[test]
    fn an_expired_pause_of_everything_does_not_hide_a_brake_on_one() {
        let orders = Orders::default()
            .stopped(Scope::Everything, Until::At(Millis(1)))
            .stopped(Scope::Machine(Name::Gate), Until::Resumed);
        assert_eq!(orders.brake(Name::Gate, NOW), Some(Until::Resumed));
        assert_eq!(orders.brake(Name::Loop, NOW), None);
    }

    #[test]
    fn one_machine_may_go_on_while_all_others_stay_braked() {
        let orders = Orders::default()
            .stopped(Scope::Everything, Until::Resumed)
            .resumed(Scope::Machine(Name::Review), NOW);
        for &name in Name::ALL {
            assert_eq!(orders.brake(name, NOW).is_none(), name == Name::Review);
        }
        let free = orders.resumed(Scope::Everything, NOW);
        assert!(free.is_empty(), "{free:?}");
    }

    #[test]
    fn going_on_with_one_does_not_revive_a_pause_that_is_over() {
        let orders = Orders::default()
            .stopped(Scope::Everything, Until::At(Millis(1)))
            .resumed(Scope::Machine(Name::Review), NOW);
        assert!(orders.is_empty(), "{orders:?}");
    }
}
