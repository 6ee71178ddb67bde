//! The agent says that it is done, and its test fails.

use mainspring_store::atomic;

use super::stage::Stage;
use crate::command::Result;

const SETTINGS: &str = "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\n";
const TEST: &str = "if [ \"$(cat sum.txt)\" = 4 ]; then echo ok; else \
                   echo \"assertion failed: sum is $(cat sum.txt), expected 4\"; exit 1; fi\n";

pub(super) fn play(stage: &mut Stage) -> Result<()> {
    stage.narrate("The project has a test, and the person trusts it as a check.");
    write(stage, "mainspring.toml", SETTINGS)?;
    write(stage, "test.sh", TEST)?;
    stage.person_runs("trust --yes")?;
    stage.person_says("Write the sum of 2 and 2 into sum.txt.")?;
    write(stage, "sum.txt", "5\n")?;
    stage.agent_is_held("Done. All tests pass.")?;
    stage.narrate("The agent looks again, and repairs it.");
    write(stage, "sum.txt", "4\n")?;
    stage.agent_stops("Fixed.")?;
    stage.person_runs("check")?;
    stage.expect("tests  pass  at")
}

fn write(stage: &Stage, name: &str, text: &str) -> Result<()> {
    Ok(atomic::replace(
        &stage.project().join(name),
        text.as_bytes(),
    )?)
}
