//! A child that dies with us, and everything that it started dies with it.
//!
//! Whoever kills a hook with SIGKILL leaves nobody to end its child. So the child is
//! started by a second process of ours, which does nothing but wait: for the child, and
//! for the end of a pipe whose other end only the hook holds. Where either is gone, it ends
//! all that is left of what the child started, and itself.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use mainspring_platform::process::{
    adopt_orphans, end_below, end_group, end_own_group, end_tree, exit_code, lead_group,
};

use crate::env::name;
use crate::output;
use crate::permit::Permit;

/// The hidden verb.
pub(crate) const VERB: &str = "__guard";
/// What a shell says of a program that cannot be started.
const CANNOT_START: u8 = 127;

/// A long-running child whose output goes to files, so that it outlives us.
#[derive(Debug)]
pub(crate) struct Guarded<'a> {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) dir: &'a Path,
    /// All that it sees of our environment.
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) stdout: &'a Path,
    pub(crate) stderr: &'a Path,
    /// In bytes, for each of the two.
    pub(crate) most_output: u64,
    pub(crate) limit: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Code(i32),
    TimedOut,
    /// It printed more than it may.
    Flooded,
}

impl Guarded<'_> {
    /// Runs it to its end, or to ours. `began` hears the process id of the group.
    pub(crate) fn run(
        &self,
        _: Permit,
        files: (File, File),
        began: impl FnOnce(u32),
    ) -> io::Result<Ended> {
        #[expect(clippy::disallowed_methods, reason = "this is one of the two doors")]
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg(VERB)
            .arg(&self.program)
            .args(&self.args)
            .current_dir(self.dir)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env(name::DEPTH, "1")
            .stdin(Stdio::piped())
            .stdout(files.0)
            .stderr(files.1);
        lead_group(&mut command);
        let mut child = command.spawn()?;
        // Held open for as long as we live.
        let lifeline = child.stdin.take();
        began(child.id());
        let ended = self.wait(&mut child);
        match ended {
            // The guard has ended whatever was left behind, unless it was killed itself.
            Ok(Ended::Code(_)) => end_group(child.id()),
            Ok(Ended::TimedOut | Ended::Flooded) | Err(_) => end_tree(child.id()),
        }
        let _ = child.wait();
        drop(lifeline);
        ended
    }

    fn wait(&self, child: &mut Child) -> io::Result<Ended> {
        let start = Instant::now();
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
            // A review takes minutes; a failed start should not.
            let pause = if waited < Duration::from_secs(1) {
                5
            } else {
                50
            };
            std::thread::sleep(Duration::from_millis(pause).min(self.limit.saturating_sub(waited)));
        }
    }
}

/// The guard itself: `mainspring __guard PROGRAM ARGS…`, its stdin the lifeline.
pub(crate) fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(program) = args.next() else {
        return ExitCode::from(CANNOT_START);
    };
    adopt_orphans();
    #[expect(clippy::disallowed_methods, reason = "the other side of that door")]
    let child = Command::new(&program)
        .args(args)
        .stdin(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            output::stderr(&format!("cannot start {}: {error}", program.display()));
            return ExitCode::from(CANNOT_START);
        }
    };
    std::thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        end_below(std::process::id());
        end_own_group();
    });
    let ended = child.wait();
    end_below(std::process::id());
    match ended {
        Ok(status) => ExitCode::from(u8::try_from(exit_code(status)).unwrap_or(u8::MAX)),
        Err(_) => ExitCode::from(CANNOT_START),
    }
}
