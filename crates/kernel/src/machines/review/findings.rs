//! What reviewers found in a plan, over all rounds: a ledger. Each finding has an id, the agent's
//! answer to it, and what the next reviewer says of it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::cycle::CycleKey;
use super::plan::Memory;
use crate::hidden::quote;
use crate::ids::Digest;
use crate::reduce::Reducer;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Blocker,
    Major,
    Minor,
}

impl Severity {
    pub const ALL: [Self; 3] = [Self::Blocker, Self::Major, Self::Minor];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocker => "blocker",
            Self::Major => "major",
            Self::Minor => "minor",
        }
    }
}

/// A finding, as one reviewer reports it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reported {
    /// What the reviewer calls it.
    pub id: String,
    pub severity: Severity,
    /// The file, and the line in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub claim: String,
    pub evidence: String,
    /// The same for the same claim about the same file.
    pub print: Digest,
}

/// What a reviewer says of a finding of an earlier round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Fixed,
    NotFixed,
    /// It was never right, or does not matter any more.
    Withdrawn,
}

impl Status {
    pub const ALL: [Self; 3] = [Self::Fixed, Self::NotFixed, Self::Withdrawn];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::NotFixed => "not_fixed",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// A reviewer's whole answer, besides its verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Report {
    pub findings: Vec<Reported>,
    /// Of every finding that was open: its id and status.
    pub earlier: Vec<(String, Status)>,
}

impl Report {
    /// How many findings it leaves open.
    pub fn open(&self) -> usize {
        let left = |(_, status): &&(String, Status)| *status == Status::NotFixed;
        self.findings.len() + self.earlier.iter().filter(left).count()
    }
}

/// How the agent answers a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Fixed,
    Disputed,
}

impl How {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Disputed => "disputed",
        }
    }
}

/// An answer to a finding, by its id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reply {
    pub id: String,
    pub how: How,
    pub why: String,
}

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    pub id: String,
    /// The cycle in which it was found.
    pub key: CycleKey,
    pub severity: Severity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub claim: String,
    pub print: Digest,
    pub state: EntryState,
    /// The agent's answer since a reviewer last spoke of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<(How, String)>,
    /// How often reviewers found that it was not fixed,
    #[serde(default)]
    pub unfixed: u32,
    /// and how often the agent disputed it.
    #[serde(default)]
    pub disputed: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryState {
    /// Found in the last round.
    New,
    /// Found before, and not settled.
    Open,
    Fixed,
    Withdrawn,
    /// A person decided that it is none.
    Dismissed,
}

/// The same finding unfixed or disputed so often goes to the person.
const ENOUGH: u32 = 2;
/// How many findings one review adds; the others are in its file.
pub const MOST_REPORTED: usize = 50;
/// How many lines the ledger has; settled ones go first.
const MOST_ENTRIES: usize = 200;
/// How many open findings a hold lists.
const MOST_LISTED: usize = 12;

impl Entry {
    pub const fn is_open(&self) -> bool {
        matches!(self.state, EntryState::New | EntryState::Open)
    }

    /// Do the reviewers and the agent not agree?
    pub const fn is_contested(&self) -> bool {
        self.is_open() && (self.unfixed >= ENOUGH || self.disputed >= ENOUGH)
    }

    /// `F3 (major, src/a.rs:10)`.
    pub fn title(&self) -> String {
        match &self.place {
            Some(place) => format!(
                "{} ({}, {})",
                self.id,
                self.severity.as_str(),
                quote(place, 120)
            ),
            None => format!("{} ({})", self.id, self.severity.as_str()),
        }
    }

    /// The finding in one line.
    pub fn line(&self) -> String {
        let news = match (self.state, self.unfixed) {
            (EntryState::New, _) => ", new",
            (EntryState::Open, 0) => "",
            (EntryState::Open, _) => ", not fixed",
            (EntryState::Fixed, _) => ", fixed",
            (EntryState::Withdrawn, _) => ", withdrawn",
            (EntryState::Dismissed, _) => ", dismissed",
        };
        format!("{}{news}: {}", self.title(), quote(&self.claim, 300))
    }

    pub(super) fn reduce(&mut self, reducer: Reducer) {
        reducer.text(&mut self.claim);
        if let Some((_, why)) = &mut self.answer {
            reducer.text(why);
        }
    }

    fn reopen(&mut self) {
        self.state = EntryState::Open;
        self.unfixed = self.unfixed.saturating_add(1);
        self.answer = None;
    }
}

/// What a round changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    pub open: usize,
    pub new: usize,
}

impl Memory {
    /// What is open in a cycle.
    pub fn open_findings<'a>(&'a self, key: &'a CycleKey) -> impl Iterator<Item = &'a Entry> {
        let open = move |entry: &&Entry| entry.key == *key && entry.is_open();
        self.ledger.iter().filter(open)
    }

    /// The findings of a cycle that go to the person.
    pub fn contested<'a>(&'a self, key: &'a CycleKey) -> impl Iterator<Item = &'a Entry> {
        self.open_findings(key).filter(|entry| entry.is_contested())
    }

