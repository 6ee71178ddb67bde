//! Starts a child that is killed when we are, with everything that it started.
//!
//! If a hook is killed with SIGKILL, it cannot end its child. So a second process of ours, the
//! guard, starts the child and then only waits: for the end of the child, and for the end of a
//! pipe that only the hook holds open. When either comes, the guard ends every process that the
//! child has left, and then itself.
//!
//! A child that should end in a moment, such as `git`, is started without a guard. If it takes
//! longer, a [`Keeper`] is started beside it, which does the same from then on.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mainspring_platform::process::{
    GROUPS_OUTLIVE_US, Group, adopt_orphans, end_below, end_own_group, end_tree, exit_code,
};

use mainspring_store::{ShownPath as _, atomic, digest};

use crate::children::permit::{GLANCE, Permit, Revoked};
use crate::env::name;
use crate::{limits, output};

/// The hidden verb.
pub(crate) const VERB: &str = "__guard";
/// The keeper's.
pub(crate) const KEEPER: &str = "__keeper";
/// The exit code of a shell whose program cannot be started.
const CANNOT_START: u8 = 127;

/// A long-running child. Its output goes to files, so that the output outlives us.
#[derive(Debug)]
pub(crate) struct Guarded<'a> {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) dir: &'a Path,
    /// Every variable that the child gets.
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) stdout: &'a Path,
    pub(crate) stderr: &'a Path,
    /// The limit for each of the two files, in bytes.
    pub(crate) most_output: u64,
    pub(crate) limit: Duration,
}

/// The hook is gone.
static LEFT_ALONE: AtomicBool = AtomicBool::new(false);

/// Where the guard notes the end of the child that printed this.
pub(crate) fn note_beside(stdout: &Path) -> PathBuf {
    stdout.with_file_name("ended")
}

/// A checksum of the output and the exit code, against damage: a file that a power loss cut has
/// another one.
fn note(output: &[u8], code: i32) -> String {
    digest::of(&[output, &code.to_le_bytes()]).0
}

/// What a child printed, if its guard saw it end by itself with that, and with this exit code.
pub(crate) fn ended_with(stdout: &Path, code: i32) -> Option<Vec<u8>> {
    let output = atomic::read(stdout, limits::CHILD_OUTPUT).ok()??;
    let noted = atomic::read(&note_beside(stdout), 4096).ok()??;
    (noted == note(&output, code).as_bytes()).then_some(output)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Code(i32),
    TimedOut,
    /// The child printed more than `most_output`.
    Flooded,
    /// A person stopped or paused the machine that it worked for.
    Cancelled,
}

impl Guarded<'_> {
    /// Runs the child until it ends or we do. `began` gets the process id of its group.
    pub(crate) fn run(
        &self,
        permit: &Permit,
        files: (File, File),
        began: impl FnOnce(u32),
    ) -> io::Result<Ended> {
        if permit.check() == Err(Revoked) {
            return Ok(Ended::Cancelled);
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "children start here and in process.rs"
        )]
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg(VERB)
            .arg(self.stdout)
            .arg(&self.program)
            .args(&self.args)
            .current_dir(self.dir)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env(name::DEPTH, "1")
            .stdin(Stdio::piped())
            .stdout(files.0)
            .stderr(files.1);
        let (mut child, group) = Group::start(&mut command)?;
        // We hold the pipe open as long as we live.
        let lifeline = child.stdin.take();
        began(child.id());
        let ended = self.wait(&mut child, permit);
        match ended {
            // The guard has already ended the group, unless the guard itself was killed.
            Ok(Ended::Code(_)) => group.end(),
            Ok(Ended::TimedOut | Ended::Flooded | Ended::Cancelled) | Err(_) => {
                end_tree(child.id());
            }
        }
        let _ = child.wait();
        drop(lifeline);
        ended
    }

    fn wait(&self, child: &mut Child, permit: &Permit) -> io::Result<Ended> {
        let start = Instant::now();
        let mut looked = start;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Ended::Code(exit_code(status)));
            }
            let waited = start.elapsed();
            if waited >= self.limit {
                return Ok(Ended::TimedOut);
            }
            let flooded = [self.stdout, self.stderr].iter().any(|path| {
                std::fs::metadata(path).is_ok_and(|meta| meta.len() > self.most_output)
            });
            if flooded {
                return Ok(Ended::Flooded);
            }
            if looked.elapsed() >= GLANCE {
                looked = Instant::now();
                if permit.check() == Err(Revoked) {
                    return Ok(Ended::Cancelled);
                }
            }
            // A review takes minutes, but a program that fails at its start should be noticed
            // at once.
            let pause = if waited < Duration::from_secs(1) {
                5
            } else {
                50
            };
            std::thread::sleep(Duration::from_millis(pause).min(self.limit.saturating_sub(waited)));
        }
    }
}

