//! The combinations, and each machine's state in each of its situations.

use mainspring_kernel::deliberate::Trust;
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, status};
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_kernel::machines::claim::phase::Phase as ClaimPhase;
use mainspring_kernel::machines::gate::{self, RecentErrors, Token, Transcript};
use mainspring_kernel::machines::looping::{
    self, Client, Ending, Frame, LoopOwner, Mode, OtherSessions, Run,
};
use mainspring_kernel::machines::review::cycle::{Cycle, CycleKey};
use mainspring_kernel::machines::review::table::Tasks as TaskTable;
use mainspring_kernel::machines::review::{
    self, AnswerFile, Asker, Fields, Kind as ReviewKind, Memory, OnFailure, Phase, Plan, Settings,
};
use mainspring_kernel::machines::tasks::check::{Item, List};
use mainspring_kernel::machines::tasks::draft::Status;
use mainspring_kernel::machines::tasks::task_list::{Entry, Maker, Reset, Source, TaskList};
use mainspring_kernel::machines::tasks::{Guard, Invoked, Offer, TaskTools};
use mainspring_kernel::machines::{InputOf, claim, tasks};
use mainspring_kernel::spoken_signal::SpokenSignal;
use mainspring_kernel::{MachineInput, Millis, Name, SessionId};

/// The five machines. `pulse` is not among them, because it only tests an installation.
pub(crate) const FIVE: [Name; 5] = [
    Name::Gate,
    Name::Loop,
    Name::Review,
    Name::Claim,
    Name::Tasks,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    Absent,
    Passing,
    Blocking,
    Failing,
}

/// Is it known at once, or does it take an effect?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Price {
    Cheap,
    Dear,
}

const STANDS: [Stand; 4] = [
    Stand::Absent,
    Stand::Passing,
    Stand::Blocking,
    Stand::Failing,
];
const PRICES: [Price; 2] = [Price::Cheap, Price::Dear];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Combination {
    stands: [(Name, Stand); 5],
    review: Price,
    claim: Price,
    pub(crate) trust: Trust,
}

impl Combination {
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for number in 0..1024_usize {
            let digit = |place: u32| STANDS[number / 4_usize.pow(place) % 4];
            let stands = [
                (Name::Gate, digit(0)),
                (Name::Loop, digit(1)),
                (Name::Review, digit(2)),
                (Name::Claim, digit(3)),
                (Name::Tasks, digit(4)),
            ];
            for review in PRICES {
                for claim in PRICES {
                    for trust in [Trust::Trusted, Trust::Untrusted] {
                        all.push(Self {
                            stands,
                            review,
                            claim,
                            trust,
                        });
                    }
                }
            }
        }
        all
    }

    pub(crate) fn stand(&self, name: Name) -> Stand {
        let of = self.stands.iter().find(|(of, _)| *of == name);
        of.map_or(Stand::Absent, |(_, stand)| *stand)
    }

    pub(crate) fn price(&self, name: Name) -> Price {
        match name {
            Name::Review => self.review,
            Name::Claim => self.claim,
            Name::Gate | Name::Loop | Name::Check | Name::Tasks | Name::Pulse => Price::Cheap,
        }
    }

    pub(crate) fn is(&self, name: Name, stand: Stand, price: Price) -> bool {
        self.stand(name) == stand && self.price(name) == price
    }
}

/// The message about a machine whose state cannot be read.
pub(crate) fn damage(name: Name) -> String {
    format!("{name}'s file cannot be read")
}

/// Is this the message about a machine that failed or has to wait?
pub(crate) fn is_loud(name: Name, text: &str) -> bool {
    let words = ["did not happen", "was not updated", "not trusted yet"];
    text == damage(name) || words.iter().any(|word| text.contains(word))
}

pub(crate) fn session() -> SessionId {
    SessionId::parse("s").expect("an id")
}

/// The machine's input; `None` if it is absent or cannot be read.
pub(crate) fn input(name: Name, stand: Stand, price: Price) -> Option<MachineInput> {
    let cannot_be_read = stand == Stand::Failing && price == Price::Cheap;
    if stand == Stand::Absent || cannot_be_read {
        return None;
    }
    Some(match name {
        Name::Gate => {
            MachineInput::Gate(InputOf::new(gate::State::Waiting { held: 3 }, gate(stand)))
        }
        Name::Loop => MachineInput::Loop(InputOf::new(a_loop(), looping(stand))),
        Name::Review => {
            let (plan, facts) = review(stand, price);
            MachineInput::Review(InputOf::new(review::State::Plan(Box::new(plan)), facts))
        }
        Name::Claim => MachineInput::Claim(InputOf::new(
            claimed(stand, price),
            claim::Facts {
                board: claim::BoardUse::On,
                branch: Some("claude/fix-42".into()),
                ..claim::Facts::plain()
            },
        )),
        Name::Tasks => MachineInput::Tasks(InputOf::new(task_list(stand), tasks::Facts::Nothing)),
        Name::Check | Name::Pulse => return None,
    })
}

pub(crate) fn gate(stand: Stand) -> gate::Facts {
    gate::Facts {
        by: gate::SwitchedOnBy::Switch,
        token: "TASKMASTER_DONE::s".into(),
        heard: match stand {
            Stand::Passing => SpokenSignal::Said(Token),
            Stand::Absent | Stand::Blocking | Stand::Failing => SpokenSignal::Nothing,
        },
        errors: RecentErrors::NotSeen,
        max: 0,
        transcript: Transcript::Long,
        checklist: gate::Checklist::Skill,
        open_tasks: gate::OpenTasks::default(),
        talk: gate::Talk::Held,
    }
}