    /// Takes in what a reviewer reported.
    pub(super) fn report(&mut self, key: &CycleKey, report: Option<&Report>) -> Round {
        let nothing = Report::default();
        let report = report.unwrap_or(&nothing);
        let mut spoken_of: Vec<String> = Vec::new();
        for entry in self.ledger.iter_mut().filter(|entry| entry.key == *key) {
            if entry.state == EntryState::New {
                entry.state = EntryState::Open;
            }
            let said = report.earlier.iter().find(|(id, _)| *id == entry.id);
            let Some((_, status)) = said.filter(|_| entry.is_open()) else {
                continue;
            };
            match status {
                Status::Fixed => entry.state = EntryState::Fixed,
                Status::Withdrawn => entry.state = EntryState::Withdrawn,
                Status::NotFixed => {
                    entry.reopen();
                    spoken_of.push(entry.id.clone());
                }
            }
        }
        let mut new = 0;
        for found in report.findings.iter().take(MOST_REPORTED) {
            let same = |entry: &&mut Entry| entry.key == *key && entry.print == found.print;
            match self.ledger.iter_mut().find(same) {
                // Said twice in one answer, or decided by a person.
                Some(entry)
                    if spoken_of.contains(&entry.id) || entry.state == EntryState::Dismissed => {}
                Some(entry) => {
                    entry.reopen();
                    spoken_of.push(entry.id.clone());
                }
                None => {
                    let id = self.free_id(&found.id);
                    spoken_of.push(id.clone());
                    self.ledger.push(Entry {
                        id,
                        key: key.clone(),
                        severity: found.severity,
                        place: found.place.clone(),
                        claim: found.claim.clone(),
                        print: found.print.clone(),
                        state: EntryState::New,
                        answer: None,
                        unfixed: 0,
                        disputed: 0,
                    });
                    new += 1;
                }
            }
        }
        self.trim_ledger();
        let open = self.open_findings(key).count();
        Round { open, new }
    }

    /// The reviewer's own name for a finding, if it is plain and free; or else the next one.
    fn free_id(&self, wanted: &str) -> String {
        let plain = !wanted.is_empty()
            && wanted.len() <= 16
            && wanted.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let taken = |id: &str| self.ledger.iter().any(|entry| entry.id == id);
        if plain && !taken(wanted) {
            return wanted.into();
        }
        let mut number = self.ledger.len() + 1;
        while taken(&format!("F{number}")) {
            number += 1;
        }
        format!("F{number}")
    }

    fn trim_ledger(&mut self) {
        while self.ledger.len() > MOST_ENTRIES {
            let settled = self.ledger.iter().position(|entry| !entry.is_open());
            self.ledger.remove(settled.unwrap_or(0));
        }
    }

    /// The agent's answer to a finding. One that repeats the last one changes nothing.
    pub(super) fn answer(&mut self, reply: &Reply) -> bool {
        let open = |entry: &&mut Entry| entry.id == reply.id && entry.is_open();
        let Some(entry) = self.ledger.iter_mut().find(open) else {
            return false;
        };
        let again = entry.answer.as_ref().map(|(how, _)| *how) == Some(reply.how);
        if reply.how == How::Disputed && !again {
            entry.disputed = entry.disputed.saturating_add(1);
        }
        entry.answer = Some((reply.how, reply.why.clone()));
        true
    }

    /// The same from a file, which is read at every stop: only the first answer to a round counts.
    pub(super) fn answer_once(&mut self, reply: &Reply) {
        let unanswered = |entry: &Entry| entry.id == reply.id && entry.answer.is_none();
        if self.ledger.iter().any(unanswered) {
            self.answer(reply);
        }
    }

    /// A person decides about a finding: disputed, it is none; fixed, a reviewer looks again.
    pub(super) fn decide(&mut self, reply: &Reply) -> bool {
        let open = |entry: &&mut Entry| entry.id == reply.id && entry.is_open();
        let Some(entry) = self.ledger.iter_mut().find(open) else {
            return false;
        };
        match reply.how {
            How::Disputed => entry.state = EntryState::Dismissed,
            How::Fixed => {
                entry.unfixed = 0;
                entry.disputed = 0;
                entry.answer = Some((reply.how, reply.why.clone()));
            }
        }
        true
    }

    /// A fresh cycle: what is open stays open, and nobody has failed to agree yet.
    pub(super) fn forgive(&mut self, key: &CycleKey) {
        for entry in self.ledger.iter_mut().filter(|entry| entry.key == *key) {
            entry.unfixed = 0;
            entry.disputed = 0;
        }
    }

    pub(super) fn reduce_texts(&mut self, reducer: Reducer) {
        for entry in &mut self.ledger {
            entry.reduce(reducer);
        }
    }
}

/// What is open, one line each.
pub(super) fn listed<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let lines: Vec<String> = entries
        .map(|entry| format!("\n- {}", entry.line()))
        .collect();
    let shown = lines.len().min(MOST_LISTED);
    let mut text = lines[..shown].concat();
    if lines.len() > shown {
        text.push_str(&format!("\n- and {} more", lines.len() - shown));
    }
    text
}

/// The answers in a post-review file: lines such as `F3: fixed, the test covers it`.
pub fn replies(text: &str, ids: &[&str]) -> Vec<Reply> {
    let mut found: Vec<Reply> = Vec::new();
    for line in text.lines() {
        let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let end = bare
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(bare.len());
        let (id, rest) = bare.split_at(end);
        if !ids.contains(&id) || found.iter().any(|reply| reply.id == id) {
            continue;
        }
        let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let how = [How::Fixed, How::Disputed].into_iter().find(|how| {
            let word = rest.get(..how.as_str().len());
            let after = rest.as_bytes().get(how.as_str().len());
            word.is_some_and(|word| word.eq_ignore_ascii_case(how.as_str()))
                && after.is_none_or(|byte| !byte.is_ascii_alphanumeric())
        });
        if let Some(how) = how {
            let why = rest[how.as_str().len()..].trim_start_matches(|c: char| !c.is_alphanumeric());
            found.push(Reply {
                id: id.into(),
                how,
                why: quote(why, 300),
            });
        }
    }
    found
}
