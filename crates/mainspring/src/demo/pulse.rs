//! Does Mainspring reach the agent?

use super::stage::Stage;
use crate::command::Result;

pub(super) fn play(stage: &mut Stage) -> Result<()> {
    stage.narrate("A person wants to know whether the hooks work, so the next two stops are held.");
    stage.person_runs("trust --yes")?;
    stage.person_runs("pulse 2")?;
    stage.person_says("Say hello.")?;
    stage.agent_is_held("Hello!")?;
    stage.agent_is_held("I read that Mainspring is connected.")?;
    stage.agent_stops("Read again; goodbye.")?;
    stage.narrate("Why was the agent held, and what would have changed it?");
    stage.person_runs("why --last 2")?;
    stage.person_runs("log")?;
    stage.expect("passed  pulse: spent → still (spent)")
}
