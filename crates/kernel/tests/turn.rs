//! The protocol of a turn, interpreted with values: what is asked, in which order, and what follows
//! from each failure.

use mainspring_kernel::block_ledger::{BlockLedger, Cap, ToolUse};
use mainspring_kernel::deliberate::{Case, Trust};
use mainspring_kernel::effect::{EffectOwner, EffectStatus, Fence, Intent, Life};
use mainspring_kernel::event::{Background, Chain, Event, Speaker};
use mainspring_kernel::journal::{Entry, FORMAT, Record};
use mainspring_kernel::machines::claim::claim_file::ClaimFile;
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::pull::{Extent, Outlook, Pull, PullState, Review};
use mainspring_kernel::machines::claim::work::{CardUpdate, Effect, Outcome};
use mainspring_kernel::machines::pulse::{Probed, State};
use mainspring_kernel::machines::{Finished, InputOf, Pending, Returned, Transition, claim};
use mainspring_kernel::{
    Answer, Ask, Decision, Digest, Kind, MachineInput, Millis, Reply, Ruling, SessionId, Turn,
    Uptime, deliberate,
};
use pretty_assertions::assert_eq;

const STOP: Kind = Kind::Stop {
    chain: Chain::First,
    background: Background::Quiet,
};

/// The disk, as values: the smallest machine, its intent, the ledger, the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Disk {
    pulse: State,
    intent: Option<Pending>,
    ledger: BlockLedger,
    journal: Vec<Entry>,
}

impl Disk {
    fn beating(of: u32) -> Self {
        Self {
            pulse: State::Beating {
                beat: 0,
                of,
                session: None,
            },
            intent: None,
            ledger: BlockLedger::default(),
            journal: Vec::new(),
        }
    }

    fn case(&self, delivery: &str, me: u32, life: Life) -> Case {
        let mut input = MachineInput::Pulse(InputOf::new(self.pulse.clone(), ()));
        if let Some(pending) = &self.intent {
            input.set_intent(pending.clone(), life);
        }
        Case {
            left: None,
            event: Event {
                session: SessionId::parse("s"),
                speaker: Speaker::Main,
                kind: STOP,
            },
            now: Millis::seconds(1_000),
            uptime: Uptime(1_000_000),
            delivery: Digest(delivery.into()),
            inputs: vec![input],
            broken: Vec::new(),
            overtaken: Vec::new(),
            by_command: false,
            registration: None,
            said: None,
            ledger: self.ledger.clone(),
            cap: Cap::Never,
            tools: ToolUse::NotSeen,
            transcript: None,
            trust: Trust::Trusted,
            orders: mainspring_kernel::Orders::default(),
            typed_here: mainspring_kernel::orders::TypedHere::AtOnce,
            fence: Fence(self.journal.len() as u64),
            me: EffectOwner {
                pid: me,
                started: 1,
                boot: "b".into(),
            },
        }
    }

    fn commit(&mut self, entry: &Entry) {
        let Entry::Turn { case, ruling } = entry else {
            panic!("a turn commits a turn")
        };
        match &**ruling {
            Ruling::Repeated(_) => panic!("nothing to commit"),
            Ruling::Intends(pending) => self.intent = Some(pending.clone()),
            Ruling::Settled(settlement) => {
                for moved in &settlement.transitions {
                    let Transition::Pulse(pulse) = moved else {
                        panic!("only pulse is here")
                    };
                    self.pulse = pulse.state.clone();
                    self.intent = moved.intent();
                }
                self.ledger = settlement.stored_ledger(case);
            }
        }
        self.journal.push(entry.clone());
    }
}

fn ran(pending: &Pending) -> Reply {
    let Pending::Pulse(intent) = pending else {
        panic!("only pulse is here")
    };
    Reply::Ran(Box::new(Finished::Pulse(Returned {
        intent: intent.clone(),
        outcome: Probed::Version("1".into()),
    })))
}

/// Interprets a turn to its end. `fail` breaks the n-th thing that is asked for. Returns the answer
/// and the names of everything that was asked for.
fn interpret(disk: &mut Disk, delivery: &str, fail: Option<usize>) -> (Answer, Vec<&'static str>) {
    let (mut turn, mut ask) = Turn::begin(STOP);
    let mut asked = Vec::new();
    loop {
        let broken = fail == Some(asked.len());
        let (name, reply) = match ask {
            Ask::Answer(answer) => return (answer, asked),
            Ask::Lock => ("lock", Reply::Done),
            Ask::Load => {
                let case = disk.case(delivery, 1, Life::Alive);
                ("load", Reply::Loaded(Box::new(case)))
            }
            Ask::Commit(entry) => {
                if !broken {
                    disk.commit(&entry);
                }
                ("commit", Reply::Done)
            }
            Ask::Unlock => ("unlock", Reply::Done),
            Ask::Run(pending) => ("run", ran(&pending)),
        };
        asked.push(name);
        ask = turn.next(if broken {
            Reply::Failed("it broke".into())
        } else {
            reply
        });
    }
}

