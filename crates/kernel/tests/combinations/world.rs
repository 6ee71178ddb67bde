//! The disk, as values, and an interpreter of turns over it.

use mainspring_kernel::block_ledger::{BlockLedger, Cap, ToolUse};
use mainspring_kernel::deliberate::{Broken, Case, Outcome, Trust};
use mainspring_kernel::effect::{EffectOwner, Fence, Life};
use mainspring_kernel::event::{Background, Chain, Event, Speaker};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::claim::phase::Phase as ClaimPhase;
use mainspring_kernel::machines::claim::work::{
    CardMove, Effect, Fault, How, Outcome as ClaimOutcome,
};
use mainspring_kernel::machines::looping::{self, Ending, Past};
use mainspring_kernel::machines::review::{self, Failure, Finding, Phase, Verdict};
use mainspring_kernel::machines::{Finished, Pending, Returned, Transition, claim, gate};
use mainspring_kernel::reduce::Reducer;
use mainspring_kernel::{
    Answer, Ask, Digest, Kind, MachineInput, Millis, Name, Orders, Reply, Ruling, Turn, Uptime,
};

use crate::people::{self, Combination, FIVE, Stand, damage};

/// A project on disk, and its outside world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct World {
    pub(crate) inputs: Vec<MachineInput>,
    pub(crate) broken: Vec<Broken>,
    intents: Vec<Pending>,
    ledger: BlockLedger,
    journal: Vec<Entry>,
    trust: Trust,
    stops: u64,
    kind: Kind,
    /// What the reviewer and GitHub will answer.
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
            |name: Name| people::input(name, combination.stand(name), combination.price(name));
        let broken = FIVE
            .into_iter()
            .filter(|name| combination.stand(*name) == Stand::Failing && found(*name).is_none());
        Self {
            inputs: FIVE.into_iter().filter_map(found).collect(),
            broken: broken
                .map(|machine| Broken {
                    machine,
                    cause: damage(machine),
                })
                .collect(),
            intents: vec![],
            ledger: BlockLedger::default(),
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

    /// What is stored of one machine, as far as decisions use it.
    pub(crate) fn input(&self, name: Name) -> Option<&MachineInput> {
        self.inputs.iter().find(|input| input.name() == name)
    }

    pub(crate) fn intents(&self) -> &[Pending] {
        &self.intents
    }

    pub(crate) fn case(&self) -> Case {
        let mut inputs = self.inputs.clone();
        for input in &mut inputs {
            let recorded = self.intents.iter().find(|one| one.name() == input.name());
            if let Some(pending) = recorded {
                input.set_intent(pending.clone(), Life::Alive);
            }
        }
        Case {
            left: None,
            event: Event {
                session: Some(people::session()),
                speaker: Speaker::Main,
                kind: self.kind.clone(),
            },
            now: Millis::seconds(1_000 + self.stops * 10),
            uptime: Uptime(1_000 * (1_000 + self.stops * 10)),
            delivery: Digest(format!("stop {}", self.stops)),
            inputs,
            broken: self.broken.clone(),
            overtaken: Vec::new(),
            by_command: false,
            registration: None,
            said: None,
            ledger: self.ledger.clone(),
            cap: Cap::After(8),
            tools: ToolUse::NotSeen,
            transcript: None,
            trust: self.trust,
            orders: Orders::default(),
            typed_here: mainspring_kernel::orders::TypedHere::AtOnce,
            fence: Fence(self.journal.len() as u64),
            me: EffectOwner {
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
        for input in &mut self.inputs {
            if let MachineInput::Tasks(input) = input {
                input.facts = people::invoked(list);
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
            Ruling::Repeated(_) => panic!("nothing to commit"),
            Ruling::Intends(pending) => {
                self.intents.retain(|one| one.name() != pending.name());
                self.intents.push(pending.clone());
            }
            Ruling::Settled(settlement) => {
                for moved in &settlement.transitions {
                    self.intents.retain(|one| one.name() != moved.name());
                    self.intents.extend(moved.intent());
                    self.keep(moved);
                }
                self.ledger = settlement.stored_ledger(case);
            }
        }
        assert_reduced(&entry);
        self.journal.push(entry);
    }

    fn keep(&mut self, moved: &Transition) {
        let input = self
            .inputs
            .iter_mut()
            .find(|input| input.name() == moved.name());
        match (input.expect("only what was loaded moves"), moved) {
            (MachineInput::Gate(input), Transition::Gate(moved)) => input.state = moved.state,
            (MachineInput::Loop(input), Transition::Loop(moved)) => {
                input.state = moved.state.clone();
            }
            (MachineInput::Review(input), Transition::Review(moved)) => {
                input.state = moved.state.clone();
            }
            (MachineInput::Claim(input), Transition::Claim(moved)) => {
                input.state = moved.state.clone();
            }
            (MachineInput::Tasks(input), Transition::Tasks(moved)) => {
                input.state = moved.state.clone();
            }
            (input, moved) => panic!("{input:?} and {moved:?}"),
        }
    }

    /// The world outside the process.
    fn run(&mut self, pending: &Pending) -> Finished {
        self.ran.push(pending.name());
        match pending {
            Pending::Review(intent) => {
                let result = match self.review {
                    Stand::Failing => Finding::NotDone(Failure::NoFile),
                    Stand::Blocking => Finding::Reviewed(Verdict::Fail),
                    Stand::Passing | Stand::Absent => Finding::Reviewed(Verdict::Pass),
                };
                if let (Finding::Reviewed(_), Some(MachineInput::Review(input))) = (
                    &result,
                    self.inputs
                        .iter_mut()
                        .find(|input| input.name() == Name::Review),
                ) {
                    input.facts.written.push(intent.effect.iteration);
                }
                Finished::Review(Returned {
                    intent: intent.clone(),
                    outcome: review::Outcome::new(result, Millis::seconds(60), 250_000),
                })
            }
            Pending::Claim(intent) => {
                let fault = || ClaimOutcome::Failed(Fault::new("HTTP 502"));
                let outcome = match (&intent.effect, self.claim) {
                    (_, Stand::Failing) => fault(),
                    (Effect::Open(_), _) => ClaimOutcome::Opened {
                        pr: 107,
                        url: "https://github.com/acme/widgets/pull/107".into(),
                        how: How::Now,
                        board: CardMove::Moved,
                    },
                    (Effect::Sync(_), _) => ClaimOutcome::Synced(CardMove::Moved),
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

    /// The agent does what these told it.
    pub(crate) fn obey(&mut self, holds: &[Name]) {
        self.kind = stop(Chain::Continued);
        for input in &mut self.inputs {
            let told = holds.contains(&input.name());
            match input {
                MachineInput::Gate(input) => {
                    let stand = if told {
                        Stand::Passing
                    } else {
                        Stand::Blocking
                    };
                    input.facts = people::gate(stand);
                }
                MachineInput::Loop(input) => {
                    let stand = if told {
                        Stand::Passing
                    } else {
                        Stand::Blocking
                    };
                    input.facts = people::looping(stand);
                }
                MachineInput::Review(input) if told => {
                    input.facts.violations.clear();
                    if let review::State::Plan(plan) = &mut input.state
                        && let Some(kind) = plan.fields.unanswered()
                    {
                        let fields = &mut plan.fields;
                        // The findings are answered; the next two reviews will be clean.
                        fields.phase = Some(Phase::PostReview(kind));
                        fields.next_phase = Some(Phase::Review(kind));
                        fields.consecutive_clean = 1;
                        if let Some(cycle) = &mut plan.memory.cycle {
                            cycle.streak = 1;
                        }
                        self.review = Stand::Passing;
                    }
                }
                MachineInput::Claim(input) if told => {
                    if let claim::State::Claimed { claim, .. } = &mut input.state
                        && claim.summary.is_empty()
                    {
                        claim.summary = people::SUMMARY.into();
                    }
                }
                MachineInput::Review(_)
                | MachineInput::Claim(_)
                | MachineInput::Tasks(_)
                | MachineInput::Check(_)
                | MachineInput::Pulse(_) => {}
            }
        }
    }

    /// Did the machine do what it does when it is finished?
    pub(crate) fn has_finished(&self, name: Name) -> bool {
        match self.input(name) {
            Some(MachineInput::Gate(input)) => input.state == gate::State::Said { held: 0 },
            Some(MachineInput::Loop(input)) => {
                input.state == looping::State::Idle(Past::Done(Ending::Complete))
            }
            Some(MachineInput::Review(input)) => input
                .state
                .plan()
                .is_some_and(|plan| plan.fields.next_phase == Some(Phase::CreateTasks)),
            Some(MachineInput::Claim(input)) => matches!(
                &input.state,
                claim::State::Claimed { claim, .. } if claim.phase == ClaimPhase::PrCreated
            ),
            Some(MachineInput::Check(_) | MachineInput::Tasks(_) | MachineInput::Pulse(_))
            | None => false,
        }
    }

    /// Is the statement of the agent or a reviewer kept for the stop at which all let the agent go?
    pub(crate) fn has_accepted(&self, name: Name) -> bool {
        match self.input(name) {
            Some(MachineInput::Gate(input)) => input.state == gate::State::Said { held: 3 },
            Some(MachineInput::Loop(input)) => {
                matches!(input.state, looping::State::Completing { .. })
            }
            Some(MachineInput::Review(input)) => input
                .state
                .plan()
                .is_some_and(|plan| plan.fields.consecutive_clean == 2),
            Some(
                MachineInput::Check(_)
                | MachineInput::Claim(_)
                | MachineInput::Tasks(_)
                | MachineInput::Pulse(_),
            )
            | None => false,
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        // A stop at which nothing was said and nothing changed leaves no record.
        match self.journal.last() {
            None => Outcome::Passed,
            Some(Entry::Turn { ruling, .. }) => match &**ruling {
                Ruling::Settled(settlement) => settlement.outcome,
                other => panic!("a turn ended in {other:?}"),
            },
            Some(Entry::Verb { .. }) => panic!("nobody typed anything"),
        }
    }

    /// No effect runs while the lock is held or before its intent is committed, and no answer is
    /// given while the lock is held.
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

/// A record has none of the texts, and takes the same arrows as the turn did.
fn assert_reduced(entry: &Entry) {
    let (kept, _) = entry.clone().reduced(Reducer::new(|_| Digest("d".into())));
    let Ok(json) = serde_json::to_string(&kept) else {
        panic!("it cannot be written: {kept:?}")
    };
    for text in [people::PROMPT, people::SUMMARY] {
        assert!(!json.contains(text), "{json}");
    }
    let (Entry::Turn { ruling: whole, .. }, Entry::Turn { ruling, .. }) = (entry, &kept) else {
        panic!("nobody typed anything")
    };
    assert_eq!(skeleton(ruling), skeleton(whole));
}

/// A ruling without what is said in it: its outcome, and the arrows or the effect.
fn skeleton(ruling: &Ruling) -> (Option<Outcome>, Vec<[&str; 4]>) {
    match ruling {
        Ruling::Repeated(_) => (None, Vec::new()),
        Ruling::Intends(pending) => (None, vec![[pending.name().as_str(), "", "", ""]]),
        Ruling::Settled(settlement) => {
            let arrows = settlement.transitions.iter();
            let arrows = arrows.map(|taken| {
                let name = taken.name().as_str();
                [name, taken.rule(), taken.from(), taken.to()]
            });
            (Some(settlement.outcome), arrows.collect())
        }
    }
}
