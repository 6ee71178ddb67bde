//! Many stops of one session, through the whole deliberation: the block ledger against the host's
//! limit, and two machines that want different things.
#![expect(clippy::expect_used, reason = "a test")]

use mainspring_kernel::block_ledger::{BlockLedger, Cap, Mark, ToolUse};
use mainspring_kernel::decision::Decision;
use mainspring_kernel::deliberate::{Outcome, Settlement, Trust};
use mainspring_kernel::effect::{EffectOwner as Process, Fence};
use mainspring_kernel::event::{Author, Background, Chain, Speaker, StartSource};
use mainspring_kernel::machines::gate::{self, RecentErrors, Token, Transcript};
use mainspring_kernel::machines::looping::{
    self, Client, Ending, Frame, LoopOwner, Mode, OtherSessions, Past, Run,
};
use mainspring_kernel::machines::{InputOf, Transition};
use mainspring_kernel::spoken_signal::SpokenSignal;
use mainspring_kernel::{
    Case, Digest, Event, Kind, MachineInput, Millis, Ruling, SessionId, Uptime, deliberate,
};
use pretty_assertions::assert_eq;

/// A session and its state from event to event.
struct Session {
    gate: gate::State,
    said: Option<Digest>,
    looping: looping::State,
    ledger: BlockLedger,
    cap: Cap,
    deliveries: u64,
}

/// What the agent does before it stops.
#[derive(Clone)]
struct Act {
    says: Says,
    tools: ToolUse,
    speaker: Speaker,
    chain: Chain,
    session: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Says {
    Nothing,
    Token,
    Signal,
}

/// It stops once more, without a message or a tool.
const IDLE: Act = Act {
    says: Says::Nothing,
    tools: ToolUse::NotSeen,
    speaker: Speaker::Main,
    chain: Chain::Continued,
    session: "mine",
};
const TOKEN: Act = Act {
    says: Says::Token,
    ..IDLE
};
const SIGNAL: Act = Act {
    says: Says::Signal,
    ..IDLE
};

fn id(text: &str) -> SessionId {
    SessionId::parse(text).expect("a usable id")
}

impl Session {
    fn new(gate: gate::State, looping: looping::State) -> Self {
        Self {
            gate,
            said: None,
            looping,
            ledger: BlockLedger::default(),
            cap: Cap::After(8),
            deliveries: 0,
        }
    }

    fn case(&mut self, act: &Act, kind: Kind) -> Case {
        self.deliveries += 1;
        let said = gate::Facts {
            by: gate::SwitchedOnBy::Switch,
            token: "TASKMASTER_DONE::mine".into(),
            heard: match act.says {
                Says::Token => SpokenSignal::Said(Token),
                Says::Nothing | Says::Signal => SpokenSignal::Nothing,
            },
            errors: RecentErrors::NotSeen,
            max: 0,
            transcript: Transcript::Long,
            checklist: gate::Checklist::Skill,
            open_tasks: gate::OpenTasks::default(),
            talk: gate::Talk::Held,
        };
        let seen = loop_facts(act);
        Case {
            left: None,
            event: Event {
                session: Some(id(act.session)),
                speaker: act.speaker,
                kind,
            },
            now: Millis::seconds(self.deliveries * 60),
            uptime: Uptime(self.deliveries * 60_000),
            delivery: Digest(format!("{}", self.deliveries)),
            inputs: vec![
                MachineInput::Gate(InputOf::new(self.gate, said)),
                MachineInput::Loop(InputOf::new(self.looping.clone(), seen)),
            ],
            broken: vec![],
            overtaken: Vec::new(),
            by_command: false,
            registration: None,
            said: self.said.clone(),
            ledger: self.ledger.clone(),
            cap: self.cap,
            tools: act.tools,
            transcript: Some(Mark {
                size: 100 * self.deliveries,
                unrecorded: 0,
            }),
            trust: Trust::Untrusted,
            orders: mainspring_kernel::Orders::default(),
            typed_here: mainspring_kernel::orders::TypedHere::AtOnce,
            fence: Fence(0),
            me: Process {
                pid: 1,
                started: 1,
                boot: "boot".into(),
            },
        }
    }

