//! Tells a person who looks elsewhere: by a notice on the desktop, or by a command of theirs.

use std::path::Path;
use std::time::Duration;

use mainspring_kernel::{Answer, Kind, notices};

use crate::children::child_env::{self, Names, PERSON};
use crate::children::permit::Permit;
use crate::children::process::Job;
use crate::config::{self, Config};
use crate::env::Environment;
use crate::hosts::text::clean;

/// The program that shows a notice on the desktop.
const DESKTOP: [&str; 3] = ["notify-send", "--app-name=Mainspring", "Mainspring"];

/// What it needs to find the desktop.
const SESSION: Names = &[
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// How long the program may take: the host waits for us as long.
const LIMIT: Duration = Duration::from_secs(5);

/// The longest notice.
const MOST_CHARS: usize = 400;

/// Tells the person what this answer says to them. It is called after the answer was given;
/// what fails here is the doctor's to find.
pub(crate) fn send(env: &Environment, kind: &Kind, answer: &Answer) {
    let notices = notices::of(kind, answer);
    if notices.is_empty() {
        return;
    }
    let Ok(config) = Config::of_user(env) else {
        return;
    };
    let text: String = clean(&notices.join("\n"))
        .chars()
        .take(MOST_CHARS)
        .collect();
    for words in commands(&config) {
        if let Some((program, args)) = words.split_first() {
            let started = Job::new(Permit::for_view(), program, LIMIT)
                .args(args.iter().chain([&text]))
                .env(child_env::listed(env, &[PERSON, SESSION]))
                .run();
            drop(started);
        }
    }
}

/// The programs that tell the person, with their arguments.
fn commands(config: &Config) -> Vec<Vec<String>> {
    let desktop = config.notify.desktop;
    let desktop = desktop.then(|| DESKTOP.map(str::to_owned).to_vec());
    let own = config::owned(&config.notify.command);
    let own = Some(own).filter(|words| !words.is_empty());
    desktop.into_iter().chain(own).collect()
}

/// A program that is set and does not exist, and the command that changes the setting.
pub(crate) fn missing(env: &Environment, config: &Config) -> Option<(String, &'static str)> {
    let programs = commands(config)
        .into_iter()
        .filter_map(|words| words.into_iter().next());
    let is_there = |program: &String| {
        let path = Path::new(program);
        path.is_absolute() && path.is_file() || env.program(program).is_some()
    };
    let missing = programs.into_iter().find(|program| !is_there(program))?;
    let undo = if missing == DESKTOP[0] {
        "mainspring config set notify.desktop off"
    } else {
        "mainspring config edit"
    };
    Some((missing, undo))
}
