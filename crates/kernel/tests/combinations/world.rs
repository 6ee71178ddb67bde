//! What is on disk, as values, and an interpreter of turns over it.

use mainspring_kernel::deliberate::{Broken, Case, Outcome, Trust};
use mainspring_kernel::effect::{Fence, Life, Owner};
use mainspring_kernel::event::{Background, Chain, Event, Speaker};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::ledger::{Cap, Ledger, ToolUse};
use mainspring_kernel::machines::claim::phase::Phase as ClaimPhase;
use mainspring_kernel::machines::claim::work::{
    Board, Effect, Fault, How, Outcome as ClaimOutcome,
};
use mainspring_kernel::machines::looping::{self, Ending, Past};
use mainspring_kernel::machines::review::{self, Failure, Finding, Phase, Record, Verdict};
use mainspring_kernel::machines::{Finished, Move, Pending, Returned, claim, gate};
use mainspring_kernel::{
    Answer, Ask, Deliberation, Digest, Kind, Millis, Name, Orders, Part, Reply, Turn,
};

use crate::people::{self, Combination, FIVE, Stand, damage};

/// A project on disk, and its outside world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct World {
    pub(crate) parts: Vec<Part>,
    pub(crate) broken: Vec<Broken>,
    intents: Vec<Pending>,
    ledger: Ledger,
    journal: Vec<Entry>,
    trust: Trust,
    stops: u64,
    kind: Kind,
    /// What the reviewer, and GitHub, will say.
    review: Stand,
    claim: Stand,
    /// The effects that were run, in order.
    pub(crate) ran: Vec<Name>,
    /// All that was asked for, in order.
    asked: Vec<&'static str>,
}

fn stop(chain: Chain) -> Kind {
    Kind::Stop {
        chain,
        background: Background::Quiet,
    }
}

impl World {
    pub(crate) fn of(combination: &Combination) -> Self {
        let found =
            |name: Name| people::part(name, combination.stand(name), combination.price(name));
        let broken = FIVE
            .into_iter()
            .filter(|name| combination.stand(*name) == Stand::Failing && found(*name).is_none());
        Self {
            parts: FIVE.into_iter().filter_map(found).collect(),
            broken: broken
                .map(|machine| Broken {
                    machine,
                    cause: damage(machine),
                })
                .collect(),
            intents: vec![],
            ledger: Ledger::default(),
            journal: vec![],
            trust: combination.trust,
            stops: 0,
            kind: stop(Chain::First),
            review: combination.stand(Name::Review),
            claim: combination.stand(Name::Claim),
            ran: vec![],
            asked: vec![],
        }
    }

    /// What is on disk of one machine, as far as decisions see it.
    pub(crate) fn part(&self, name: Name) -> Option<&Part> {
        self.parts.iter().find(|part| part.name() == name)
    }

    pub(crate) fn intents(&self) -> &[Pending] {
        &self.intents
    }

    pub(crate) fn case(&self) -> Case {
        let mut parts = self.parts.clone();
        for part in &mut parts {
            let recorded = self.intents.iter().find(|one| one.name() == part.name());
            if let Some(pending) = recorded {
                part.stand(pending.clone(), Life::Alive);
            }
        }
        Case {
            event: Event {
                session: Some(people::session()),
                speaker: Speaker::Main,
                kind: self.kind.clone(),
            },
            now: Millis::seconds(1_000 + self.stops * 10),
            delivery: Digest(format!("stop {}", self.stops)),
            parts,
            broken: self.broken.clone(),
            overtaken: None,
            ledger: self.ledger.clone(),
            cap: Cap::After(8),
            tools: ToolUse::NotSeen,
            transcript: None,
            trust: self.trust,
            orders: Orders::default(),
            fence: Fence(self.journal.len() as u64),
            me: Owner {
                pid: 1,
                started: 1,
                boot: "b".into(),
            },
        }
    }

    /// The agent stops once more.
    pub(crate) fn stop(&mut self) -> Answer {
        self.stops += 1;
        self.interpret()
    }

    /// The agent invokes a skill.
    pub(crate) fn invoke(&mut self, list: Stand) -> Answer {
        for part in &mut self.parts {
            if let Part::Tasks(slot) = part {
                slot.facts = people::invoked(list);
            }
        }
        self.kind = Kind::AfterTool {
            tool: "Skill".into(),
            skill: Some("ship".into()),
        };
        self.interpret()
    }

