//! What is not started, because the host would not wait for its end.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Case, Trust};
use crate::decision::{Decision, HoldTexts, listed};
use crate::event::Kind;
use crate::machines::Pending;
use crate::name::Name;

/// Would this effect outlast the host's patience? Only a stop can be held until the next one.
pub(super) fn out_of_time(case: &Case, pending: &Pending) -> bool {
    matches!(case.event.kind, Kind::Stop { .. })
        && (case.trust == Trust::Trusted || !pending.name().needs_trust())
        && case.left.is_some_and(|left| pending.limit() > left)
}

/// The hold that lets an effect start at the next stop.
pub(super) fn postponed(case: &Case, by: Name) -> Decision {
    let done = case.inputs.iter().filter(|input| input.has_returned());
    let done: Vec<&str> = done.map(|input| input.name().as_str()).collect();
    let done = match done.as_slice() {
        [] => String::new(),
        ["check"] => "the checks are green, ".into(),
        names => format!("{} is done, ", listed(names)),
    };
    let text = format!(
        "{done}the {by} starts at your next stop, because this one has no time left for it. You \
         need not do anything: stop again."
    );
    Decision::Stop {
        hold: HoldTexts::one(by, text),
    }
}