/// What a pull request is to be called.
pub(crate) const SUMMARY: &str = "Fix the race in the cache";

/// What the loop repeats to the agent.
pub(crate) const PROMPT: &str = "Make the cache safe.";

pub(crate) fn looping(stand: Stand) -> looping::Facts {
    looping::Facts {
        heard: match stand {
            Stand::Passing => SpokenSignal::Said(Ending::Complete),
            Stand::Absent | Stand::Blocking | Stand::Failing => SpokenSignal::Nothing,
        },
        ttl: Millis::seconds(7_200),
        company: OtherSessions::Alone,
        client: Some(Client(7)),
        prompt: Some(PROMPT.into()),
        outer_prompt: None,
        outer: looping::OuterGoesOn::AtOnce,
        owner: looping::OwnerLife::Live,
        waits: false,
        rules: looping::LoopRules::default(),
        worktree: None,
    }
}

fn a_loop() -> looping::State {
    looping::State::Active(Run {
        id: "loop-1".into(),
        updated: Millis::seconds(1_000),
        owner: LoopOwner::Session {
            id: session(),
            client: Some(Client(7)),
        },
        outer: vec![],
        top: Frame {
            id: "top".into(),
            mode: Mode::Loop,
            iter: 1,
            max: 100,
        },
        adopted: false,
    })
}

/// Cheap: no review is due, and the ground rules hold or not. Dear: a review is due, and it would
/// be the second clean one in a row.
fn review(stand: Stand, price: Price) -> (Plan, review::Facts) {
    let fields = match price {
        Price::Cheap => Fields::default(),
        Price::Dear => Fields {
            phase: Some(Phase::PostReview(ReviewKind::Plan)),
            next_phase: Some(Phase::Review(ReviewKind::Plan)),
            phase_iteration: Some(1),
            consecutive_clean: 1,
            ..Fields::default()
        },
    };
    let plan = Plan {
        id: "demo".into(),
        fields,
        memory: Memory {
            owner: Some(session()),
            cycle: match price {
                Price::Cheap => None,
                Price::Dear => Some(Cycle {
                    done: 1,
                    streak: 1,
                    number: 1,
                    ..Cycle::new(CycleKey {
                        review: ReviewKind::Plan,
                        task: None,
                    })
                }),
            },
            ..Memory::default()
        },
        passing: None,
    };
    let violations = match (stand, price) {
        (Stand::Blocking, Price::Cheap) => vec!["Missing required file: plan.md".to_owned()],
        _ => vec![],
    };
    let facts = review::Facts {
        asker: Asker::Session(OtherSessions::Alone),
        unrecorded: false,
        replies: Vec::new(),
        violations,
        warnings: vec![],
        tasks: TaskTable::default(),
        written: vec![1],
        answer: AnswerFile::Missing,
        settings: Settings {
            models: vec!["opus".into(), "sonnet".into()],
            on_failure: OnFailure::Approve,
            max_cost: None,
            deadline: Millis::seconds(600),
            findings: true,
        },
    };
    (plan, facts)
}

/// Cheap: work goes on with a current card, or a hand-over lacks its summary. Dear: a card has to
/// move, or a pull request has to be opened.
fn claimed(stand: Stand, price: Price) -> claim::State {
    let (phase, summary, synced) = match (stand, price) {
        (Stand::Blocking, Price::Cheap) => (ClaimPhase::ReadyForPr, "", status::IN_PROGRESS),
        (Stand::Blocking, Price::Dear) => (ClaimPhase::ReadyForPr, SUMMARY, status::IN_PROGRESS),
        (_, Price::Cheap) => (ClaimPhase::Coding, "", status::IN_PROGRESS),
        (_, Price::Dear) => (ClaimPhase::Coding, "", status::TODO),
    };
    let claim = ClaimFile {
        phase,
        summary: summary.into(),
        last_synced_status: Some(synced.into()),
        ..ClaimFile::claimed(42, "claude/fix-42".into(), "me".into(), "PVTI_1".into())
    };
    claim::State::Claimed {
        claim,
        memory: ClaimMemory {
            owner: Some(session()),
            ..ClaimMemory::default().about(42)
        },
    }
}

/// A skill is invoked: its list can be laid out, or cannot be read.
pub(crate) fn invoked(stand: Stand) -> tasks::Facts {
    let offer = match stand {
        Stand::Blocking => Offer::Unavailable("fsm.json is not JSON".into()),
        Stand::Absent | Stand::Passing | Stand::Failing => Offer::List(List {
            items: vec![Item {
                local: 1,
                subject: "Ship".into(),
                status: Status::Pending,
                blocked_by: vec![],
                blocks: vec![],
            }],
        }),
    };
    tasks::Facts::Invoked(Invoked {
        skill: "ship".into(),
        offer,
        reset: Reset::All,
        guard: Guard::Off,
        tools: TaskTools::Unknown,
        strangers: vec![],
    })
}

/// Everything done or not: at a stop it makes no difference.
fn task_list(stand: Stand) -> TaskList {
    let status = match stand {
        Stand::Blocking => Status::InProgress,
        Stand::Absent | Stand::Passing | Stand::Failing => Status::Completed,
    };
    TaskList {
        tasks: vec![Entry {
            id: 1,
            maker: Maker::Skill("ship".into()),
            status,
            blocked_by: vec![],
            blocks: vec![],
            source: Source::Found,
        }],
        floor: 0,
    }
}