    /// The last stop is delivered again.
    pub(crate) fn stop_again(&mut self) -> Answer {
        self.interpret()
    }

    fn interpret(&mut self) -> Answer {
        let (mut turn, mut ask) = Turn::begin(self.kind.clone());
        loop {
            let (name, reply) = match ask {
                Ask::Answer(answer) => {
                    self.asked.push("answer");
                    return answer;
                }
                Ask::Lock => ("lock", Reply::Done),
                Ask::Load => ("load", Reply::Loaded(Box::new(self.case()))),
                Ask::Commit(entry) => {
                    self.commit(*entry);
                    ("commit", Reply::Done)
                }
                Ask::Unlock => ("unlock", Reply::Done),
                Ask::Run(pending) => ("run", Reply::Ran(Box::new(self.run(&pending)))),
            };
            self.asked.push(name);
            ask = turn.next(reply);
        }
    }

    fn commit(&mut self, entry: Entry) {
        let Entry::Turn { case, ruling } = &entry else {
            panic!("a turn commits a turn")
        };
        match &**ruling {
            Deliberation::Repeated(_) => panic!("nothing to commit"),
            Deliberation::Intends(pending) => {
                self.intents.retain(|one| one.name() != pending.name());
                self.intents.push(pending.clone());
            }
            Deliberation::Settled(settlement) => {
                for moved in &settlement.moves {
                    self.intents.retain(|one| one.name() != moved.name());
                    self.intents.extend(moved.intent());
                    self.keep(moved);
                }
                self.ledger = settlement.kept(case);
            }
        }
        self.journal.push(entry);
    }

    fn keep(&mut self, moved: &Move) {
        let part = self
            .parts
            .iter_mut()
            .find(|part| part.name() == moved.name());
        match (part.expect("only what was loaded moves"), moved) {
            (Part::Gate(slot), Move::Gate(moved)) => slot.state = moved.state,
            (Part::Loop(slot), Move::Loop(moved)) => slot.state = moved.state.clone(),
            (Part::Review(slot), Move::Review(moved)) => slot.state = moved.state.clone(),
            (Part::Claim(slot), Move::Claim(moved)) => slot.state = moved.state.clone(),
            (Part::Tasks(slot), Move::Tasks(moved)) => slot.state = moved.state.clone(),
            (part, moved) => panic!("{part:?} and {moved:?}"),
        }
    }

    /// The outside world.
    fn run(&mut self, pending: &Pending) -> Finished {
        self.ran.push(pending.name());
        match pending {
            Pending::Review(intent) => {
                let result = match self.review {
                    Stand::Failing => Finding::NotDone(Failure::NoFile),
                    Stand::Blocking => Finding::Reviewed(Verdict::Fail),
                    Stand::Passing | Stand::Absent => Finding::Reviewed(Verdict::Pass),
                };
                if let (Finding::Reviewed(_), Some(Part::Review(slot))) = (
                    &result,
                    self.parts
                        .iter_mut()
                        .find(|part| part.name() == Name::Review),
                ) {
                    slot.facts.written.push(intent.effect.iteration);
                }
                Finished::Review(Returned {
                    intent: intent.clone(),
                    outcome: review::Outcome {
                        result,
                        took: Millis::seconds(60),
                        cost: 250_000,
                    },
                })
            }
            Pending::Claim(intent) => {
                let fault = || {
                    ClaimOutcome::Failed(Fault {
                        cause: "HTTP 502".into(),
                        not_before: None,
                    })
                };
                let outcome = match (&intent.effect, self.claim) {
                    (_, Stand::Failing) => fault(),
                    (Effect::Open(_), _) => ClaimOutcome::Opened {
                        pr: 107,
                        url: "https://github.com/acme/widgets/pull/107".into(),
                        how: How::Now,
                        board: Board::Moved,
                    },
                    (Effect::Sync(_), _) => ClaimOutcome::Synced(Board::Moved),
                    (other, _) => panic!("nobody asked for {other:?}"),
                };
                Finished::Claim(Returned {
                    intent: intent.clone(),
                    outcome,
                })
            }
            other => panic!("it has no effects: {other:?}"),
        }
    }