/// The guard: `mainspring __guard STDOUT PROGRAM ARGS…`. Its stdin is the pipe from the hook.
/// For whoever comes after a killed hook, it notes beside the output how the child ended.
pub(crate) fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(stdout), Some(program)) = (args.next().map(PathBuf::from), args.next()) else {
        return ExitCode::from(CANNOT_START);
    };
    adopt_orphans();
    #[expect(clippy::disallowed_methods, reason = "the guard starts the child")]
    let child = Command::new(&program)
        .args(args)
        .stdin(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            output::stderr(&format!(
                "cannot start {}: {error}",
                Path::new(&program).shown()
            ));
            return ExitCode::from(CANNOT_START);
        }
    };
    std::thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        LEFT_ALONE.store(true, Ordering::SeqCst);
        end_below(std::process::id());
        end_own_group();
    });
    let ended = child.wait();
    end_below(std::process::id());
    // A child that was killed, by us or by anybody, has not said its last word.
    let code = ended.as_ref().ok().and_then(ExitStatus::code);
    if let Some(code) = code.filter(|_| !LEFT_ALONE.load(Ordering::SeqCst))
        && let Ok(Some(output)) = atomic::read(&stdout, limits::CHILD_OUTPUT)
    {
        let _ = atomic::replace(&note_beside(&stdout), note(&output, code).as_bytes());
    }
    match ended {
        Ok(status) => ExitCode::from(u8::try_from(exit_code(status)).unwrap_or(u8::MAX)),
        Err(_) => ExitCode::from(CANNOT_START),
    }
}

/// Ends a child with everything below it when we are killed.
#[derive(Debug)]
pub(crate) struct Keeper {
    child: Child,
    lifeline: Option<ChildStdin>,
}

impl Keeper {
    /// For the group of this leader. If it cannot be started, the child is not kept.
    pub(crate) fn start(leader: u32) -> Option<Self> {
        if !GROUPS_OUTLIVE_US {
            return None;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "children start here and in process.rs"
        )]
        let mut command = Command::new(std::env::current_exe().ok()?);
        command
            .args([KEEPER, &leader.to_string()])
            .env_clear()
            .env(name::DEPTH, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // Whoever kills our group does not kill the keeper with it.
        let (mut child, _) = Group::start(&mut command).ok()?;
        let lifeline = child.stdin.take();
        Some(Self { child, lifeline })
    }
}

impl Drop for Keeper {
    /// The child has ended: a byte tells the keeper, before the pipe is closed.
    fn drop(&mut self) {
        if let Some(mut lifeline) = self.lifeline.take() {
            let _ = lifeline.write_all(b".");
        }
        let _ = self.child.wait();
    }
}

/// The keeper: `mainspring __keeper LEADER`. Its stdin is the pipe from the hook.
pub(crate) fn keep(leader: Option<&OsString>) -> ExitCode {
    let leader = leader.and_then(|text| text.to_str()?.parse().ok());
    let told = io::stdin().read(&mut [0]);
    if let (Some(leader), Ok(0)) = (leader, told) {
        end_tree(leader);
    }
    ExitCode::SUCCESS
}
