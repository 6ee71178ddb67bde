//! The one join: neither order nor repetition changes what the agent reads.

use mainspring_kernel::{Name, Reasons};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = Name> {
    prop::sample::select(&Name::ALL[..])
}

fn reasons() -> impl Strategy<Value = Reasons> {
    let said = prop::collection::vec((name(), "[a-c]{0,2}"), 0..5);
    said.prop_map(|said| {
        said.into_iter()
            .fold(Reasons::default(), |all, (by, text)| {
                all.join(Reasons::one(by, text))
            })
    })
}

proptest! {
    #[test]
    fn it_is_associative_commutative_and_idempotent(a in reasons(), b in reasons(), c in reasons()) {
        let (ab, bc) = (a.clone().join(b.clone()), b.clone().join(c.clone()));
        prop_assert_eq!(ab.clone().join(c), a.clone().join(bc));
        prop_assert_eq!(ab.clone(), b.clone().join(a.clone()));
        prop_assert_eq!(ab.clone().join(a.clone()), ab.clone());
        prop_assert_eq!(Reasons::default().join(a.clone()), a.clone());
        prop_assert_eq!(ab.is_empty(), a.is_empty() && b.is_empty(), "nothing said is lost");
    }

    #[test]
    fn reasons_are_read_in_the_machines_order(said in reasons()) {
        let order: Vec<Name> = said.iter().map(|reason| reason.by).collect();
        prop_assert!(order.is_sorted());
    }
}
