//! The receipt of the checks: what passed, over which tree. A pull request carries it, and another
//! machine can take the same keys and compare.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::check::results::EndedAs;
use mainspring_kernel::machines::check::{Pass, Ran, Verdict, messages};
use serde::{Deserialize, Serialize};

use super::key::{Parts, TakenKey};
use crate::timestamp::timestamp;

/// The first and the last line of the receipt in the text of a pull request.
const BEGIN: &str = "<!-- mainspring-checks";
const END: &str = "-->";
const FORMAT: u32 = 1;
/// The result of a check that did not run.
const NOT_RUN: &str = "not run";
/// No receipt of ours is longer.
const MOST: usize = 256 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckReceipt {
    v: u32,
    /// The commit that was checked out.
    #[serde(default)]
    pub(crate) commit: Option<String>,
    /// The version of Mainspring, and the system that the checks ran on.
    pub(crate) mainspring: String,
    pub(crate) system: String,
    pub(crate) checks: Vec<CheckEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckEntry {
    pub(crate) name: String,
    /// How it ended, or [`NOT_RUN`]. A receipt may come from another version.
    pub(crate) result: String,
    pub(crate) key: String,
    #[serde(flatten)]
    pub(crate) parts: Parts,
    /// When it ended, in milliseconds since 1970, and how long it took.
    pub(crate) at: u64,
    pub(crate) took: u64,
}

impl CheckEntry {
    pub(crate) fn passed(&self) -> bool {
        self.result == EndedAs::Pass.as_str()
    }

    /// A check whose key was taken, and that passed under it before, or not.
    pub(super) fn looked(name: &str, taken: &TakenKey, pass: Option<&Pass>) -> Self {
        Self {
            name: name.to_owned(),
            result: pass.map_or(NOT_RUN, |_| EndedAs::Pass.as_str()).into(),
            key: taken.key.0.clone(),
            parts: taken.parts.clone(),
            at: pass.map_or(0, |pass| pass.at.0),
            took: pass.map_or(0, |pass| pass.took.0),
        }
    }
}

impl CheckReceipt {
    pub(crate) fn of(checks: Vec<CheckEntry>) -> Self {
        Self {
            v: FORMAT,
            commit: None,
            mainspring: env!("CARGO_PKG_VERSION").into(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            checks,
        }
    }

    /// What came of a run.
    pub(super) fn ran(&mut self, ran: &Ran, taken: Option<&TakenKey>, now: Millis) {
        let entry = self.checks.iter_mut().find(|entry| entry.name == ran.name);
        let Some(entry) = entry else { return };
        let ended = match &ran.verdict {
            Verdict::Pass => Some(EndedAs::Pass),
            Verdict::Fail(_) => Some(EndedAs::Fail),
            Verdict::Flaky => Some(EndedAs::Flaky),
            Verdict::TimedOut(_) | Verdict::Unfinished(_) | Verdict::CouldNotRun(_) => {
                Some(EndedAs::CouldNotRun)
            }
            Verdict::NotStarted => None,
        };
        entry.result = ended.map_or(NOT_RUN, EndedAs::as_str).into();
        entry.at = now.0;
        entry.took = ran.took.0;
        entry.key.clone_from(&ran.key.0);
        if let Some(taken) = taken {
            entry.parts = taken.parts.clone();
        }
    }

    /// As it stands in a pull request: a table for people, and the receipt itself for programs.
    pub(crate) fn markdown(&self) -> String {
        if self.checks.is_empty() {
            return String::new();
        }
        let mut out = String::from(
            "### Checks\n\n| check | result | tree | took | ended |\n|---|---|---|---|---|\n",
        );
        for entry in &self.checks {
            let took = Millis(entry.took).in_words();
            let at = timestamp(Millis(entry.at));
            let (took, at) = match entry.at {
                0 => ("", ""),
                _ => (took.as_str(), at.as_str()),
            };
            let tree = messages::short(&mainspring_kernel::Digest(entry.parts.inputs.clone()));
            let CheckEntry { name, result, .. } = entry;
            out += &format!("| {name} | {result} | `{tree}` | {took} | {at} |\n");
        }
        // A comment ends at the first bracket, so none may be in it.
        let text = mainspring_json::text(self).unwrap_or_default();
        let text = text.replace('<', "\\u003c").replace('>', "\\u003e");
        let commit = self.commit.as_deref().unwrap_or("HEAD");
        out += &format!(
            "\nRun by Mainspring {} on {}. `mainspring check verify --commit {commit}` compares \
             this with the tree.\n\n{BEGIN}\n{text}\n{END}\n",
            self.mainspring, self.system
        );
        out
    }

    /// Reads a receipt: the text of a pull request, or the receipt's own JSON.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if text.len() > MOST {
            return Err(format!("it is longer than {} KiB", MOST >> 10));
        }
        let json = match text.split_once(BEGIN) {
            Some((_, rest)) => rest.split_once(END).map_or(rest, |(json, _)| json),
            None => text,
        };
        let receipt = serde_json::from_str::<Self>(json.trim())
            .map_err(|error| format!("there is no receipt of checks in it ({error})"))?;
        if receipt.v > FORMAT {
            return Err(format!(
                "its format {} is newer than this version",
                receipt.v
            ));
        }
        Ok(receipt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt() -> CheckReceipt {
        let part = |text: &str| text.to_owned();
        CheckReceipt::of(vec![CheckEntry {
            name: "tests".into(),
            result: "pass".into(),
            key: "k".into(),
            parts: Parts {
                definition: part("d --> <x>"),
                pins: part("p"),
                toolchain: part("t"),
                environment: part("e"),
                inputs: part("3f2a91c0aa"),
            },
            at: 1_700_000_000_000,
            took: 41_000,
        }])
    }

    #[test]
    fn a_receipt_is_found_again_in_the_text_of_a_pull_request() {
        let text = format!("Fix it\n\n{}\nCloses #4\n", receipt().markdown());
        assert!(
            text.contains("| tests | pass | `3f2a91c0…` | 41s |"),
            "{text}"
        );
        assert_eq!(CheckReceipt::read(&text).unwrap(), receipt());
        assert_eq!(text.matches("-->").count(), 1, "{text}");
    }

    #[test]
    fn a_text_without_a_receipt_is_an_error() {
        for text in [
            "",
            "no receipt",
            "<!-- mainspring-checks\n{}\n-->",
            "{\"v\":2}",
        ] {
            assert!(CheckReceipt::read(text).is_err(), "{text}");
        }
    }
}
