//! The whole life of a claim, with a GitHub that loses replies.

use super::*;

/// A GitHub that does what it was asked even if its reply is lost.
#[derive(Debug, Default)]
struct Server {
    pulls: u32,
    closes: u32,
    card: String,
}

impl Server {
    fn run(&mut self, effect: &Effect) -> Outcome {
        match effect {
            Effect::Open(open) => {
                let how = if self.pulls == 0 {
                    How::Now
                } else {
                    How::Already
                };
                self.pulls = self.pulls.max(1);
                self.card.clone_from(&open.card.status);
                Outcome::Opened {
                    pr: 107,
                    url: "u".into(),
                    how,
                    board: CardMove::Moved,
                }
            }
            Effect::Close(close) => {
                let how = if self.closes == 0 {
                    How::Now
                } else {
                    How::Already
                };
                self.closes = self.closes.max(1);
                self.card.clone_from(&close.card.status);
                Outcome::Closed {
                    how,
                    board: CardMove::Moved,
                    release: Release::Released,
                }
            }
            Effect::Sync(card) => {
                self.card.clone_from(&card.status);
                Outcome::Synced(CardMove::Moved)
            }
            Effect::Poll { .. } => {
                let merged = Pull {
                    state: PullState::Merged,
                    ..pull(&[])
                };
                Outcome::Polled(merged)
            }
            Effect::CheckMerge { .. } => Outcome::MergeChecked(None),
            Effect::Arrive { .. } => fault("not asked here"),
            Effect::Beat(beat) => Outcome::Beaten(Beaten::Kept(beat.lease.clone())),
            Effect::GiveBack { .. } => Outcome::GivenBack(Release::Released),
            Effect::Look { .. } => Outcome::Looked(BranchStatus::NotMerged),
            Effect::Survey => Outcome::Surveyed(Survey::Off),
        }
    }
}

/// How one effect goes.
#[derive(Debug, Clone, Copy)]
enum Luck {
    Works,
    /// Nothing happened at the server; the process lived.
    Fails,
    /// It happened, but the process died before the reply came.
    DiesAfter,
    DiesBefore,
}

fn luck() -> impl Strategy<Value = Luck> {
    prop_oneof![
        3 => Just(Luck::Works),
        1 => Just(Luck::Fails),
        1 => Just(Luck::DiesAfter),
        1 => Just(Luck::DiesBefore),
    ]
}

proptest! {
    #[test]
    fn whatever_dies_on_the_way_a_claim_ends_closed_and_gone(lucks in proptest::collection::vec(luck(), 0..12)) {
        let mut server = Server::default();
        let mut state = claimed(Phase::ReadyForPr);
        let mut effect_status = EffectStatus::Clear;
        let mut now = NOW;
        let mut lucks = lucks.into_iter();
        for _ in 0..80 {
            now = now.plus(Millis::seconds(3 * 3_600));
            if let State::Claimed { claim, memory } = &mut state {
                match claim.phase {
                    // The person says yes.
                    Phase::MergedDetected => {
                        claim.phase = Phase::Done;
                        memory.consent = Consent::Given;
                    }
                    // Somebody looks after a claim that was given up.
                    Phase::Failed(Failure { during, next: Next::Never, .. }) => claim.phase = during.phase(),
                    _ => {}
                }
            }
            for kind in [stop(Background::Quiet), Kind::Idle] {
                let event = event("s1", kind);
                let asked = ask(&state, &event, &facts(BoardUse::On), now, &effect_status);
                let Some(effect) = asked.need else {
                    state = asked.state;
                    effect_status = EffectStatus::Clear;
                    continue;
                };
                let happened = intent(effect.clone());
                match lucks.next().unwrap_or(Luck::Works) {
                    Luck::Works => {
                        let outcome = server.run(&effect);
                        let done = EffectStatus::Done(happened, outcome);
                        state = ask(&state, &event, &facts(BoardUse::On), now, &done).state;
                        effect_status = EffectStatus::Clear;
                    }
                    Luck::Fails => {
                        let done = EffectStatus::Done(happened, fault("HTTP 500"));
                        state = ask(&state, &event, &facts(BoardUse::On), now, &done).state;
                        effect_status = EffectStatus::Clear;
                    }
                    Luck::DiesAfter => {
                        server.run(&effect);
                        effect_status = EffectStatus::Abandoned(happened);
                    }
                    Luck::DiesBefore => effect_status = EffectStatus::Abandoned(happened),
                }
            }
            if matches!(state, State::Unclaimed(_)) {
                break;
            }
        }
        prop_assert!(matches!(state, State::Unclaimed(_)), "{:?}", state);
        prop_assert_eq!((server.pulls, server.closes), (1, 1));
        prop_assert_eq!(server.card.as_str(), status::DONE);
    }

    #[test]
    fn a_handler_is_a_function_of_what_it_is_given(index in 0_usize..90, kind in 0_usize..17, outcome in 0_usize..12) {
        let states = every_state();
        let kinds = every_kind();
        let state = &states[index % states.len()];
        let event = event("s1", kinds[kind % kinds.len()].clone());
        let outcomes = every_outcome();
        let done = EffectStatus::Done(intent(Effect::Survey), outcomes[outcome % outcomes.len()].clone());
        let one = ask(state, &event, &facts(BoardUse::On), NOW, &done);
        let other = ask(state, &event, &facts(BoardUse::On), NOW, &done);
        prop_assert_eq!(one.state, other.state);
        prop_assert_eq!(one.said, other.said);
    }
}
