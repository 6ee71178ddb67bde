//! A plan is reviewed until two reviews in a row are clean.

use mainspring_platform::permissions::make_owner_only;
use mainspring_store::{Trouble, atomic};

use super::stage::Stage;
use crate::command::Result;

/// Finds something the first time, and nothing after that.
const REVIEWER: &str = r#"#!/bin/sh
for prompt in "$@"; do :; done
file=$(printf '%s' "$prompt" | sed -n 's/.*Write your review to \([^ ,]*\).*/\1/p')
found='{"id":"F1","severity":"major","path":"plan.md","line":3,"claim":"It says nothing of error cases.","evidence":"There is no word about them."}'
case $file in
    *-1.md) verdict=FAIL findings="[$found]" earlier='[]' ;;
    *-2.md) verdict=PASS findings='[]' earlier='[{"id":"F1","status":"fixed"}]' ;;
    *) verdict=PASS findings='[]' earlier='[]' ;;
esac
echo "Review: $verdict" > "$file"
printf '{"structured_output":{"verdict":"%s","findings":%s,"earlier":%s},"total_cost_usd":0.31}' \
    "$verdict" "$findings" "$earlier"
"#;

pub(super) fn play(stage: &mut Stage) -> Result<()> {
    stage.narrate(
        "In this scene the reviewer is a script that finds a problem the first time. The person \
         trusts the project, and the agent writes a plan.",
    );
    set_up(stage)?;
    stage.person_runs("trust --yes")?;
    stage.person_says("Plan the export.")?;
    stage.agent_runs("plan init export")?;
    stage.agent_is_held("The plan is written.")?;
    stage.narrate("The agent answers each review, and stops again.");
    answer(stage, 1)?;
    stage.agent_is_held("I made the error cases clear.")?;
    answer(stage, 2)?;
    stage.agent_stops("Nothing was left to do.")?;
    stage.expect("two clean reviews in a row")?;
    stage.narrate("Two reviews in a row were clean: it is the person's turn to decide.");
    stage.person_runs("plan list")?;
    stage.person_runs("plan route")?;
    stage.expect("Perform the action create-tasks.")
}

fn set_up(stage: &Stage) -> Result<()> {
    let root = stage.project().parent().unwrap_or(stage.project());
    let reviewer = root.join("reviewer");
    atomic::replace(&reviewer, REVIEWER.as_bytes())?;
    make_owner_only(&reviewer).map_err(Trouble::io("prepare", &reviewer))?;
    let config = format!("[review]\ncommand = \"{}\"\n", reviewer.display());
    let file = root.join("home/.config/mainspring/config.toml");
    atomic::replace(&file, config.as_bytes())?;
    write(stage, "plan.md", "# Export\n\n## Overview\n")
}

fn answer(stage: &mut Stage, number: u32) -> Result<()> {
    let text = match number {
        1 => "F1: fixed, the error cases have a heading\n",
        _ => "Nothing to do.\n",
    };
    write(stage, &format!("plan-post-review-{number}.md"), text)?;
    stage.agent_runs("plan advance post-plan-review")
}

fn write(stage: &Stage, name: &str, text: &str) -> Result<()> {
    stage.write(&format!(".taskie/plans/export/{name}"), text)
}
