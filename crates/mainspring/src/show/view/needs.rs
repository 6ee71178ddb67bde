//! What needs the person, in all projects.

use mainspring_kernel::Name;
use mainspring_kernel::machine::Arrow;
use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::machines::claim::State as Claim;
use mainspring_kernel::machines::claim::memory::Consent;
use mainspring_kernel::machines::claim::phase::{Next, Phase};
use mainspring_kernel::machines::claim::rounds;
use mainspring_kernel::machines::review::plan::State as Review;
use mainspring_kernel::machines::review::standstill::Standstill;

use super::history::{Journal, Row, Step};
use super::project_state::ProjectState;

/// One thing that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Need {
    /// The project's key and name.
    pub(super) key: String,
    pub(super) project: String,
    pub(super) kind: Kind,
    /// What waits, in one sentence.
    pub(super) what: String,
    /// What the person can do about it.
    pub(super) remedy: String,
    /// The record that says so, if there is one.
    pub(super) seq: Option<u64>,
}

/// Why it waits. The order is the order on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Ci,
    Question,
    Disputed,
    Limit,
    Failed,
    LetGo,
    Trust,
    Unreadable,
}

impl Kind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Ci => "CI",
            Self::Question => "question",
            Self::Disputed => "disputed",
            Self::Limit => "limit",
            Self::Failed => "failed",
            Self::LetGo => "let go",
            Self::Trust => "trust",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Rules after which a machine waits for the person, until it takes another or gets a command.
const WAITING: &[(Name, Kind, &[&str])] = &[
    (Name::Check, Kind::Limit, &["gave-up"]),
    (Name::Check, Kind::Failed, &["unsure", "fault"]),
    (Name::Review, Kind::Limit, &["limit", "costs"]),
    (Name::Review, Kind::Failed, &["failed", "parked"]),
    (Name::Review, Kind::Question, &["unanswered", "no-subject"]),
];

/// Everything that waits in a project.
pub(super) fn of(state: &ProjectState, journal: Option<&Journal>) -> Vec<Need> {
    let mut needs = Needs {
        state,
        found: Vec::new(),
    };
    needs.trust();
    needs.unreadable();
    needs.claim();
    needs.disputed();
    needs.interrupted();
    if let Some(journal) = journal {
        needs.rules(journal);
        needs.capped();
    }
    needs.found
}

struct Needs<'a> {
    state: &'a ProjectState,
    found: Vec<Need>,
}

impl Needs<'_> {
    fn add(&mut self, kind: Kind, what: String, remedy: &str, seq: Option<u64>) {
        self.found.push(Need {
            key: self.state.known.key.clone(),
            project: self.state.known.name(),
            kind,
            what,
            remedy: remedy.into(),
            seq,
        });
    }

    fn trust(&mut self) {
        if let Some(notice) = &self.state.notice {
            self.add(Kind::Trust, notice.what(), notice.remedy(), None);
        }
    }

    fn unreadable(&mut self) {
        let state = self.state;
        let machines = state.machines.iter();
        let machines = machines.filter_map(|machine| machine.problem.as_ref());
        for problem in state.problems.iter().chain(machines) {
            let remedy = "`mainspring doctor` says how to fix it";
            self.add(Kind::Unreadable, problem.clone(), remedy, None);
        }
        if state.damaged > 0 {
            let what = format!("{} lines of the journal are damaged", state.damaged);
            self.add(Kind::Unreadable, what, "`mainspring doctor`", None);
        }
    }

    fn claim(&mut self) {
        for machine in &self.state.machines {
            let Some(MachineInput::Claim(input)) = &machine.details else {
                continue;
            };
            let Claim::Claimed { claim, memory } = &input.state else {
                continue;
            };
            let issue = claim.issue_number;
            if let Some(waits) = rounds::waiting(claim, memory, input.facts.max_ci_rounds) {
                self.add(Kind::Ci, waits, "write to the agent", None);
            }
            match &claim.phase {
                Phase::MergedDetected if memory.consent != Consent::Spoken => self.add(
                    Kind::Question,
                    format!("The pull request for issue #{issue} is merged. Close the issue?"),
                    &format!("`mainspring claim done` closes #{issue}"),
                    None,
                ),
                Phase::Failed(failure) => {
                    let remedy = match failure.next {
                        Next::At(_) => "it is tried again by itself",
                        Next::Never => "`mainspring handoff` tries again",
                    };
                    let what = format!(
                        "Issue #{issue}: {} failed, {} times: {}",
                        failure.during.as_str(),
                        failure.attempts,
                        failure.cause
                    );
                    self.add(Kind::Failed, what, remedy, None);
                }
                _ => {}
            }
        }
    }

    /// Findings about which the reviewers and the agent do not agree.
    fn disputed(&mut self) {
        for machine in &self.state.machines {
            let Some(MachineInput::Review(input)) = &machine.details else {
                continue;
            };
            let Review::Plan(plan) = &input.state else {
                continue;
            };
            let still = Standstill::of(plan, input.facts.counting, &input.facts.settings);
            let Some((review, still @ Standstill::Contested(_))) = still else {
                continue;
            };
            let remedy = "`mainspring plan status` shows every finding";
            self.add(
                Kind::Disputed,
                still.sentence(&plan.id, review),
                remedy,
                None,
            );
        }
    }

    /// Work whose process died: a machine takes it up again at the next stop.
    fn interrupted(&mut self) {
        for work in &self.state.interrupted {
            let what = format!("{}: {} was interrupted", work.machine, work.work.name());
            let remedy = "it is taken up again at the agent's next stop";
            self.add(Kind::Failed, what, remedy, None);
        }
    }

    fn rules(&mut self, journal: &Journal) {
        for (name, kind, rules) in WAITING {
            let last = journal.last_step(*name);
            let Some((row, step)) = last.filter(|(_, step)| rules.contains(&step.rule.as_str()))
            else {
                continue;
            };
            let Some(arrow) = arrow(*name, step) else {
                continue;
            };
            let what = format!("{name}: {}", arrow.when);
            self.add(*kind, what, arrow.remedy, Some(row.seq));
        }
    }

    /// A session that was let go although a machine would have held it.
    fn capped(&mut self) {
        let state = self.state;
        let is_capped = |row: &&Row| matches!(row.outcome, "capped" | "same answer");
        for row in state
            .sessions
            .iter()
            .filter_map(|session| session.last.as_ref())
            .filter(is_capped)
        {
            let what = match row.outcome {
                "capped" => {
                    "An agent was let go at the host's limit on holds; its work is not done."
                }
                _ => "An agent that only repeated itself was let go; its work is not done.",
            };
            let remedy = "tell the agent to go on";
            self.add(Kind::LetGo, what.into(), remedy, Some(row.seq));
        }
    }
}

/// The arrow that a machine took.
fn arrow(name: Name, step: &Step) -> Option<&'static Arrow> {
    let mut table = name.table().iter();
    table.find(|arrow| arrow.rule == step.rule && arrow.leaves(&step.from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_waits_is_in_its_machines_table_and_has_a_remedy() {
        for (name, _, rules) in WAITING {
            for rule in *rules {
                let mut table = name.table().iter();
                let arrow = table.find(|arrow| arrow.rule == *rule);
                let arrow = arrow.unwrap_or_else(|| panic!("{name} has no rule {rule}"));
                assert!(!arrow.remedy.is_empty(), "{name} {rule}");
            }
        }
    }
}
