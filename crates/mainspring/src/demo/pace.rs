//! How fast the demo is shown: on a terminal as fast as one reads, elsewhere at once.

use std::io::IsTerminal as _;
use std::time::Duration;

use super::Args;
use crate::command::CommandContext;
use crate::output;

/// How long a line stays before the next one comes, for each of its characters.
const PER_CHARACTER: Duration = Duration::from_millis(12);
/// The longest and the shortest time for a line.
const LINE: [Duration; 2] = [Duration::from_millis(60), Duration::from_millis(900)];
/// The time between two scenes.
const SCENE: Duration = Duration::from_millis(1_500);

pub(super) enum Pace {
    /// Everything at the end, in one piece.
    AtOnce(String),
    Reading,
}

impl Pace {
    pub(super) fn of(args: &Args, cmd: &CommandContext) -> Self {
        // In the window of a person who did not ask for more speed.
        if !args.fast && cmd.width.is_some() && std::io::stdout().is_terminal() {
            return Self::Reading;
        }
        Self::AtOnce(String::new())
    }

    /// Shows one scene.
    pub(super) fn show(&mut self, scene: &str, cmd: &CommandContext) {
        match self {
            Self::AtOnce(played) => *played += scene,
            Self::Reading => {
                for line in cmd.fitted(scene).split_inclusive('\n') {
                    if output::stdout(line, cmd.paint).is_err() {
                        // The window is gone.
                        return;
                    }
                    std::thread::sleep(time_for(line));
                }
                std::thread::sleep(SCENE);
            }
        }
    }

    /// What is left to print.
    pub(super) fn rest(self) -> String {
        match self {
            Self::AtOnce(played) => played,
            Self::Reading => String::new(),
        }
    }
}

fn time_for(line: &str) -> Duration {
    let characters = u32::try_from(line.chars().count()).unwrap_or(u32::MAX);
    let [least, most] = LINE;
    PER_CHARACTER.saturating_mul(characters).clamp(least, most)
}
