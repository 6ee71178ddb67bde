//! What needs the person. It is decided here, and nowhere else: every view shows this list.

use mainspring_kernel::deliberate::Outcome;
use mainspring_kernel::machine::Waits;
use mainspring_kernel::machines::claim::memory::Consent;
use mainspring_kernel::machines::claim::phase::{Next, Phase};
use mainspring_kernel::machines::claim::{Claim, State, rounds};
use mainspring_kernel::machines::review::plan::State as Review;
use mainspring_kernel::machines::review::standstill::Standstill;
use mainspring_kernel::machines::{InputOf, MachineInput};
use mainspring_kernel::receipt::times;

use super::journal::Journal;
use super::machine::MachineState;
use super::project::ProjectState;
use crate::show::records::{self, Ending};

/// One thing that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) kind: NeedKind,
    /// What waits, in one sentence without its full stop.
    pub(crate) what: String,
    /// What the person can do about it.
    pub(crate) remedy: String,
    /// The record that says so, if there is one.
    pub(crate) seq: Option<u64>,
}

/// Why it waits. The order is the order in which people see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NeedKind {
    Ci,
    Question,
    Disputed,
    Limit,
    Failed,
    LetGo,
    Trust,
    Unreadable,
}

impl NeedKind {
    pub(crate) const fn word(self) -> &'static str {
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

/// How many there are, as a sentence.
pub(crate) fn count(needs: usize) -> String {
    match needs {
        0 => "Nothing needs you".into(),
        1 => "1 thing needs you".into(),
        more => format!("{more} things need you"),
    }
}

/// Everything that waits in a project, in its order.
pub(super) fn of(state: &ProjectState, journal: &Journal) -> Vec<Need> {
    let mut needs = Needs(Vec::new());
    if let Some(notice) = &state.notice {
        needs.add(NeedKind::Trust, notice.what(), notice.remedy());
    }
    let machines = state.machines.iter();
    let unreadable = machines.filter_map(|machine| machine.problem.as_ref());
    for problem in state.problems.iter().chain(unreadable) {
        let remedy = "`mainspring doctor` says how to fix it";
        needs.add(NeedKind::Unreadable, problem.clone(), remedy);
    }
    match journal.damaged {
        0 => {}
        1 => needs.damaged("1 line of the journal is damaged".into()),
        lines => needs.damaged(format!("{lines} lines of the journal are damaged")),
    }
    for machine in &state.machines {
        needs.machine(machine);
        needs.rule(machine, journal);
    }
    // A machine takes it up again.
    for work in &state.interrupted {
        let what = format!("{}: {} was interrupted", work.machine, work.work.name());
        let remedy = "it is taken up again at the agent's next stop";
        needs.add(NeedKind::Failed, what, remedy);
    }
    needs.let_go(state);
    let mut needs = needs.0;
    needs.sort_by_key(|need| need.kind);
    needs
}

struct Needs(Vec<Need>);

impl Needs {
    fn add(&mut self, kind: NeedKind, what: String, remedy: &str) {
        self.add_recorded(kind, what, remedy, None);
    }

    fn add_recorded(&mut self, kind: NeedKind, what: String, remedy: &str, seq: Option<u64>) {
        self.0.push(Need {
            kind,
            what,
            remedy: remedy.into(),
            seq,
        });
    }

    fn damaged(&mut self, what: String) {
        self.add(NeedKind::Unreadable, what, "`mainspring doctor`");
    }

    /// What a machine's state says.
    fn machine(&mut self, machine: &MachineState) {
        match &machine.details {
            Some(MachineInput::Claim(input)) => self.claim(input),
            // Findings about which the reviewers and the agent do not agree.
            Some(MachineInput::Review(input)) => {
                if let Review::Plan(plan) = &input.state
                    && let Some((review, still @ Standstill::Contested(_))) =
                        Standstill::of(plan, &input.facts.settings)
                {
                    let what = still.sentence(&plan.id, review);
                    let remedy = "`mainspring plan status` shows every finding";
                    self.add(NeedKind::Disputed, what, remedy);
                }
            }
            Some(_) | None => {}
        }
    }

    fn claim(&mut self, input: &InputOf<Claim>) {
        let State::Claimed { claim, memory } = &input.state else {
            return;
        };
        let issue = claim.issue_number;
        if let Some(waits) = rounds::waiting(claim, memory, input.facts.max_ci_rounds) {
            self.add(NeedKind::Ci, waits, "write to the agent");
        }
        match &claim.phase {
            Phase::MergedDetected if memory.consent != Consent::Spoken => self.add(
                NeedKind::Question,
                format!("The pull request for issue #{issue} is merged, and the issue is open"),
                &format!("`mainspring claim done` closes #{issue}"),
            ),
            Phase::Failed(failure) => {
                let remedy = match failure.next {
                    Next::At(_) => "it is tried again by itself",
                    Next::Never => "`mainspring handoff` tries again",
                };
                let what = format!(
                    "Issue #{issue}: {} failed {}: {}",
                    failure.during.as_str(),
                    times(failure.attempts, "time"),
                    failure.cause
                );
                self.add(NeedKind::Failed, what, remedy);
            }
            _ => {}
        }
    }

    /// The machine's last rule, if the machine waits after it until it takes another or gets a
    /// command.
    fn rule(&mut self, machine: &MachineState, journal: &Journal) {
        let name = machine.name;
        let Some((row, step)) = journal.last_step(name) else {
            return;
        };
        let mut waits = name.waits().iter();
        let Some((_, why)) = waits.find(|(rule, _)| *rule == step.rule) else {
            return;
        };
        let kind = match why {
            Waits::Limit => NeedKind::Limit,
            Waits::Failed => NeedKind::Failed,
            Waits::Question => NeedKind::Question,
        };
        if let Some(arrow) = records::arrow(name, &step.rule, &step.from) {
            let what = format!("{name}: {}", arrow.when);
            self.add_recorded(kind, what, arrow.remedy, Some(row.seq));
        }
    }

    /// A session that was let go although a machine would have held it.
    fn let_go(&mut self, state: &ProjectState) {
        for row in state.sessions.iter().filter_map(|one| one.last.as_ref()) {
            let what = match row.ending {
                Some(Ending::Settled(Outcome::Capped)) => {
                    "An agent was let go at the host's limit on holds; its work is not done"
                }
                Some(Ending::Settled(Outcome::SameAnswer)) => {
                    "An agent that only repeated itself was let go; its work is not done"
                }
                _ => continue,
            };
            let remedy = "tell the agent to go on";
            self.add_recorded(NeedKind::LetGo, what.into(), remedy, Some(row.seq));
        }
    }
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Name;

    #[test]
    fn every_rule_that_waits_is_in_its_machines_table_and_has_a_remedy() {
        for name in Name::ALL {
            for (rule, _) in name.waits() {
                let mut table = name.table().iter();
                let arrow = table.find(|arrow| arrow.rule == *rule);
                let arrow = arrow.unwrap_or_else(|| panic!("{name} has no rule {rule}"));
                assert!(!arrow.remedy.is_empty(), "{name} {rule}");
            }
        }
    }
}
