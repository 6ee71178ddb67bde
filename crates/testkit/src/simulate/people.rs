//! What a person does: orders, edits by hand, claims, merges.

use mainspring_kernel::machines::Name;
use mainspring_kernel::machines::claim::State as Claim;
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, status};
use mainspring_kernel::machines::claim::memory::{ClaimMemory, Consent};
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::review::{
    Fields, Kind, Memory, Phase as Step, Plan, State as Review,
};
use mainspring_kernel::orders::{Scope, Until};
use mainspring_kernel::{Millis, Orders};
use mainspring_store::Found;

use super::life::Simulation;
use super::outside::Server;
use super::process::json;
use super::project::{edit, read};

pub(super) fn does_something(simulation: &mut Simulation, at: usize) -> Result<(), String> {
    match simulation.random.below(8) {
        0 => order(simulation),
        1 | 2 => simulation.start_loop(at),
        3 | 4 => plan(simulation, at),
        5 | 6 => claim(simulation, at),
        _ => {
            simulation.note("the person merges");
            simulation.server.merge();
            Ok(())
        }
    }
}

/// Suspends everything, or resumes it.
fn order(simulation: &mut Simulation) -> Result<(), String> {
    let path = simulation.project.orders();
    let orders = Orders::default();
    let suspended = !simulation.oracle.suspended && simulation.random.chance(50);
    let after = if suspended {
        simulation.note("mainspring stop");
        orders.stopped(Scope::Everything, Until::Resumed)
    } else {
        simulation.note("mainspring resume");
        orders.resumed(Scope::Everything, Millis(0))
    };
    let text = json(&after)?;
    simulation.verb(path, "stop", Some(text))?;
    simulation.oracle.suspended = suspended;
    Ok(())
}

/// Starts a plan, or changes it by hand, without a lock.
fn plan(simulation: &mut Simulation, at: usize) -> Result<(), String> {
    let path = simulation.file(Name::Review, at);
    let found: Found<Review> = read(path.clone())?;
    let mut plan = match found.value {
        Some(Review::Plan(plan)) => plan,
        Some(Review::Bare(_) | Review::Nothing) | None => Box::new(Plan {
            id: "p".into(),
            fields: Fields {
                max_reviews: 4,
                ..Fields::default()
            },
            memory: Memory::default(),
            passing: None,
        }),
    };
    let fields = &mut plan.fields;
    fields.next_phase = if fields.next_phase.is_some() && simulation.random.chance(40) {
        None
    } else {
        Some(Step::Review(Kind::Plan))
    };
    fields.phase_iteration = Some(0);
    fields.consecutive_clean = 0;
    plan.memory.owner = Some(simulation.sessions[at].id.clone());
    simulation.oracle.cycle += 1;
    simulation.folder.plan_changed();
    simulation.answered = false;
    simulation.note("the plan is set by hand");
    edit(&path, &json(&Review::Plan(plan))?)
}

/// Claims an issue by hand, hands over work, or allows an issue to be closed, without a lock.
fn claim(simulation: &mut Simulation, at: usize) -> Result<(), String> {
    let path = simulation.file(Name::Claim, at);
    let found: Found<Claim> = read(path.clone())?;
    let after = match found.value {
        Some(Claim::Claimed {
            mut claim,
            mut memory,
        }) => {
            claim.phase = match claim.phase {
                Phase::Coding | Phase::Failed(_) => Phase::ReadyForPr,
                Phase::MergedDetected | Phase::Done => Phase::Done,
                phase @ (Phase::ReadyForPr | Phase::PrCreated | Phase::ChecksRunning) => phase,
            };
            if claim.phase == Phase::Done {
                memory.consent = Consent::Given;
            }
            simulation.note(&format!("the claim is set to {}", claim.phase.as_str()));
            Claim::Claimed { claim, memory }
        }
        Some(Claim::Unclaimed(_) | Claim::Newer { .. }) | None => {
            simulation.issue += 1;
            let issue = simulation.issue;
            simulation.note(&format!("issue {issue} is claimed"));
            simulation.server = Server::default();
            let branch = format!("fix-{issue}");
            let mut claim = ClaimFile::claimed(issue, branch, "a".into(), String::new());
            claim.phase = Phase::ReadyForPr;
            claim.summary = "Fix it".into();
            claim.last_synced_status = Some(status::IN_PROGRESS.into());
            let memory = ClaimMemory {
                issue: Some(issue),
                owner: Some(simulation.sessions[at].id.clone()),
                ..ClaimMemory::default()
            };
            Claim::Claimed { claim, memory }
        }
    };
    edit(&path, &json(&after)?)
}
