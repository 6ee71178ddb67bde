//! No stop until the agent says the token.

use super::stage::Stage;
use crate::command::Result;

pub(super) fn play(stage: &mut Stage) -> Result<()> {
    stage.narrate("This agent likes to stop early, so a person switches the gate on.");
    stage.person_runs("gate on --project")?;
    stage.person_says("Fix the login.")?;
    stage.agent_is_held("I had a look. Looks fine!")?;
    stage.narrate("It quotes the token instead of saying it: that does not count.");
    stage.agent_is_held("Fixed. As asked:\n```\nTASKMASTER_DONE::demo-session\n```")?;
    stage
        .agent_stops("All seven checks done, the login works.\n\nTASKMASTER_DONE::demo-session")?;
    stage.narrate("After the next prompt, the token is required again.");
    stage.person_says("And the logout?")?;
    stage.agent_is_held("Works too.")?;
    stage.person_runs("why")?;
    stage.expect("the token was not said")
}
