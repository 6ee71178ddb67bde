//! What a stop costs in each host: how long its hook runs, as the client waits for it.

use std::time::Duration;

use super::stage::Stage;
use crate::hosts::Host;
use crate::model::{Model, Script, Turn};
use crate::recorder::Outcome;

/// How often the agent is held: fewer than any host's limit.
const HOLDS: usize = 5;

/// The median and the slowest of some held stops; `None` for a host whose hook cannot be recorded.
pub(super) fn of_stop(stage: &Stage) -> Option<[Duration; 2]> {
    if matches!(stage.host, Host::Opencode | Host::Pi) {
        return None;
    }
    let turns = (0..=HOLDS).map(|n| Turn::say(format!("Done {n}.")));
    let model = Model::play(Script::new(turns));
    let cast = stage.bare(&model);
    let line = format!("{} hook", stage.program());
    for event in ["SessionStart", stage.host.prompt(), stage.host.stop()] {
        cast.client.hook(event, &line);
    }
    cast.mainspring(&["pulse", &HOLDS.to_string()]);
    cast.run("PROMPT-1 please");
    let calls = cast.client.hook_calls();
    let stops = calls
        .iter()
        .filter(|call| call.event() == stage.host.stop());
    let mut times: Vec<Duration> = stops
        .filter_map(|call| match call.outcome {
            Outcome::Ended { duration, .. } => Some(duration),
            Outcome::NeverEnded => None,
        })
        .collect();
    times.sort();
    Some([*times.get(times.len() / 2)?, *times.last()?])
}
