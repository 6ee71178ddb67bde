//! One process, from its start to its end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::cases::World;

#[derive(Debug)]
pub(crate) struct Spawn {
    program: PathBuf,
    args: Vec<String>,
    home: PathBuf,
    project: PathBuf,
    env: Vec<(String, String)>,
    stdin: PathBuf,
}

impl Spawn {
    pub(crate) fn new(program: &Path, args: &[&str], stdin: &[u8], world: &World) -> Self {
        Self::with_input(program, args, ("stdin", stdin), world)
    }

    /// The same, for a world with several inputs: the file for stdin has a name.
    pub(crate) fn with_input(
        program: &Path,
        args: &[&str],
        (name, stdin): (&str, &[u8]),
        world: &World,
    ) -> Self {
        let input = world.root().join(name);
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

    /// With one more variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// A folder in which a tool may write.
    pub(crate) fn folder(&self) -> &Path {
        self.stdin.parent().expect("the input is in a folder")
    }

    /// With a file as stdin and without pipes, so that only the process is timed.
    pub(crate) fn time(&self) -> Duration {
        let mut command = self.command(&self.program);
        command.args(&self.args);
        let start = Instant::now();
        let status = command.spawn().and_then(|mut child| child.wait());
        let time = start.elapsed();
        assert!(status.is_ok_and(|status| status.success()), "{command:?}");
        time
    }

    /// The same start behind another program, a tracer or a counter, which gets ours as its last
    /// arguments. The output contains what both printed.
    pub(crate) fn under(&self, wrapper: &[&str]) -> Output {
        let (outer, arguments) = wrapper.split_first().expect("a wrapper has a name");
        let mut command = self.command(Path::new(outer));
        command
            .args(arguments)
            .arg(&self.program)
            .args(&self.args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let output = command.output().expect("the wrapper is there");
        assert!(output.status.success(), "{command:?}: {output:?}");
        output
    }

    /// Its answer.
    pub(crate) fn said(&self) -> String {
        let output = self.under(&["/usr/bin/env"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn command(&self, program: &Path) -> Command {
        let input = File::open(&self.stdin).expect("the input is there");
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", "/usr/bin:/bin")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.project)
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}