fn holds(answer: &Answer) -> bool {
    matches!(&answer.decision, Decision::Stop { hold } if !hold.is_empty())
}

#[test]
fn a_hold_is_locked_loaded_committed_and_only_then_said() {
    let mut disk = Disk::beating(3);
    let (answer, asked) = interpret(&mut disk, "one", None);
    assert!(holds(&answer));
    assert_eq!(asked, ["lock", "load", "commit", "unlock"]);
}

#[test]
fn an_effect_is_intended_before_it_runs_and_runs_without_the_lock() {
    let mut disk = Disk::beating(1);
    let (answer, asked) = interpret(&mut disk, "one", None);
    assert!(holds(&answer));
    assert_eq!(
        asked,
        [
            "lock", "load", "commit", "unlock", "run", "lock", "load", "commit", "unlock"
        ]
    );
    assert_eq!(disk.intent, None, "its result was taken in");
}

#[test]
fn nothing_to_say_and_nothing_changed_is_no_record() {
    let mut disk = Disk {
        pulse: State::Still,
        ..Disk::beating(1)
    };
    let (answer, asked) = interpret(&mut disk, "one", None);
    assert!(answer.is_nothing());
    assert_eq!(asked, ["lock", "load", "unlock"]);
}

#[test]
fn whatever_fails_the_agent_is_let_go_the_person_told_and_the_lock_given_back() {
    for at in 0..9 {
        let mut disk = Disk::beating(1);
        let (answer, asked) = interpret(&mut disk, "one", Some(at));
        // Releasing the lock cannot fail in a way that matters to a decision that is made.
        if asked.get(at) == Some(&"unlock") && at == 8 {
            assert!(holds(&answer));
            continue;
        }
        assert!(answer.decision.is_nothing(), "failure at {at}");
        assert_eq!(answer.notes.len(), 1, "failure at {at}: {answer:?}");
        assert_eq!(answer.notes[0].text, "it broke");
        let count = |what: &str| asked.iter().filter(|asked| **asked == what).count();
        let locks = count("lock") - usize::from(asked[at] == "lock");
        assert!(count("unlock") >= locks, "failure at {at}: {asked:?}");
        assert!(!asked[at + 1..].contains(&"run"), "failure at {at}");
    }
}

#[test]
fn after_any_failure_the_next_stop_goes_on_and_the_effect_is_not_lost() {
    for at in 0..9 {
        let mut disk = Disk::beating(1);
        let _ = interpret(&mut disk, "one", Some(at));
        let (answer, _) = interpret(&mut disk, "two", None);
        let spent = matches!(disk.pulse, State::Spent { .. } | State::Still);
        assert!(spent, "failure at {at}: {disk:?}, {answer:?}");
    }
}

/// A process that was paused in its effect comes back after another process has taken over.
#[test]
fn a_result_whose_intent_is_no_longer_the_current_one_is_dropped() {
    let mut disk = Disk::beating(1);
    let (mut slow, _) = Turn::begin(STOP);
    slow.next(Reply::Done);
    let Ask::Commit(entry) = slow.next(Reply::Loaded(Box::new(disk.case("one", 1, Life::Alive))))
    else {
        panic!("it intends the effect")
    };
    disk.commit(&entry);
    slow.next(Reply::Done);
    let Ask::Run(pending) = slow.next(Reply::Done) else {
        panic!("it runs the effect")
    };

    // Meanwhile the first process counts as gone, and another does all the work.
    let (mut quick, _) = Turn::begin(STOP);
    quick.next(Reply::Done);
    let case = disk.case("two", 2, Life::Gone);
    let Ask::Commit(entry) = quick.next(Reply::Loaded(Box::new(case))) else {
        panic!("it intends it again")
    };
    disk.commit(&entry);
    quick.next(Reply::Done);
    let Ask::Run(again) = quick.next(Reply::Done) else {
        panic!("it runs it again")
    };
    assert_ne!(pending, again, "under a new fence");
    quick.next(ran(&again));
    quick.next(Reply::Done);
    let case = disk.case("two", 2, Life::Alive);
    let Ask::Commit(entry) = quick.next(Reply::Loaded(Box::new(case))) else {
        panic!("it takes the result in")
    };
    disk.commit(&entry);
    let after = disk.clone();
    slow.next(ran(&pending));
    slow.next(Reply::Done);
    let ask = slow.next(Reply::Loaded(Box::new(disk.case("one", 1, Life::Alive))));
    let Ask::Commit(entry) = ask else {
        panic!("the person is told: {ask:?}")
    };
    disk.commit(&entry);
    slow.next(Reply::Done);
    let Ask::Answer(answer) = slow.next(Reply::Done) else {
        panic!("it ends")
    };
    assert!(answer.notes[0].text.contains("too late"), "{answer:?}");
    assert_eq!(
        disk.pulse,
        State::Still,
        "it was a stop after the last beat"
    );
    assert!(matches!(after.pulse, State::Spent { .. }));
}

