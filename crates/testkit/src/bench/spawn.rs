//! One process, from its start to its end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::cases::World;

#[derive(Debug)]
pub(super) struct Spawn {
    program: PathBuf,
    args: Vec<String>,
    home: PathBuf,
    project: PathBuf,
    env: Vec<(String, String)>,
    stdin: PathBuf,
}

impl Spawn {
    pub(super) fn new(program: &Path, args: &[&str], stdin: &[u8], world: &World) -> Self {
        let input = world.root().join("stdin");
        std::fs::write(&input, stdin).expect("a file in a temporary folder");
        Self {
            program: program.into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            home: world.home(),
            project: world.project(),
            env: world.env(),
            stdin: input,
        }
    }

    /// A file as stdin and no pipes: nothing of the harness's own is timed.
    pub(super) fn time(&self) -> Duration {
        let input = File::open(&self.stdin).expect("the input is there");
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", "/usr/bin:/bin")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.project)
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let start = Instant::now();
        let status = command.spawn().and_then(|mut child| child.wait());
        let time = start.elapsed();
        assert!(status.is_ok_and(|status| status.success()), "{command:?}");
        time
    }
}
