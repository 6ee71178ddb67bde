//! Every way to install Mainspring, from local files and without a network, in a fresh home: from
//! nothing to a first held stop, then an upgrade, then a downgrade.

mod binstall;
mod home;
mod ways;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::clients::workspace;
use home::Home;

/// Install through every channel, from local files, up to a first held stop; then upgrade and
/// downgrade
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The program to install [default: the debug build]
    #[arg(long)]
    program: Option<PathBuf>,
    /// Go through `cargo binstall`, too: the path of `cargo-binstall`
    #[arg(long, value_name = "FILE")]
    binstall: Option<PathBuf>,
}

/// The bar: from nothing to a first held stop.
const LONGEST: Duration = Duration::from_secs(60);

/// The version that a home has first. It is the same program under an earlier number.
const EARLIER: &str = "0.0.9";

/// How long one channel took from nothing to a first held stop.
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
    for reached in try_all(&program, args.binstall.as_deref()) {
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
pub(crate) fn built() -> Option<PathBuf> {
    let targets = std::fs::read_dir(workspace().join("target")).ok()?;
    let programs = targets.filter_map(|entry| Some(entry.ok()?.path().join("debug/mainspring")));
    programs.into_iter().find(|program| program.is_file())
}

/// One version of the program, as `scripts/release` and `scripts/channels` pack it.
struct Release {
    version: String,
    archives: PathBuf,
    channels: PathBuf,
}

impl Release {
    fn pack(program: &Path, version: &str, root: &Path) -> Self {
        let release = Self {
            version: version.into(),
            archives: root.join(version).join("archives"),
            channels: root.join(version).join("channels"),
        };
        ok(Command::new(workspace().join("scripts/release"))
            .args(["--target", "x86_64-unknown-linux-gnu", "--number", version])
            .args([Path::new("--out"), &release.archives])
            .args([Path::new("--program"), program]));
        ok(Command::new(workspace().join("scripts/channels")).args([
            &release.archives,
            Path::new("--out"),
            &release.channels,
        ]));
        release
    }
}

/// Installs a release in a home, and says where its program is.
type Install<'a> = Box<dyn Fn(&Home, &Release) -> PathBuf + 'a>;

/// Packs the program, makes the channels' files from the archive, and goes through each.
///
/// # Panics
/// If a channel does not get to a held stop, or a stop after an upgrade or a downgrade is not
/// decided as it must be.
pub fn try_all(program: &Path, cargo_binstall: Option<&Path>) -> Vec<Reached> {
    let temp = tempfile::tempdir().expect("a temporary folder");
    let root = temp.path();
    let stripped = root.join("mainspring");
    ok(Command::new("strip")
        .arg("-o")
        .args([&stripped, &program.to_owned()]));
    let earlier = Release::pack(&stripped, EARLIER, root);
    let release = Release::pack(&stripped, env!("CARGO_PKG_VERSION"), root);
    let mut ways: Vec<(&str, Install)> = vec![
        ("npm", Box::new(ways::npm)),
        ("pypi", Box::new(ways::wheel)),
        ("script", Box::new(ways::script)),
        ("homebrew", Box::new(ways::homebrew)),
        ("action", Box::new(ways::action)),
    ];
    if let Some(program) = cargo_binstall {
        let install = |home: &Home, release: &Release| binstall::install(program, home, release);
        ways.push(("binstall", Box::new(install)));
    }
    let mut reached = Vec::new();
    for (channel, install) in ways {
        let home = Home::new(root, channel);
        let start = Instant::now();
        let program = install(&home, &earlier);
        home.has_what_plugins_call(&program);
        home.registers(&program);
        home.gets_held(1);
        let took = start.elapsed();
        reached.push(Reached { channel, took });

        home.has_state_of_an_earlier_version();
        home.registers(&install(&home, &release));
        home.gets_held(2);
        home.has_state_of_a_newer_version();
        home.registers(&install(&home, &earlier));
        home.is_let_go_and_told_to_upgrade();
    }
    reached
}

fn ok(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
