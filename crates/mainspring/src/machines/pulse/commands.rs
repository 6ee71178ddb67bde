//! `mainspring pulse`: check that Mainspring reaches the agent.

use mainspring_kernel::Name;
use mainspring_kernel::authority::Grounds;
use mainspring_kernel::machines::pulse::{State, verbs};

use crate::command::{CommandContext, Result};
use crate::machines::json_state;
use crate::people::brake;

/// Check that Mainspring reaches the agent: hold its next stops with a message that says so,
/// then let it go.
///
/// Run it in a terminal to check the next session that stops in this project, or let the
/// agent run it to check its own.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring pulse 1         then say hello to the agent: it answers twice\n  mainspring pulse off"
)]
pub(crate) struct Args {
    /// How many stops to hold, or `off` to end the pulse
    #[arg(value_name = "N|off")]
    beats: Option<Beats>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beats {
    Of(u32),
    Off,
}

impl std::str::FromStr for Beats {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.parse() {
            _ if text == "off" => Ok(Self::Off),
            Ok(beats @ 1..=100) => Ok(Self::Of(beats)),
            Ok(_) | Err(_) => Err("use a number from 1 to 100, or `off`".into()),
        }
    }
}

/// Holds the next stops.
pub(crate) fn begin(beats: u32, cmd: &CommandContext) -> Result {
    let beats = Some(Beats::Of(beats));
    run(&Args { beats }, cmd)
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let command = match args.beats {
        None => "pulse".to_owned(),
        Some(Beats::Off) => "pulse off".into(),
        Some(Beats::Of(beats)) => format!("pulse {beats}"),
    };
    if args.beats == Some(Beats::Off) {
        cmd.may("pulse off", Grounds::Nothing)?;
    }
    let place = cmd.project()?;
    let did = cmd.commit_in(&place, Name::Pulse, &command, |context| {
        let (found, file) = json_state::load::<State>(context, Name::Pulse)?;
        let step = match args.beats {
            Some(Beats::Off) => verbs::off(&found.unwrap_or(State::Still))?,
            Some(Beats::Of(of)) => verbs::begin(of, &cmd.actor()),
            None => verbs::begin(context.config()?.pulse.beats, &cmd.actor()),
        };
        // When a check is over, its file is deleted.
        let kept = (step.state != State::Still).then_some(&step.state);
        Ok((vec![json_state::change(&file, kept)?], told(&step.state)))
    })?;
    let but = match args.beats {
        Some(Beats::Off) => String::new(),
        Some(Beats::Of(_)) | None => brake::but_ordered(cmd, &place, Name::Pulse)?,
    };
    Ok(format!("{did}\n{but}"))
}

fn told(state: &State) -> String {
    let State::Beating { of, session, .. } = state else {
        return "the pulse is over; no stop is held".into();
    };
    let whose = match session {
        Some(_) => "this session's",
        None => "the next session's",
    };
    match of {
        1 => format!("{whose} next stop here is held"),
        of => format!("{whose} next {of} stops here are held, one by one"),
    }
}
