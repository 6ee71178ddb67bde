//! Every way to install Mainspring, from local files and without a network: from nothing to a first
//! held stop, in a fresh home.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::clients::workspace;

/// Install through every channel, from local files, up to a first held stop
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The program to install [default: the debug build]
    #[arg(long)]
    program: Option<PathBuf>,
}

/// The bar: from nothing to a first held stop.
const LONGEST: Duration = Duration::from_secs(60);

/// How long one channel took.
#[derive(Debug)]
pub struct Reached {
    pub channel: &'static str,
    pub took: Duration,
}

#[expect(clippy::print_stdout, reason = "the table is its output")]
pub fn run(args: &Args) -> ExitCode {
    let program = args.program.clone();
    let program = program.unwrap_or_else(|| built().expect("build it first: cargo build"));
    let mut slow = false;
    for reached in try_all(&program) {
        println!(
            "{:<8} {:>5.1} s",
            reached.channel,
            reached.took.as_secs_f32()
        );
        slow |= reached.took > LONGEST;
    }
    ExitCode::from(u8::from(slow))
}

/// The debug build of this computer's target.
fn built() -> Option<PathBuf> {
    let targets = fs::read_dir(workspace().join("target")).ok()?;
    let programs = targets.filter_map(|entry| Some(entry.ok()?.path().join("debug/mainspring")));
    programs.into_iter().find(|program| program.is_file())
}

/// Packs the program, makes the channels' files from the archive, and installs through each.
///
/// # Panics
/// If a channel does not get to a held stop.
pub fn try_all(program: &Path) -> Vec<Reached> {
    let temp = tempfile::tempdir().expect("a temporary folder");
    let root = temp.path();
    let (archives, channels) = (root.join("archives"), root.join("channels"));
    let plain = root.join("mainspring");
    ok(Command::new("strip")
        .arg("-o")
        .args([&plain, &program.to_owned()]));
    ok(Command::new(workspace().join("scripts/release"))
        .args(["--target", "x86_64-unknown-linux-gnu", "--out"])
        .args([&archives, Path::new("--program"), &plain]));
    ok(Command::new(workspace().join("scripts/channels")).args([
        &archives,
        Path::new("--out"),
        &channels,
    ]));
    let channel = |channel, install: &dyn Fn(&Home) -> PathBuf| {
        let home = Home::new(root, channel);
        let start = Instant::now();
        let program = install(&home);
        home.gets_held(&program);
        let took = start.elapsed();
        Reached { channel, took }
    };
    vec![
        channel("npm", &|home| npm(home, &channels.join("npm"))),
        channel("pypi", &|home| wheel(home, &channels.join("pypi"))),
        channel("script", &|home| script(home, &archives, &channels)),
    ]
}

/// A home in which nothing is installed.
struct Home(PathBuf);

impl Home {
    fn new(root: &Path, name: &str) -> Self {
        let home = root.join(name).join("home");
        fs::create_dir_all(home.join("project")).expect("a home");
        Self(home)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", &self.0)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(self.0.join("project"));
        command
    }

    /// Registers, and delivers a stop as the host would: by the command in its settings.
    fn gets_held(&self, program: &Path) {
        ok(self.command(program).args(["install", "--yes"]));
        ok(self.command(program).args(["pulse", "2"]));
        let settings = fs::read(self.0.join(".claude/settings.json")).expect("it is registered");
        let settings: Value = serde_json::from_slice(&settings).expect("settings are JSON");
        let hook = &settings["hooks"]["Stop"][0]["hooks"][0]["command"];
        let hook = hook.as_str().expect("a stop calls a command");
        let place = Path::new(hook).parent().expect("by its path");
        assert!(
            !place.starts_with(self.0.join("project/node_modules")),
            "{hook} would go with npm's folder"
        );
        let event = json!({
            "session_id": "s", "cwd": self.0.join("project"), "hook_event_name": "Stop",
            "transcript_path": self.0.join("none"), "stop_hook_active": false,
            "last_assistant_message": "bye",
        });
        let file = self.0.join("event.json");
        fs::write(&file, event.to_string()).expect("room for an event");
        let event = fs::File::open(file).expect("the event is there");
        let answer = ok(self.command("sh").args(["-c", hook]).stdin(event));
        assert!(answer.contains("\"decision\":\"block\""), "{answer}");
    }
}

fn npm(home: &Home, packages: &Path) -> PathBuf {
    let mut command = home.command("npm");
    command.args(["install", "--offline", "--no-audit", "--no-fund"]);
    ok(command.args(files(packages, "tgz")));
    home.0.join("project/node_modules/.bin/mainspring")
}

fn wheel(home: &Home, wheels: &Path) -> PathBuf {
    let place = home.0.join("venv");
    ok(home.command("python3").args(["-m", "venv"]).arg(&place));
    let mut command = home.command(place.join("bin/pip"));
    command.args([
        "install",
        "--quiet",
        "--no-index",
        "--disable-pip-version-check",
    ]);
    ok(command.args(files(wheels, "whl")));
    place.join("bin/mainspring")
}

fn script(home: &Home, archives: &Path, channels: &Path) -> PathBuf {
    let from = format!("file://{}", archives.display());
    let mut command = home.command("sh");
    command.arg(channels.join("script/install.sh"));
    ok(command.env("MAINSPRING_FROM", from));
    home.0.join(".local/bin/mainspring")
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the channel's folder");
    let paths = entries.map(|entry| entry.expect("that can be read").path());
    paths
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}

fn ok(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
