//! `mainspring demo`: a scripted agent, the real code, no network. A scene that does not come out
//! as it is told ends the demo with an error.

mod claim;
mod pace;
mod review;
mod scenes;
mod stage;

use std::ffi::OsString;

use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::output;
use pace::Pace;
use stage::Stage;

/// Play a scripted agent against every machine, in a temporary project, and show what the
/// agent and the person would see.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring demo            everything, at a reader's pace on a terminal\n  mainspring demo gate loop  only these scenes\n  mainspring demo --fast     without waiting"
)]
pub(crate) struct Args {
    /// Only these scenes
    #[arg(value_name = "SCENE")]
    scenes: Vec<String>,
    /// Do not wait between the lines
    #[arg(long)]
    fast: bool,
}

/// A scene: its name, and the function that plays it.
type Scene = (&'static str, fn(&mut Stage) -> Result<()>);

/// In the order in which they are played.
const SCENES: &[Scene] = &[
    ("pulse", scenes::pulse),
    ("tasks", scenes::tasks),
    ("gate", scenes::gate),
    ("loop", scenes::looping),
    ("check", scenes::check),
    ("review", review::play),
    ("claim", claim::play),
];

/// Runs a command line in this process, and returns what it prints.
pub(crate) type Dispatch = fn(Vec<OsString>, &CommandContext) -> Result;

pub(crate) fn run(args: &Args, cmd: &CommandContext, dispatch: Dispatch) -> Result {
    let names: Vec<&str> = SCENES.iter().map(|(name, _)| *name).collect();
    let is_unknown = |wanted: &&String| !names.contains(&wanted.as_str());
    if let Some(unknown) = args.scenes.iter().find(is_unknown) {
        return Err(
            CliError::not_found(format!("there is no scene {unknown:?}"))
                .hint(format!("the scenes are {}", names.join(", "))),
        );
    }
    let wanted = SCENES.iter().filter(|(name, _)| {
        args.scenes.is_empty() || args.scenes.iter().any(|wanted| wanted == name)
    });
    let mut pace = Pace::of(args, cmd);
    for (name, play) in wanted {
        let mut stage = Stage::open(name, cmd, dispatch)?;
        let told = play(&mut stage);
        pace.show(&stage.close(), cmd);
        if let Err(untrue) = told {
            // An error prints nothing else.
            let _ = output::stdout(&cmd.fitted(&pace.rest()), cmd.paint);
            return Err(untrue);
        }
    }
    Ok(cmd.fitted(&pace.rest()))
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Name;

    use super::*;

    #[test]
    fn every_machine_has_a_scene() {
        let scenes: Vec<&str> = SCENES.iter().map(|(name, _)| *name).collect();
        for name in Name::ALL {
            assert!(scenes.contains(&name.as_str()), "{name}");
        }
    }
}
