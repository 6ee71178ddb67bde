//! A skill fills the agent's task list.

use mainspring_store::atomic;

use super::stage::Stage;
use crate::command::Result;

const LIST: &str = r#"[
  {"id": 1, "subject": "Reproduce the bug"},
  {"id": 2, "subject": "Find the cause", "blockedBy": [1]},
  {"id": 3, "subject": "Write a test that fails", "blockedBy": [1]},
  {"id": 4, "subject": "Fix it and prove it", "blockedBy": [2, 3]}
]"#;

pub(super) fn play(stage: &mut Stage) -> Result<()> {
    let list = stage.project().join(".claude/skills/fix-bug/fsm.json");
    atomic::replace(&list, LIST.as_bytes())?;
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
    atomic::replace(&list, faults.as_bytes())?;
    stage.agent_invokes("fix-bug");
    stage.expect("duplicate id 2")?;
    stage.agent_runs("tasks list")?;
    stage.expect("#9    pending     Fix it and prove it")
}