    fn stop(&mut self, act: &Act) -> Settlement {
        self.event(
            act,
            Kind::Stop {
                chain: act.chain,
                background: Background::Quiet,
            },
        )
    }

    fn event(&mut self, act: &Act, kind: Kind) -> Settlement {
        let case = self.case(act, kind);
        let Ruling::Settled(settlement) = deliberate(&case) else {
            panic!("neither machine has an effect")
        };
        self.ledger = settlement.stored_ledger(&case);
        for moved in &settlement.transitions {
            match moved {
                Transition::Gate(moved) => self.gate = moved.state,
                Transition::Loop(moved) => self.looping = moved.state.clone(),
                other => panic!("{} is not in the case", other.name()),
            }
        }
        settlement
    }
}

fn waiting() -> gate::State {
    gate::State::Waiting { held: 0 }
}

fn no_loop() -> looping::State {
    looping::State::Idle(Past::Blank)
}

fn a_loop(outer: Vec<Frame>) -> looping::State {
    looping::State::Active(Run {
        id: "loop-1".into(),
        updated: Millis(0),
        owner: LoopOwner::Session {
            id: id("mine"),
            client: Some(Client(7)),
        },
        outer,
        top: Frame {
            id: "top".into(),
            mode: Mode::Loop,
            iter: 1,
            max: 100,
        },
        adopted: false,
    })
}

fn loop_facts(act: &Act) -> looping::Facts {
    looping::Facts {
        heard: match act.says {
            Says::Signal => SpokenSignal::Said(Ending::Complete),
            Says::Nothing | Says::Token => SpokenSignal::Nothing,
        },
        ttl: Millis::seconds(7_200),
        company: OtherSessions::Alone,
        client: Some(Client(7)),
        prompt: None,
        outer_prompt: None,
        outer: looping::OuterGoesOn::AtOnce,
        owner: looping::OwnerLife::Live,
        waits: false,
        rules: looping::LoopRules::default(),
        worktree: None,
    }
}

fn outcomes(session: &mut Session, acts: impl IntoIterator<Item = Act>) -> Vec<Outcome> {
    acts.into_iter()
        .map(|act| session.stop(&act).outcome)
        .collect()
}

#[test]
fn a_stop_that_a_command_makes_keeps_nobody_going_and_counts_for_nobody() {
    let mut session = Session::new(waiting(), no_loop());
    session.stop(&IDLE);
    let before = session.ledger.clone();
    let stop = Kind::Stop {
        chain: Chain::First,
        background: Background::Quiet,
    };
    let mut case = session.case(&IDLE, stop);
    case.by_command = true;
    let Ruling::Settled(settlement) = deliberate(&case) else {
        panic!("neither machine has an effect")
    };
    assert_eq!(settlement.outcome, Outcome::Told);
    assert!(!settlement.answer.decision.is_nothing(), "it is answered");
    assert_eq!(settlement.answer.notes, [], "no hold is told");
    assert_eq!(settlement.stored_ledger(&case), before);
}

#[test]
fn the_ninth_block_in_a_row_is_ours_to_give_up() {
    let mut session = Session::new(waiting(), no_loop());
    let eight = outcomes(&mut session, vec![IDLE; 8]);
    assert_eq!(eight, [Outcome::Held; 8]);

    let ninth = session.stop(&IDLE);
    assert_eq!(ninth.outcome, Outcome::Capped);
    assert!(ninth.answer.decision.is_nothing());
    assert_eq!(ninth.transitions[0].rule(), "capped");
    assert_eq!(session.gate, gate::State::Waiting { held: 8 }, "unmoved");
    insta::assert_snapshot!(
        ninth.answer.notes[0].text,
        @r#"let go after 8 blocks in a row without tool use, because the host would override the next one. Still waiting: gate. Say "continue" to go on, or `mainspring why` for the reasons"#
    );

    let after_a_prompt = Act {
        chain: Chain::First,
        ..IDLE
    };
    let again = outcomes(&mut session, vec![after_a_prompt]);
    assert_eq!(again, [Outcome::Held], "a prompt resets the count");
    assert_eq!(session.gate, gate::State::Waiting { held: 9 });
}

#[test]
fn tool_use_resets_the_count() {
    let mut session = Session::new(waiting(), no_loop());
    let with_tools = Act {
        tools: ToolUse::Seen,
        ..IDLE
    };
    let thirty = outcomes(&mut session, vec![with_tools.clone(); 30]);
    assert_eq!(thirty, [Outcome::Held; 30]);

    // The last of them counts as one: seven more are honoured.
    let eight = outcomes(&mut session, vec![IDLE; 8]);
    assert_eq!(eight[..7], [Outcome::Held; 7]);
    assert_eq!(eight[7], Outcome::Capped);
    let used = outcomes(&mut session, vec![with_tools]);
    assert_eq!(used, [Outcome::Held]);
}

#[test]
fn the_cap_may_be_another_or_none() {
    for (cap, honoured) in [(Cap::After(3), 3), (Cap::After(20), 20), (Cap::Never, 40)] {
        let mut session = Session::new(waiting(), no_loop());
        session.cap = cap;
        let all = outcomes(&mut session, vec![IDLE; 40]);
        let held = all.iter().take_while(|one| **one == Outcome::Held).count();
        assert_eq!(held, honoured, "{cap:?}");
    }
}

#[test]
fn a_compaction_in_the_chain_does_not_reset_what_the_host_counts() {
    let mut session = Session::new(waiting(), no_loop());
    outcomes(&mut session, vec![IDLE; 8]);
    for (source, outcome) in [
        (StartSource::Compact, Outcome::Capped),
        (StartSource::Resume, Outcome::Held),
    ] {
        session.event(&IDLE, Kind::SessionStart { source });
        assert_eq!(outcomes(&mut session, [IDLE]), [outcome], "{source:?}");
    }
}

#[test]
fn both_machines_are_heard_at_once_in_their_order() {
    let mut session = Session::new(waiting(), a_loop(vec![]));
    let Decision::Stop { hold } = session.stop(&IDLE).answer.decision else {
        panic!("a stop")
    };
    insta::assert_snapshot!(hold.text(), @r"
    TASKMASTER (1): Stop blocked. Follow the taskmaster completion checklist. Done signal: TASKMASTER_DONE::mine

    [ITERATION 2/100] Continue working on the task. Check your progress and either complete the task or keep iterating.
    ");
}

#[test]
fn what_one_machine_accepted_is_not_undone_by_the_other() {
    let mut session = Session::new(waiting(), a_loop(vec![]));
    let acts = [SIGNAL, IDLE, TOKEN];
    let all = outcomes(&mut session, acts);
    assert_eq!(all, [Outcome::Held, Outcome::Held, Outcome::Passed]);
    assert_eq!(
        session.looping,
        looping::State::Idle(Past::Done(Ending::Complete))
    );
    assert_eq!(session.gate, gate::State::Said { held: 0 });

    // The other way round: the token first, then the signal.
    let mut session = Session::new(waiting(), a_loop(vec![]));
    let acts = [TOKEN, SIGNAL];
    let all = outcomes(&mut session, acts);
    assert_eq!(all, [Outcome::Held, Outcome::Passed]);

    let person = Kind::Prompt {
        author: Author::Person,
    };
    session.event(&IDLE, person);
    assert_eq!(session.gate, waiting(), "and a prompt asks again");
}

#[test]
fn an_inner_frame_ends_and_the_outer_goes_on_at_once() {
    let outer = Frame {
        id: "outer".into(),
        mode: Mode::Loop,
        iter: 3,
        max: 10,
    };
    let mut session = Session::new(gate::State::Off, a_loop(vec![outer]));
    let sent_on = session.stop(&SIGNAL);
    assert_eq!(sent_on.outcome, Outcome::Held);
    let Decision::Stop { hold } = sent_on.answer.decision else {
        panic!("a stop")
    };
    assert!(
        hold.text()
            .starts_with("[ITERATION 4/10] The inner loop is over")
    );
    let all = outcomes(&mut session, [IDLE, SIGNAL]);
    assert_eq!(all, [Outcome::Held, Outcome::Passed]);
    assert_eq!(
        session.looping,
        looping::State::Idle(Past::Done(Ending::Complete))
    );
}

#[test]
fn at_the_hosts_cap_an_inner_frame_ends_and_the_agent_is_let_go() {
    let outer = Frame {
        id: "outer".into(),
        mode: Mode::Loop,
        iter: 3,
        max: 10,
    };
    let mut session = Session::new(gate::State::Off, a_loop(vec![outer]));
    outcomes(&mut session, vec![IDLE; 8]);
    assert_eq!(session.stop(&SIGNAL).outcome, Outcome::Capped);
    let looping::State::Active(run) = &session.looping else {
        panic!("the outer frame is left")
    };
    assert_eq!((run.depth(), run.top.iter), (1, 3), "no iteration is lost");
}

#[test]
fn an_agent_that_only_repeats_itself_is_let_go_and_nothing_moves() {
    let mut session = Session::new(waiting(), a_loop(vec![]));
    session.cap = Cap::Never;
    let repeats = |session: &mut Session| {
        session.said = Some(Digest("the same".into()));
        session.stop(&IDLE).outcome
    };
    for _ in 0..4 {
        assert_eq!(repeats(&mut session), Outcome::Held);
    }
    assert_eq!(repeats(&mut session), Outcome::SameAnswer);
    assert_eq!(session.gate, gate::State::Waiting { held: 4 });
    session.said = Some(Digest("another".into()));
    assert_eq!(session.stop(&IDLE).outcome, Outcome::Held);
}

#[test]
fn neither_a_sub_agent_nor_another_session_ends_what_was_accepted() {
    let mut session = Session::new(waiting(), a_loop(vec![]));
    session.stop(&SIGNAL);
    let completing = session.looping.clone();
    assert!(matches!(completing, looping::State::Completing { .. }));

    let subagent = Act {
        speaker: Speaker::Subagent,
        ..IDLE
    };
    assert_eq!(outcomes(&mut session, [subagent]), [Outcome::Passed]);
    assert_eq!(session.looping, completing);

    session.gate = gate::State::Off;
    let other = Act {
        session: "theirs",
        ..IDLE
    };
    assert_eq!(outcomes(&mut session, [other]), [Outcome::Passed]);
    assert_eq!(session.looping, completing);
}

#[test]
fn a_hold_marks_how_far_the_transcript_had_come_and_a_new_chain_forgets_it() {
    let mut session = Session::new(waiting(), no_loop());
    session.stop(&IDLE);
    let marked = Mark {
        size: 100,
        unrecorded: 1,
    };
    assert_eq!(
        session.ledger.mark,
        Some(marked),
        "the hold itself is not in it yet"
    );
    session.stop(&TOKEN);
    assert_eq!(
        session.ledger.mark,
        Some(marked),
        "a stop that passes marks nothing"
    );
    let first = Act {
        chain: Chain::First,
        ..TOKEN
    };
    session.stop(&first);
    assert_eq!(session.ledger.mark, None);
}

proptest::proptest! {
    /// Against a host that counts as Claude Code was measured to: it never overrides us, and we
    /// never let the agent go before it would.
    #[test]
    fn the_ledger_counts_as_the_host_does(
        stops in proptest::collection::vec((0..4_u8, 0..6_u8, 0..3_u8), 1..120),
        cap in 1..10_u32,
    ) {
        let mut session = Session::new(waiting(), a_loop(vec![]));
        session.cap = Cap::After(cap);
        let mut host = 0;
        let mut chain = Chain::First;
        for (tools, prompt, says) in stops {
            if prompt == 0 {
                session.event(&IDLE, Kind::Prompt { author: Author::Person });
                chain = Chain::First;
            }
            let tools = if tools == 0 { ToolUse::Seen } else { ToolUse::NotSeen };
            if tools == ToolUse::Seen || chain == Chain::First {
                host = 0;
            }
            let says = match says {
                0 => Says::Token,
                1 => Says::Signal,
                _ => Says::Nothing,
            };
            match session.stop(&Act { says, tools, chain, ..IDLE }).outcome {
                Outcome::Held => {
                    proptest::prop_assert!(host < cap, "the host overrides this one");
                    host += 1;
                    chain = Chain::Continued;
                }
                Outcome::Capped => {
                    proptest::prop_assert_eq!(host, cap, "let go too early");
                    chain = Chain::First;
                }
                Outcome::Passed => chain = Chain::First,
                other => panic!("{other:?} at a stop"),
            }
        }
    }
}
