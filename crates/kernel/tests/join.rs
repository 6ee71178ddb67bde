//! The join: neither order nor repetition changes what the agent reads, and nothing is lost.

use mainspring_kernel::event::{Author, Background, Chain, EndReason};
use mainspring_kernel::{Decision, HoldTexts, Kind, Name};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = Name> {
    prop::sample::select(Name::ALL)
}

fn reasons() -> impl Strategy<Value = HoldTexts> {
    let said = prop::collection::vec((name(), "[a-c]{0,2}"), 0..5);
    said.prop_map(|said| {
        said.into_iter()
            .fold(HoldTexts::default(), |all, (by, text)| {
                all.join(HoldTexts::one(by, text))
            })
    })
}

/// A kind of event for each kind of decision.
fn kinds() -> [Kind; 7] {
    [
        Kind::Stop {
            chain: Chain::First,
            background: Background::Quiet,
        },
        Kind::Prompt {
            author: Author::Person,
        },
        Kind::AfterTool {
            tool: "Skill".into(),
            skill: None,
        },
        Kind::BeforeTool {
            tool: "Read".into(),
        },
        Kind::Idle,
        Kind::Watch,
        Kind::SessionEnd {
            reason: EndReason::Other,
        },
    ]
}

/// What a machine may say at such an event.
fn said(kind: &Kind, one: HoldTexts, other: HoldTexts) -> Decision {
    match Decision::nothing(kind) {
        Decision::Stop { .. } => Decision::Stop { hold: one },
        Decision::Context { .. } => Decision::Context { tell: one },
        Decision::AfterTool { .. } => Decision::AfterTool {
            tell: one,
            object: other,
        },
        Decision::BeforeTool { .. } => Decision::BeforeTool { deny: one },
        Decision::Idle { .. } => Decision::Idle { notify: one },
        Decision::Watch { .. } => Decision::Watch { wake: one },
        Decision::Silent => Decision::Silent,
    }
}

/// Three answers to one event, and the event.
fn answers() -> impl Strategy<Value = (Kind, [Decision; 3])> {
    let pair = || (reasons(), reasons());
    let kind = prop::sample::select(kinds().to_vec());
    (kind, pair(), pair(), pair()).prop_map(|(kind, a, b, c)| {
        let all = [a, b, c].map(|(one, other)| said(&kind, one, other));
        (kind, all)
    })
}

proptest! {
    #[test]
    fn it_is_associative_commutative_and_idempotent((kind, [a, b, c]) in answers()) {
        let (ab, bc) = (a.clone().join(b.clone()), b.clone().join(c.clone()));
        prop_assert_eq!(ab.clone().join(c), a.clone().join(bc));
        prop_assert_eq!(ab.clone(), b.clone().join(a.clone()));
        prop_assert_eq!(ab.clone().join(a.clone()), ab.clone());
        prop_assert_eq!(Decision::nothing(&kind).join(a.clone()), a.clone());
        prop_assert_eq!(
            ab.is_nothing(),
            a.is_nothing() && b.is_nothing(),
            "whoever asks for something is not outvoted"
        );
    }

    #[test]
    fn each_reason_is_kept_once_in_the_machines_order(a in reasons(), b in reasons()) {
        let both = a.clone().join(b.clone());
        let order: Vec<Name> = both.iter().map(|reason| reason.by).collect();
        prop_assert!(order.is_sorted());
        for reason in a.iter().chain(b.iter()) {
            prop_assert_eq!(both.iter().filter(|kept| *kept == reason).count(), 1);
        }
        for kept in both.iter() {
            prop_assert!(a.iter().chain(b.iter()).any(|reason| reason == kept), "none is made up");
        }
        let read: Vec<String> = both.iter().map(|reason| reason.text.clone()).collect();
        prop_assert_eq!(both.text(), read.join("\n\n"), "the agent reads all of it");
    }
}
