//! `mainspring claim abort`: the issue is given back.

use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memo::Memo;
use mainspring_kernel::machines::claim::signal::status;
use mainspring_kernel::machines::claim::work::Board as Moved;

use super::{Desk, Result, shop};
use crate::machine::claim::{self, Change, lease, query};
use crate::scene::Scene;

/// Give the issue back: card to Todo, assignment and claim removed. Branch, commits and
/// pull request stay.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, desk: &Desk) -> Result {
    let (site, store) = desk.site()?;
    let scene = Scene::new(&desk.world, &site, &store, None);
    let (signal, memo) = super::claimed(&claim::state(&scene)?.0)?;
    let issue = signal.issue_number;
    let mut warnings = Vec::new();
    // What cannot be undone on the server does not keep a person from giving up here.
    match shop(&scene) {
        Err(error) => warnings.push(error.cause),
        Ok(shop) => {
            match query::find(&shop.github(), issue, "", shop.board.as_ref()) {
                Err(fault) => warnings.push(fault.cause),
                Ok(found) => {
                    let mut change = Change::default();
                    if let Some(seen) = &found.issue {
                        change.unassign(&seen.id, &found.me);
                    }
                    change.card(&found.board, status::TODO, "");
                    match change.apply(&shop.github()).board() {
                        Moved::Moved | Moved::Off => {}
                        Moved::Lacks(cause) | Moved::Unreachable(cause) => {
                            warnings.push(format!("the board was not updated: {cause}"));
                        }
                    }
                }
            }
            if let Some(commit) = &memo.lease
                && let Err(cause) = lease::release(&shop.programs, &shop.remote, issue, commit)
            {
                warnings.push(format!(
                    "the claim on the git server was not released: {cause}"
                ));
            }
        }
    }
    let did = desk.commit("claim abort", |scene| {
        let (state, found) = claim::state(scene)?;
        super::claimed(&state)?;
        let files = claim::changes(&found, &state, &State::Unclaimed(Memo::default()))?;
        Ok((files, format!("issue #{issue} is given back")))
    })?;
    let lines: Vec<String> = warnings
        .iter()
        .map(|text| format!("warning: {text}\n"))
        .collect();
    Ok(format!("{did}\n{}", lines.concat()))
}
