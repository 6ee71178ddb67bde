//! Loops in loops, each until its own signal.

use super::stage::Stage;
use crate::command::Result;

pub(super) fn play(stage: &mut Stage) -> Result<()> {
    stage.narrate(
        "The agent works through issues in an outer loop, and on each issue in an inner loop.",
    );
    stage.person_says("Grind through the open bugs.")?;
    stage.agent_runs("loop start --mode grind --max 20")?;
    stage.agent_runs("loop push --mode issue --max 3")?;
    stage.agent_is_held("Reproduced the first bug.")?;
    stage.narrate("The signal ends the inner loop, and the agent is sent on to the outer one.");
    stage.agent_is_held("Fixed and tested.\n\n<issue-complete>DONE</issue-complete>")?;
    stage.agent_is_held("What is next?")?;
    stage.expect("[ITERATION 2/20]")?;
    stage.person_runs("graph loop")?;
    stage.person_runs("loop abort enough for today")?;
    stage.agent_stops("On to the second bug.")?;
    stage.expect("enough for today")
}