/// Two registrations: the second delivery is answered while the first one's effect runs.
#[test]
fn a_result_counts_though_the_same_delivery_was_answered_meanwhile() {
    let mut disk = Disk::beating(1);
    let (mut slow, _) = Turn::begin(STOP);
    slow.next(Reply::Done);
    let case = disk.case("one", 1, Life::Alive);
    let Ask::Commit(entry) = slow.next(Reply::Loaded(Box::new(case))) else {
        panic!("it intends the effect")
    };
    disk.commit(&entry);
    slow.next(Reply::Done);
    let Ask::Run(pending) = slow.next(Reply::Done) else {
        panic!("it runs the effect")
    };
    disk.ledger.last = Some(mainspring_kernel::block_ledger::Delivered {
        delivery: Digest("one".into()),
        registration: None,
        uptime: Uptime(1_000_000),
        answer: Answer::fault(&STOP, "it is at work"),
    });
    slow.next(ran(&pending));
    slow.next(Reply::Done);
    let ask = slow.next(Reply::Loaded(Box::new(disk.case("one", 1, Life::Alive))));
    let Ask::Commit(entry) = ask else {
        panic!("the result is taken in: {ask:?}")
    };
    disk.commit(&entry);
    assert!(matches!(disk.pulse, State::Spent { .. }));
    assert_eq!(disk.intent, None);
}

#[test]
fn every_record_replays_to_the_same_ruling() {
    let mut disk = Disk::beating(3);
    for delivery in ["one", "two", "three", "four", "five"] {
        let _ = interpret(&mut disk, delivery, None);
    }
    assert_eq!(disk.pulse, State::Still);
    assert_eq!(
        disk.journal.len(),
        5,
        "two beats, an intent, the last, the end"
    );
    for (seq, entry) in disk.journal.into_iter().enumerate() {
        let record = Record {
            v: FORMAT,
            seq: seq as u64 + 1,
            at: Millis(0),
            entry,
            files: Vec::new(),
        };
        record.replay().expect("the same decision");
        let json = serde_json::to_string(&record).expect("it can be written");
        let read: Record = serde_json::from_str(&json).expect("and read");
        assert_eq!(read, record);
        read.replay().expect("and decided again");
    }
}

#[test]
fn a_reply_out_of_order_lets_go_and_says_so() {
    let (mut turn, _) = Turn::begin(STOP);
    let Ask::Answer(answer) = turn.next(ran(&Pending::Pulse(
        match &Disk::beating(1).case("x", 1, Life::Alive).inputs[0] {
            MachineInput::Pulse(_) => mainspring_kernel::effect::Intent {
                fence: Fence(1),
                effect: mainspring_kernel::machines::pulse::Probe,
                owner: EffectOwner {
                    pid: 1,
                    started: 1,
                    boot: "b".into(),
                },
                since: Millis(0),
                deadline: Millis(0),
                uptime: Uptime(0),
            },
            other => panic!("{other:?}"),
        },
    ))) else {
        panic!("it cannot go on")
    };
    assert!(answer.decision.is_nothing());
    assert!(answer.notes[0].text.contains("out of order"));
}

/// A claim whose pull request is watched.
fn watched(now: Millis) -> Case {
    let mut file = ClaimFile::claimed(7, "fix-7".into(), "a".into(), String::new());
    file.phase = Phase::ChecksRunning;
    file.pr_number = Some(9);
    let state = claim::State::Claimed {
        claim: file,
        memory: ClaimMemory::default().about(7),
    };
    let facts = claim::Facts::plain();
    let mut case = Disk::beating(1).case("watch", 1, Life::Alive);
    case.event.kind = Kind::Watch;
    case.now = now;
    case.inputs = vec![MachineInput::Claim(InputOf::new(state, facts))];
    case
}

