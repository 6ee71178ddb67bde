//! What keeping the agent going has taken since the person last heard of it: told in one
//! line when it is let go.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::decision::Reasons;
use crate::ids::Millis;
use crate::machines::Name;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tally {
    /// The first hold.
    pub since: Millis,
    pub holds: u32,
    /// Which machine asked for how many of them.
    pub by: BTreeMap<Name, u32>,
    /// Reviews that came back.
    pub reviews: u32,
}

impl Tally {
    pub(crate) fn begin(now: Millis) -> Self {
        Self {
            since: now,
            holds: 0,
            by: BTreeMap::new(),
            reviews: 0,
        }
    }

    pub(crate) fn hold(&mut self, reasons: &Reasons) {
        self.holds = self.holds.saturating_add(1);
        for reason in reasons.iter() {
            let count = self.by.entry(reason.by).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// The receipt.
    pub(crate) fn receipt(&self, now: Millis) -> String {
        let by: Vec<String> = self
            .by
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let reviews = match self.reviews {
            0 => String::new(),
            count => format!(", {}", times(count, "review")),
        };
        format!(
            "let go after {} ({}){reviews}, {}",
            times(self.holds, "held stop"),
            by.join(", "),
            span(now.since(self.since))
        )
    }
}

fn times(count: u32, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// `42s`, `4m 12s`, `2h 5m`.
pub(crate) fn span(span: Millis) -> String {
    let seconds = span.0 / 1_000;
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m {}s", seconds % 60),
        (hours, minutes) => format!("{hours}h {minutes}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_names_holds_reviews_and_time() {
        let mut tally = Tally::begin(Millis(0));
        let gate = Reasons::one(Name::Gate, "token".into());
        tally.hold(&gate);
        assert_eq!(
            tally.receipt(Millis::seconds(9)),
            "let go after 1 held stop (gate 1), 9s"
        );
        tally.hold(&gate.join(Reasons::one(Name::Loop, "go on".into())));
        tally.reviews = 2;
        assert_eq!(
            tally.receipt(Millis::seconds(252)),
            "let go after 2 held stops (gate 2, loop 1), 2 reviews, 4m 12s"
        );
    }

    #[test]
    fn a_span_reads_as_people_say_it() {
        for (seconds, text) in [(0, "0s"), (59, "59s"), (60, "1m 0s"), (7_500, "2h 5m")] {
            assert_eq!(span(Millis::seconds(seconds)), text);
        }
    }
}
