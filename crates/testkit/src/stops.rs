//! Many stops in the real client with a tool call between each two, by a model that answers at
//! once: the client writes its transcript later than it sends the stops.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use crate::bins;
use crate::claude::{Claude, Hook};
use crate::model::{Model, Turn};
use crate::recorder::HookCall;

/// More than the client holds in a row without a tool call.
const STOPS: usize = 14;
const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const TOKEN: &str = "TASKMASTER_DONE::11111111-2222-4333-8444-555555555555";

/// Play many stops with a tool call between each two, in the real client, and count the runs that
/// hold all of them
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How often to play it
    #[arg(long, default_value_t = 20)]
    runs: u32,
    /// The program to test [default: the one beside this program]
    #[arg(long)]
    mainspring: Option<PathBuf>,
}

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command's output"
)]
pub fn run(args: &Args) -> ExitCode {
    let mainspring = args.mainspring.clone().unwrap_or_else(bins::mainspring);
    let mut whole = 0;
    for run in 1..=args.runs {
        match play(&mainspring) {
            None => return ExitCode::FAILURE,
            Some(Ok(())) => whole += 1,
            Some(Err(why)) => eprintln!("run {run}: {why}"),
        }
    }
    println!("{whole} of {} runs held all their {STOPS} stops", args.runs);
    if whole == args.runs {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// One run; the error says what happened at each stop. `None` if clients are skipped.
pub fn play(mainspring: &Path) -> Option<Result<(), String>> {
    let work = || Turn::call("Bash", json!({ "command": "true", "description": "work" }));
    let mut turns: Vec<Turn> = (1..=STOPS)
        .flat_map(|stop| [work(), Turn::say(format!("Done ({stop})."))])
        .collect();
    turns.extend([work(), Turn::say(format!("Checked.\n\n{TOKEN}"))]);
    let model = Model::play(turns);
    let claude = Claude::new(&model)?.in_repository();
    let tmp = claude.home().join("tmp");
    fs::create_dir_all(&tmp).expect("the home is ours");
    let hook = Hook::exec(mainspring, ["hook"]);
    let claude = claude.env("TMPDIR", &tmp).hook("Stop", &hook).recording();
    let mut switch = claude.command(mainspring);
    switch.args(["gate", "on", "--project"]);
    let switched = switch.output().expect("the program starts");
    assert!(switched.status.success(), "{switched:?}");
    let asked = claude.ask("do it").args(["--session-id", SESSION]);
    asked.run().expect_success();

    let answers: Vec<_> = claude
        .hook_calls_of("Stop")
        .iter()
        .map(HookCall::answer)
        .collect();
    assert!(model.saw_text("TASKMASTER (1): Stop blocked."));
    let is_hold = |answer: &serde_json::Value| {
        answer["decision"] == "block"
            || answer["hookSpecificOutput"]["additionalContext"].is_string()
    };
    let held = answers.iter().take_while(|answer| is_hold(answer)).count();
    Some(if held == STOPS && answers.len() == STOPS + 1 {
        Ok(())
    } else {
        let then = answers
            .get(held)
            .map(|answer| answer["systemMessage"].to_string());
        let then = then.unwrap_or_else(|| "no stop".into());
        Err(format!("{held} of {STOPS} stops were held, then: {then}"))
    })
}
