//! Why a review that is due does not start, where only a person can change that. A stop, `plan
//! route`, `plan status` and the agent's next prompt all say it with the same words.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Settings;
use super::cycle::CycleKey;
use super::messages::{command, dollars};
use super::phase::Review;
use super::plan::{Parked, Plan};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standstill {
    /// The cycle had all its reviews.
    Limit {
        done: u32,
        most: u32,
    },
    /// The plan's reviews have cost this much, in millionths of a dollar.
    Cost {
        spent: u64,
        most: u64,
    },
    /// The reviewer failed so often in a row.
    Parked {
        failures: u32,
    },
    /// The reviewers and the agent do not agree about these findings: each with its id and a line.
    Contested(Vec<(String, String)>),
    Untrusted,
    /// A person stopped or paused the machine.
    Paused,
}

impl Standstill {
    /// Had the cycle all its reviews?
    pub(super) fn limit(plan: &Plan, key: &CycleKey) -> Option<Self> {
        let most = plan.fields.max_reviews;
        let done = match plan.memory.in_cycle(key) {
            Some(cycle) => cycle.done,
            None if plan.memory.is_exhausted(key) => most,
            None => 0,
        };
        (most > 0 && done >= most).then_some(Self::Limit { done, most })
    }

    pub(super) fn cost(plan: &Plan, settings: &Settings) -> Option<Self> {
        let most = settings.max_cost?;
        let spent = plan.memory.spent;
        (spent >= most).then_some(Self::Cost { spent, most })
    }

    pub(super) fn contested(plan: &Plan, key: &CycleKey) -> Option<Self> {
        let contested = plan.memory.contested(key);
        let lines: Vec<_> = contested
            .map(|entry| (entry.id.clone(), entry.line()))
            .collect();
        (!lines.is_empty()).then_some(Self::Contested(lines))
    }

    pub(super) fn parked(plan: &Plan, key: &CycleKey) -> Option<Self> {
        let trouble = plan.memory.trouble.as_ref()?;
        let parked = trouble.key == *key && trouble.parked == Parked::Yes;
        let failures = trouble.failures;
        parked.then_some(Self::Parked { failures })
    }

    /// What the next stop would find, as far as plan and settings tell.
    pub fn of(plan: &Plan, settings: &Settings) -> Option<(Review, Self)> {
        let review = Self::may_concern(plan)?;
        let key = CycleKey::of(review, &plan.fields);
        let still = Self::contested(plan, &key)
            .or_else(|| Self::limit(plan, &key))
            .or_else(|| Self::cost(plan, settings))
            .or_else(|| Self::parked(plan, &key));
        Some((review, still?))
    }

    /// The review that could be kept from starting.
    pub fn may_concern(plan: &Plan) -> Option<Review> {
        plan.fields
            .awaited()
            .filter(|_| plan.fields.max_reviews > 0)
    }

    /// The arrow of the table.
    pub(super) const fn rule(&self) -> &'static str {
        match self {
            Self::Limit { .. } => "limit",
            Self::Cost { .. } => "costs",
            Self::Parked { .. } => "parked",
            Self::Contested(_) => "contested",
            // These are not decided here: the machine is not asked at such a stop.
            Self::Untrusted | Self::Paused => "valid",
        }
    }

    /// What is the matter, and what the person can type.
    pub fn sentence(&self, plan: &str, review: Review) -> String {
        let label = review.label();
        let accept = command(plan, "accept");
        let restart = command(plan, "review restart");
        match self {
            Self::Limit { done, most } => format!(
                "plan '{plan}': {done} of {most} {label}s are done without two clean ones in a \
                 row. Decide: {accept} goes on as it is, {restart} begins a fresh cycle, {} allows \
                 more",
                command(plan, &format!("set max_reviews {}", most.saturating_add(4)))
            ),
            Self::Cost { spent, most } => format!(
                "the reviews of plan '{plan}' have cost {}, and max_cost_usd is {}: the cycle \
                 waits. Decide: {accept} goes on as it is, a higher `[review] max_cost_usd` \
                 allows more",
                dollars(*spent),
                dollars(*most)
            ),
            Self::Parked { failures: 1 } => format!(
                "the {label} of plan '{plan}' is parked after a failure: {} tries again",
                command(plan, "review --now")
            ),
            Self::Parked { failures } => format!(
                "the {label} of plan '{plan}' is parked after {failures} failures in a row: {} \
                 tries again",
                command(plan, "review --now")
            ),
            Self::Contested(findings) => {
                let lines: Vec<&str> = findings.iter().map(|(_, line)| line.as_str()).collect();
                let id = findings.first().map_or("", |(id, _)| id.as_str());
                format!(
                    "plan '{plan}': the reviewers and the agent do not agree about {}. Decide: {} \
                     drops it, {} has it looked at again, {accept} goes on as it is",
                    lines.join("; "),
                    command(plan, &format!("answer {id} disputed \"not needed\"")),
                    command(plan, &format!("answer {id} fixed \"look again\""))
                )
            }
            Self::Untrusted => format!(
                "the {label} of plan '{plan}' does not start, because nobody trusted this project: \
                 `mainspring trust` allows it"
            ),
            Self::Paused => format!(
                "the {label} of plan '{plan}' does not start, because a person stopped or paused \
                 it: `mainspring resume` ends that"
            ),
        }
    }
}
