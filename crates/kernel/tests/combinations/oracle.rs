//! What must come of a combination, by the rules of the design alone:
//!
//! - the cheap machines are asked first, and if any blocks, no effect is started;
//! - the agent learns at once everything that is missing, in the order gate, loop, review,
//!   claim; `tasks` does not decide at a stop;
//! - otherwise effects run one after the other, a review before a pull request, and a later
//!   one waits until the earlier machine lets the agent go;
//! - a machine that fails never holds, its state stays, and the person is told;
//! - effects run only in a project that a person trusts; until then the stop passes, and the
//!   person is told what waits;
//! - what a machine does when it is finished happens only if the agent may stop; what it
//!   accepted is kept either way.

use mainspring_kernel::Name;
use mainspring_kernel::deliberate::Trust;

use crate::people::{Combination, FIVE, Price, Stand};

#[derive(Debug, Default)]
pub(crate) struct Expected {
    pub(crate) holds: Vec<Name>,
    pub(crate) runs: Vec<Name>,
    /// The person is told that these failed or wait.
    pub(crate) loud: Vec<Name>,
    /// The state of these does not change.
    pub(crate) unmoved: Vec<Name>,
    /// These did what they do when they are finished.
    pub(crate) finished: Vec<Name>,
    /// These keep what the agent said, and are not finished yet.
    pub(crate) accepted: Vec<Name>,
}

pub(crate) fn expected(combination: &Combination) -> Expected {
    let at_once = |name: &Name| {
        combination.stand(*name) == Stand::Blocking && combination.price(*name) == Price::Cheap
    };
    let mut holds: Vec<Name> = [Name::Gate, Name::Loop, Name::Review, Name::Claim]
        .into_iter()
        .filter(at_once)
        .collect();

    let due = [Name::Review, Name::Claim].into_iter().filter(|name| {
        combination.stand(*name) != Stand::Absent && combination.price(*name) == Price::Dear
    });
    let mut runs = Vec::new();
    let mut waiting = Vec::new();
    for name in due {
        if !holds.is_empty() {
            continue;
        }
        match combination.trust {
            Trust::Untrusted => waiting.push(name),
            Trust::Trusted => {
                runs.push(name);
                if combination.stand(name) == Stand::Blocking {
                    holds.push(name);
                }
            }
        }
    }

    let mut expected = Expected::default();
    for name in FIVE {
        let cheap = combination.price(name) == Price::Cheap;
        let ran = runs.contains(&name);
        let failed = combination.stand(name) == Stand::Failing && (cheap || ran);
        if failed || waiting.contains(&name) {
            expected.loud.push(name);
        }
        if !moves(combination, name, ran) {
            expected.unmoved.push(name);
        }
        let accepts = match name {
            Name::Gate | Name::Loop => combination.stand(name) == Stand::Passing,
            Name::Review => combination.stand(name) == Stand::Passing && ran,
            Name::Check | Name::Claim | Name::Tasks | Name::Pulse => false,
        };
        if accepts && holds.is_empty() {
            expected.finished.push(name);
        } else if accepts {
            expected.accepted.push(name);
        }
    }
    Expected {
        holds,
        runs,
        ..expected
    }
}

/// Does the machine's state change at all?
fn moves(combination: &Combination, name: Name, ran: bool) -> bool {
    let speaks_of_itself = matches!(name, Name::Gate | Name::Loop);
    let says_nothing = matches!(name, Name::Tasks | Name::Pulse);
    match (combination.stand(name), combination.price(name)) {
        _ if says_nothing => false,
        (Stand::Absent, _) | (Stand::Failing, Price::Cheap) => false,
        // The result of an effect is kept whatever the others say. A failure is kept too: it is
        // counted.
        (_, Price::Dear) => ran,
        (Stand::Blocking, Price::Cheap) => true,
        // A token or a signal was given. For the others nothing is due, and nothing is wrong.
        (Stand::Passing, Price::Cheap) => speaks_of_itself,
    }
}
