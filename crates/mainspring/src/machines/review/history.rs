//! The history of reviewers: one line each, with model, duration, verdict and cost. It is for
//! people; no decision depends on it.

use std::io::Write;
use std::path::PathBuf;

use mainspring_kernel::Millis;
use mainspring_kernel::effect::EffectStatus;
use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::machines::review::findings::Report;
use mainspring_kernel::machines::review::{
    Failure, Finding, Kind, Outcome, Request, Verdict, messages,
};
use mainspring_platform::file;
use mainspring_store::{Trouble, atomic};
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::store::ProjectStore;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Past {
    pub(crate) at: Millis,
    pub(crate) plan: String,
    pub(crate) review: Kind,
    pub(crate) file: String,
    pub(crate) iteration: u32,
    pub(crate) model: String,
    pub(crate) result: Finding,
    pub(crate) took: Millis,
    /// In millionths of a dollar.
    pub(crate) cost: u64,
    /// How many findings are open after it, if the reviewer gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) findings: Option<usize>,
}

fn path(store: &ProjectStore) -> PathBuf {
    store.dir().join("reviews.jsonl")
}

/// Adds a line. If the disk is full, the line is lost and nothing else.
pub(super) fn add(store: &ProjectStore, at: Millis, asked: &Request, outcome: &Outcome) {
    let past = Past {
        at,
        plan: asked.plan.clone(),
        review: asked.review,
        file: asked.file(),
        iteration: asked.iteration,
        model: asked.model.clone(),
        result: outcome.result.clone(),
        took: outcome.took,
        cost: outcome.cost,
        findings: outcome.report.as_ref().map(Report::open),
    };
    let Ok(line) = mainspring_json::text(&past) else {
        return;
    };
    let path = path(store);
    let size = std::fs::symlink_metadata(&path).map_or(0, |meta| meta.len());
    if size > limits::STATE_FILE / 2 {
        let _ = std::fs::rename(&path, path.with_extension("old.jsonl"));
    }
    let file = file::options().append(true).create(true).open(&path);
    let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
}

/// A plan's reviews, oldest first. Lines that cannot be read are skipped.
pub(crate) fn of(store: &ProjectStore, plan: &str) -> Result<Vec<Past>, Trouble> {
    let bytes = atomic::read(&path(store), limits::STATE_FILE)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    Ok(text
        .lines()
        .filter_map(|line| serde_json::from_str::<Past>(line).ok())
        .filter(|past| past.plan == plan)
        .collect())
}

/// What a review of unknown cost may have cost: as much for its time as the others of the plan, or
/// else a common price.
pub(super) fn estimate(store: &ProjectStore, asked: &Request, took: Millis) -> u64 {
    let known = of(store, &asked.plan).unwrap_or_default();
    let known = known.iter().filter(|past| past.cost > 0 && past.took.0 > 0);
    let (cost, time) = known.fold((0_u64, 0_u64), |(cost, time), past| {
        (
            cost.saturating_add(past.cost),
            time.saturating_add(past.took.0),
        )
    });
    if time == 0 {
        return took.0.saturating_mul(COMMON_PRICE) / 60_000;
    }
    let estimate = u128::from(cost) * u128::from(took.0) / u128::from(time);
    u64::try_from(estimate).unwrap_or(u64::MAX)
}

/// In millionths of a dollar, for a minute.
const COMMON_PRICE: u64 = 100_000;

/// The result in a few words.
pub(crate) fn verdict(result: &Finding) -> &'static str {
    match result {
        Finding::Reviewed(Verdict::Pass) => "PASS",
        Finding::Reviewed(Verdict::Fail) => "FAIL",
        Finding::Reviewed(Verdict::Unsaid) => "no verdict",
        Finding::NotDone(failure) => match failure {
            Failure::NoProgram(_) => "no reviewer",
            Failure::Exit { .. } => "ended badly",
            Failure::TimedOut { .. } => "timed out",
            Failure::NoFile => "wrote nothing",
            Failure::Fault(_) => "not started",
            Failure::Cancelled => "cancelled",
        },
    }
}

/// The result of the review that this turn ran, in one line.
pub(crate) fn came_back(part: &MachineInput) -> Option<String> {
    let MachineInput::Review(input) = part else {
        return None;
    };
    let EffectStatus::Done(intent, outcome) = &input.effect_status else {
        return None;
    };
    let asked = &intent.effect;
    Some(format!(
        "{} by {}: {} in {}, {}",
        asked.file(),
        asked.model,
        verdict(&outcome.result),
        seconds(outcome.took),
        messages::dollars(outcome.cost)
    ))
}

/// `61.2 s`.
pub(crate) fn seconds(span: Millis) -> String {
    format!("{}.{} s", span.0 / 1_000, span.0 % 1_000 / 100)
}