    /// The agent does what it was told by these.
    pub(crate) fn obey(&mut self, holds: &[Name]) {
        self.kind = stop(Chain::Continued);
        for part in &mut self.parts {
            let told = holds.contains(&part.name());
            match part {
                Part::Gate(slot) => {
                    let stand = if told {
                        Stand::Passing
                    } else {
                        Stand::Blocking
                    };
                    slot.facts = people::gate(stand);
                }
                Part::Loop(slot) => {
                    let stand = if told {
                        Stand::Passing
                    } else {
                        Stand::Blocking
                    };
                    slot.facts = people::looping(stand);
                }
                Part::Review(slot) if told => {
                    slot.facts.violations.clear();
                    if let review::State::Plan(plan) = &mut slot.state
                        && let Record::Fields(fields) = &mut plan.record
                        && let Some(kind) = fields.unanswered()
                    {
                        // The findings are answered; the next two reviews will be clean.
                        fields.phase = Some(Phase::PostReview(kind));
                        fields.next_phase = Some(Phase::Review(kind));
                        fields.consecutive_clean = 1;
                        self.review = Stand::Passing;
                    }
                }
                Part::Claim(slot) if told => {
                    if let claim::State::Claimed { signal, .. } = &mut slot.state
                        && signal.summary.is_empty()
                    {
                        signal.summary = "Fix it".into();
                    }
                }
                Part::Review(_) | Part::Claim(_) | Part::Tasks(_) | Part::Pulse(_) => {}
            }
        }
    }

    /// Did the machine do what it does on being finished?
    pub(crate) fn has_finished(&self, name: Name) -> bool {
        match self.part(name) {
            Some(Part::Gate(slot)) => slot.state == gate::State::Said { held: 0 },
            Some(Part::Loop(slot)) => {
                slot.state == looping::State::Idle(Past::Done(Ending::Complete))
            }
            Some(Part::Review(slot)) => match &slot.state {
                review::State::Plan(plan) => match &plan.record {
                    Record::Fields(fields) => fields.next_phase == Some(Phase::CreateTasks),
                    Record::Missing | Record::Unreadable(_) => false,
                },
                review::State::Nothing => false,
            },
            Some(Part::Claim(slot)) => matches!(
                &slot.state,
                claim::State::Claimed { signal, .. } if signal.phase == ClaimPhase::PrCreated
            ),
            Some(Part::Tasks(_) | Part::Pulse(_)) | None => false,
        }
    }

    /// Is what the agent or a reviewer said kept, for the stop at which all let go?
    pub(crate) fn has_accepted(&self, name: Name) -> bool {
        match self.part(name) {
            Some(Part::Gate(slot)) => slot.state == gate::State::Said { held: 3 },
            Some(Part::Loop(slot)) => {
                matches!(slot.state, looping::State::Completing { .. })
            }
            Some(Part::Review(slot)) => match &slot.state {
                review::State::Plan(plan) => match &plan.record {
                    Record::Fields(fields) => fields.consecutive_clean == 2,
                    Record::Missing | Record::Unreadable(_) => false,
                },
                review::State::Nothing => false,
            },
            Some(Part::Claim(_) | Part::Tasks(_) | Part::Pulse(_)) | None => false,
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        // A stop at which nothing was said and nothing changed leaves no record.
        match self.journal.last() {
            None => Outcome::Passed,
            Some(Entry::Turn { ruling, .. }) => match &**ruling {
                Deliberation::Settled(settlement) => settlement.outcome,
                other => panic!("a turn ended in {other:?}"),
            },
            Some(Entry::Verb { .. }) => panic!("nobody typed anything"),
        }
    }

    /// Nothing is run with the lock held or before its intent is committed, and nothing is
    /// answered with the lock held.
    pub(crate) fn assert_protocol(&self) {
        let mut locked = false;
        let mut before = "answer";
        let mut committed = false;
        for ask in &self.asked {
            match *ask {
                "lock" => {
                    assert!(!locked);
                    locked = true;
                }
                "unlock" => {
                    assert!(locked);
                    committed = before == "commit";
                    locked = false;
                }
                "run" => assert!(
                    !locked && committed && before == "unlock",
                    "{:?}",
                    self.asked
                ),
                "answer" => assert!(!locked && before == "unlock", "{:?}", self.asked),
                "load" | "commit" => assert!(locked),
                other => panic!("{other}"),
            }
            before = ask;
        }
    }
}