/// Looks at the watched pull request and gets this. Returns what was asked for, and the last
/// ruling.
fn look(outcome: &Outcome, then: impl FnOnce(&mut Case)) -> (Vec<&'static str>, Answer) {
    let mut then = Some(then);
    let (mut turn, mut ask) = Turn::begin(Kind::Watch);
    let mut asked = Vec::new();
    loop {
        let (name, reply) = match ask {
            Ask::Answer(answer) => return (asked, answer),
            Ask::Lock => ("lock", Reply::Done),
            Ask::Load => {
                let mut case = watched(Millis::seconds(1_000));
                if asked.contains(&"run")
                    && let Some(then) = then.take()
                {
                    then(&mut case);
                }
                ("load", Reply::Loaded(Box::new(case)))
            }
            Ask::Commit(entry) => {
                let record = Record {
                    v: FORMAT,
                    seq: 1,
                    at: Millis(0),
                    entry: *entry,
                    files: Vec::new(),
                };
                assert_eq!(record.replay(), Ok(()), "the same again");
                ("commit", Reply::Done)
            }
            Ask::Unlock => ("unlock", Reply::Done),
            Ask::Run(pending) => {
                let Pending::Claim(intent) = *pending else {
                    panic!("only claim is here")
                };
                let outcome = outcome.clone();
                let returned = Finished::Claim(Returned { intent, outcome });
                ("run", Reply::Ran(Box::new(returned)))
            }
        };
        asked.push(name);
        ask = turn.next(reply);
    }
}

/// A result that is not about this pull request.
fn not_found() -> Outcome {
    Outcome::MergeChecked(None)
}

fn merged() -> Outcome {
    Outcome::Polled(Pull {
        number: 9,
        url: "pull/9".into(),
        state: PullState::Merged,
        review: Review::None,
        head: "h".into(),
        checks: Vec::new(),
        awaited: Vec::new(),
        extent: Extent::All,
        outlook: Outlook::default(),
        merged_at: None,
        log: Vec::new(),
    })
}

#[test]
fn a_look_leaves_a_record_only_of_what_it_found() {
    let (asked, answer) = look(&not_found(), |_| {});
    let look_and_leave = ["lock", "load", "unlock", "run", "lock", "load", "unlock"];
    assert_eq!(asked, look_and_leave);
    assert!(answer.is_nothing());
    let (asked, answer) = look(&merged(), |_| {});
    let and_record = [
        "lock", "load", "unlock", "run", "lock", "load", "commit", "unlock",
    ];
    assert_eq!(asked, and_record);
    assert!(
        matches!(&answer.decision, Decision::Watch { wake } if wake.text().contains("merged!"))
    );
}

#[test]
fn a_look_that_comes_back_to_somebody_elses_work_is_dropped() {
    let (asked, answer) = look(&merged(), |case| {
        let MachineInput::Claim(input) = &mut case.inputs[0] else {
            panic!("only claim is here")
        };
        let card = CardUpdate {
            issue: 7,
            item_id: String::new(),
            status: "In Review".into(),
            agent: "a".into(),
        };
        input.effect_status = EffectStatus::Running(Intent {
            fence: Fence(1),
            effect: Effect::Sync(card),
            owner: EffectOwner::default(),
            since: Millis(0),
            deadline: Millis::seconds(9_000),
            uptime: Uptime(0),
        });
    });
    assert_eq!(asked.iter().filter(|name| **name == "run").count(), 1);
    assert!(answer.decision.is_nothing());
}

#[test]
fn a_clock_that_was_set_back_repeats_no_answer_for_ever() {
    let mut disk = Disk::beating(3);
    let (answer, _) = interpret(&mut disk, "one", None);
    assert!(holds(&answer));
    let mut again = disk.case("one", 1, Life::Alive);
    again.now = Millis(0);
    assert!(matches!(deliberate(&again), Ruling::Repeated(_)), "at once");
    again.uptime = Uptime(again.uptime.0 + 10_000);
    assert!(matches!(deliberate(&again), Ruling::Settled(_)), "later");
    again.uptime = Uptime(0);
    assert!(
        matches!(deliberate(&again), Ruling::Settled(_)),
        "after a reboot"
    );
}
