//! The receipt: one line that tells the person, when the agent stops, how long and how often it was
//! kept going.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::decision::HoldTexts;
use crate::ids::Millis;
use crate::name::Name;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Receipt {
    /// When the person wrote the prompt, or else when the first hold was.
    pub since: Millis,
    /// The prompt's time was looked up, whether or not it was found.
    #[serde(default)]
    pub sought: bool,
    pub holds: u32,
    /// Which machine asked for how many of them.
    pub by: BTreeMap<Name, u32>,
    /// How many reviews came back,
    pub reviews: u32,
    /// how many of those found nothing,
    #[serde(default)]
    pub clean: u32,
    /// and how many did not happen.
    #[serde(default)]
    pub undone: u32,
    /// What all of them cost, in millionths of a dollar.
    #[serde(default)]
    pub cost: u64,
    /// The pull request that was opened or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<u64>,
}

/// What came of a review, as far as the receipt shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reviewed {
    Clean,
    WithFindings,
    NotDone,
}

impl Receipt {
    pub(crate) fn begin(now: Millis) -> Self {
        Self {
            since: now,
            sought: false,
            holds: 0,
            by: BTreeMap::new(),
            reviews: 0,
            clean: 0,
            undone: 0,
            cost: 0,
            pull: None,
        }
    }

    /// Counts from the prompt, if its time was found. A prompt after the first hold is another one.
    pub(crate) fn count_from(&mut self, prompted: Option<Millis>) {
        self.sought = true;
        self.since = prompted.map_or(self.since, |prompted| prompted.min(self.since));
    }

    pub(crate) fn hold(&mut self, texts: &HoldTexts) {
        self.holds = self.holds.saturating_add(1);
        for one in texts.iter() {
            let count = self.by.entry(one.by).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Counts a review that came back or did not happen.
    pub(crate) fn review(&mut self, reviewed: Reviewed) {
        let count = match reviewed {
            Reviewed::Clean => {
                self.clean = self.clean.saturating_add(1);
                &mut self.reviews
            }
            Reviewed::WithFindings => &mut self.reviews,
            Reviewed::NotDone => &mut self.undone,
        };
        *count = count.saturating_add(1);
    }

    /// Adds a cost in millionths of a dollar.
    pub(crate) fn spend(&mut self, cost: u64) {
        self.cost = self.cost.saturating_add(cost);
    }

    /// Records the pull request that was opened or found.
    pub(crate) fn open_pull(&mut self, number: u64) {
        self.pull = Some(number);
    }

    pub(crate) fn line(&self, now: Millis) -> String {
        let by = self
            .by
            .iter()
            .map(|(name, count)| format!("{name} {count}"));
        let by: Vec<String> = by.collect();
        let mut parts = Vec::from([format!(
            "let go after {} ({})",
            times(self.holds, "held stop"),
            by.join(", ")
        )]);
        if self.reviews > 0 {
            let reviews = times(self.reviews, "review");
            parts.push(format!("{reviews} of which {} clean", self.clean));
        }
        if self.undone > 0 {
            parts.push(format!("{} not done", times(self.undone, "review")));
        }
        if self.cost > 0 {
            parts.push(dollars(self.cost));
        }
        if let Some(pull) = self.pull {
            parts.push(format!("PR #{pull}"));
        }
        parts.push(now.since(self.since).in_words());
        parts.join(", ")
    }
}

/// Millionths of a dollar, as a person reads them.
pub fn dollars(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    if micros > 0 && micros < 10_000 {
        return String::from("<$0.01");
    }
    format!("${}.{:02}", cents / 100, cents % 100)
}

pub fn times(count: u32, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_names_holds_reviews_cost_pull_request_and_time() {
        let mut receipt = Receipt::begin(Millis(0));
        let gate = HoldTexts::one(Name::Gate, "token".into());
        receipt.hold(&gate);
        assert_eq!(
            receipt.line(Millis::seconds(9)),
            "let go after 1 held stop (gate 1), 9s"
        );
        receipt.hold(&gate.join(HoldTexts::one(Name::Loop, "go on".into())));
        receipt.review(Reviewed::WithFindings);
        receipt.spend(310_000);
        receipt.review(Reviewed::Clean);
        receipt.spend(200_000);
        assert_eq!(
            receipt.line(Millis::seconds(252)),
            "let go after 2 held stops (gate 2, loop 1), 2 reviews of which 1 clean, $0.51, 4m 12s"
        );
        receipt.review(Reviewed::NotDone);
        receipt.open_pull(44);
        assert_eq!(
            receipt.line(Millis::seconds(252)),
            "let go after 2 held stops (gate 2, loop 1), 2 reviews of which 1 clean, 1 review not \
             done, $0.51, PR #44, 4m 12s"
        );
    }

    #[test]
    fn a_receipt_counts_from_the_prompt_and_never_from_a_later_one() {
        for (prompted, since) in [(None, 9), (Some(2), 2), (Some(12), 9)] {
            let mut receipt = Receipt::begin(Millis(9));
            receipt.count_from(prompted.map(Millis));
            assert_eq!((receipt.since, receipt.sought), (Millis(since), true));
        }
    }

    /// A ledger from a version that counted less has zero for the other counts.
    #[test]
    fn an_older_tally_can_be_read() {
        let old = r#"{"since":5,"holds":1,"by":{"gate":1},"reviews":2}"#;
        let receipt: Receipt = serde_json::from_str(old).expect("it can be read");
        assert_eq!((receipt.reviews, receipt.clean, receipt.pull), (2, 0, None));
    }
}
