//! The scenes of the machines that need nothing from outside.

use super::stage::Stage;
use crate::command::Result;

/// Does Mainspring reach the agent?
pub(super) fn pulse(stage: &mut Stage) -> Result<()> {
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

const LIST: &str = r#"[
  {"id": 1, "subject": "Reproduce the bug"},
  {"id": 2, "subject": "Find the cause", "blockedBy": [1]},
  {"id": 3, "subject": "Write a test that fails", "blockedBy": [1]},
  {"id": 4, "subject": "Fix it and prove it", "blockedBy": [2, 3]}
]"#;

/// A skill fills the agent's task list.
pub(super) fn tasks(stage: &mut Stage) -> Result<()> {
    let list = ".claude/skills/fix-bug/fsm.json";
    stage.write(list, LIST)?;
    stage.narrate("A skill comes with a list of tasks. Its author looks at the list.");
    stage.person_runs("tasks preview .claude/skills/fix-bug")?;
    stage.narrate(
        "The agent invokes the skill. Its client has no task tools, so it gets the list as text.",
    );
    stage.agent_invokes("fix-bug");
    stage.agent_runs("tasks start 1")?;
    stage.agent_runs("tasks done 1")?;
    stage.agent_runs("tasks next")?;
    stage.agent_runs("tasks add Announce --after 4")?;
    stage.narrate(
        "When the skill is invoked again, its tasks start over; what the agent added stays.",
    );
    stage.agent_invokes("fix-bug");
    stage.narrate("A list with mistakes changes nothing, and the agent is told every mistake.");
    let faults = LIST
        .replace("[2, 3]", "[2, 9]")
        .replace("\"id\": 3", "\"id\": 2");
    stage.write(list, &faults)?;
    stage.agent_invokes("fix-bug");
    stage.expect("duplicate id 2")?;
    stage.agent_runs("tasks list")?;
    stage.expect("#9    pending     Fix it and prove it")
}

/// No stop until the agent says the token.
pub(super) fn gate(stage: &mut Stage) -> Result<()> {
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

/// Loops in loops, each until its own signal.
pub(super) fn looping(stage: &mut Stage) -> Result<()> {
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

const SETTINGS: &str = "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\n";
const TEST: &str = "if [ \"$(cat sum.txt)\" = 4 ]; then echo ok; else \
                   echo \"assertion failed: sum is $(cat sum.txt), expected 4\"; exit 1; fi\n";

/// The agent says that it is done, and its test fails.
pub(super) fn check(stage: &mut Stage) -> Result<()> {
    stage.narrate("The project has a test, and the person trusts it as a check.");
    stage.write("mainspring.toml", SETTINGS)?;
    stage.write("test.sh", TEST)?;
    stage.person_runs("trust --yes")?;
    stage.person_says("Write the sum of 2 and 2 into sum.txt.")?;
    stage.write("sum.txt", "5\n")?;
    stage.agent_is_held("Done. All tests pass.")?;
    stage.narrate("The agent looks again, and repairs it.");
    stage.write("sum.txt", "4\n")?;
    stage.agent_stops("Fixed.")?;
    stage.person_runs("check")?;
    stage.expect("tests  pass  at")
}
