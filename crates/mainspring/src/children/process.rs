//! Starts children: from an argument list, never a shell; in a process group of their own; with
//! a deadline and a limit on their output.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use mainspring_platform::process::{Group, end_process};

use mainspring_store::ShownPath as _;

use crate::children::guard::Keeper;
use crate::children::permit::{GLANCE, Permit, Revoked};
use crate::env::name;
use crate::limits;

/// Most children have ended by then, and need no keeper.
const MOMENT: Duration = Duration::from_millis(25);

/// What to run. The child inherits nothing of our environment: it gets the variables that are
/// given here, and our depth variable, so that a hook in it does nothing.
#[derive(Debug)]
pub(crate) struct Job {
    permit: Permit,
    command: Command,
    limit: Duration,
    stdin: Vec<u8>,
    most_output: u64,
    /// A file that would keep the child waiting.
    obstacle: Option<PathBuf>,
    /// Finds such a file, if the child takes long.
    search: Option<(Search, PathBuf)>,
}

/// Finds a file below a folder that keeps a child waiting.
type Search = fn(&Path) -> Option<PathBuf>;

/// So long a child may take before anybody asks what it waits for.
const LONG: Duration = Duration::from_secs(1);

/// The exit code and the output of a child that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Finished {
    /// How the child ended, for a message.
    pub(crate) fn ending(&self) -> String {
        match self.code {
            Some(code) => format!("exit code {code}"),
            None => "a signal".into(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot start {program}: {source}")]
    Start { program: String, source: io::Error },
    #[error("{program} took longer than {} s and was ended", limit.as_secs())]
    Timeout { program: String, limit: Duration },
    #[error("{program} was ended, because a person stopped or paused this")]
    Cancelled { program: String },
    #[error("{program} cannot read {}: it is no regular file. Delete it", path.shown())]
    Obstacle { program: String, path: PathBuf },
    #[error("cannot wait for {program}: {source}")]
    Wait { program: String, source: io::Error },
    #[error(
        "git was not started: the repository's own setting {setting} leads its connections \
         elsewhere, and nobody has trusted this project. If you know that setting, run \
         `mainspring trust`; otherwise run `git config --unset-all {setting}`"
    )]
    Redirected { setting: String },
}

type Ended = io::Result<ExitStatus>;

/// Runs a pager for the person at the terminal, and gives it this text. Whoever leaves the pager
/// has seen enough.
pub(crate) fn fed(_: &Permit, words: &[String], text: &str) -> io::Result<()> {
    let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    #[expect(
        clippy::disallowed_methods,
        reason = "children start here and in guard.rs"
    )]
    let mut command = Command::new(program);
    // Colours as they are, and no pager for what fits the window after all.
    let mut child = command
        .args(args)
        .env("LESS", "FRX")
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(text.as_bytes());
    }
    child.wait().map(drop)
}

/// Runs a program for the person at the terminal, such as their editor, with this file as its
/// last argument: it has the terminal, and takes as long as the person does.
pub(crate) fn attended(_: &Permit, words: &[String], file: &Path) -> Ended {
    let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    #[expect(
        clippy::disallowed_methods,
        reason = "children start here and in guard.rs"
    )]
    Command::new(program).args(args).arg(file).status()
}

impl Job {
    pub(crate) fn new(permit: Permit, program: impl AsRef<OsStr>, limit: Duration) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "children start here and in guard.rs"
        )]
        let mut command = Command::new(program);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env_clear()
            .env(name::DEPTH, "1");
        Self {
            permit,
            command,
            limit,
            stdin: Vec::new(),
            most_output: limits::CHILD_OUTPUT,
            obstacle: None,
            search: None,
        }
    }

    /// The child is not started if there is one: it would wait without end.
    #[must_use]
    pub(crate) fn obstacle(mut self, path: Option<PathBuf>) -> Self {
        self.obstacle = path;
        self
    }

    /// Looks below this folder for what the child waits for, if it takes long.
    #[must_use]
    pub(crate) fn search(mut self, search: Search, folder: &Path) -> Self {
        self.search = Some((search, folder.to_owned()));
        self
    }

    /// Keeps more of what it prints, or less. The rest is dropped.
    #[must_use]
    pub(crate) fn most_output(mut self, bytes: u64) -> Self {
        self.most_output = bytes;
        self
    }

    #[must_use]
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    #[must_use]
    pub(crate) fn current_dir(mut self, dir: &Path) -> Self {
        self.command.current_dir(dir);
        self
    }

    #[must_use]
    pub(crate) fn env<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        mut self,
        vars: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.command.envs(vars).env(name::DEPTH, "1");
        self
    }

    /// Starts it as a host starts a hook: without our mark, so that the hook answers.
    #[must_use]
    pub(crate) fn like_a_host(mut self) -> Self {
        self.command.env_remove(name::DEPTH);
        self
    }

    #[must_use]
    pub(crate) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.command.stdin(Stdio::piped());
        self.stdin = bytes;
        self
    }

    /// Waits until the child ends, or ends it at its deadline or when a person's order revokes
    /// its permit. Processes that it left in its
    /// group are ended, too. A process with a session of its own (a connection that `ssh` keeps
    /// open) lives on, and nobody waits for it.
    pub(crate) fn run(mut self) -> Result<Finished, Failure> {
        let program = self.program();
        if self.permit.check() == Err(Revoked) {
            return Err(Failure::Cancelled { program });
        }
        if let Some(path) = self.obstacle.take() {
            return Err(Failure::Obstacle { program, path });
        }
        let (mut child, group) =
            Group::start(&mut self.command).map_err(|source| Failure::Start {
                program: program.clone(),
                source,
            })?;
        feed(child.stdin.take(), std::mem::take(&mut self.stdin));
        let stdout = collect(child.stdout.take(), self.most_output);
        let stderr = collect(child.stderr.take(), self.most_output);
        let leader = child.id();
        let (ended, wait) = mpsc::sync_channel(1);
        let waiter = std::thread::spawn(move || {
            let _ = ended.send(child.wait());
        });
        let status = self.wait(&wait, leader);
        group.end();
        let status = match status {
            Ok(status) => status,
            Err(failure) => {
                // A child that has left its group is not ended with the group. From here on,
                // nobody waits for its end or its output.
                end_process(leader);
                return Err(failure);
            }
        };
        let _ = waiter.join();
        let status = status.map_err(|source| Failure::Wait { program, source })?;
        let enough = Instant::now() + limits::LAST_WORDS;
        Ok(Finished {
            code: status.code(),
            stdout: stdout.until(enough),
            stderr: stderr.until(enough),
        })
    }

    /// Waits for the end of the child, or for a reason to end it. If it takes longer than a moment,
    /// it is kept from outliving us.
    fn wait(&mut self, ended: &mpsc::Receiver<Ended>, leader: u32) -> Result<Ended, Failure> {
        let start = Instant::now();
        if let Ok(status) = ended.recv_timeout(self.limit.min(MOMENT)) {
            return Ok(status);
        }
        let program = self.program();
        let limit = self.limit;
        let (tell, found) = mpsc::sync_channel(1);
        let _keeper = Keeper::start(leader);
        loop {
            let left = self.limit.saturating_sub(start.elapsed());
            match ended.recv_timeout(left.min(GLANCE)) {
                Ok(status) => return Ok(status),
                Err(_) if left.is_zero() => return Err(Failure::Timeout { program, limit }),
                Err(_) if self.permit.check() == Err(Revoked) => {
                    return Err(Failure::Cancelled { program });
                }
                Err(_) => {}
            }
            if let Ok(path) = found.try_recv() {
                return Err(Failure::Obstacle { program, path });
            }
            let is_long = start.elapsed() >= LONG;
            if let Some((search, folder)) = self.search.take_if(|_| is_long) {
                let tell = tell.clone();
                std::thread::spawn(move || search(&folder).map(|path| tell.send(path)));
            }
        }
    }

    fn program(&self) -> String {
        let program: OsString = self.command.get_program().into();
        program.to_string_lossy().into_owned()
    }
}

/// Writes in a thread, because a child may print before it reads. If the child exits without
/// reading everything, its exit code and output say why.
fn feed(pipe: Option<impl Write + Send + 'static>, bytes: Vec<u8>) {
    if let Some(mut pipe) = pipe {
        std::thread::spawn(move || {
            let _ = pipe.write_all(&bytes);
        });
    }
}

/// What a pipe has delivered so far.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    ended: mpsc::Receiver<()>,
}

impl Output {
    /// Everything, or, if another process still holds the pipe at `enough`, what arrived until
    /// then. A grandchild in a session of its own may hold the pipe for hours.
    fn until(self, enough: Instant) -> Vec<u8> {
        let left = enough.saturating_duration_since(Instant::now());
        let _ = self.ended.recv_timeout(left);
        std::mem::take(&mut lock(&self.kept))
    }
}

/// Reads a pipe in a thread. Bytes over the limit are read and dropped, so that the child does
/// not block on a full pipe.
fn collect(mut pipe: Option<impl Read + Send + 'static>, most: u64) -> Output {
    let (end, ended) = mpsc::sync_channel(1);
    let kept = Arc::new(Mutex::new(Vec::new()));
    let output = Output {
        kept: Arc::clone(&kept),
        ended,
    };
    std::thread::spawn(move || {
        let mut chunk = [0; 8192];
        while let Some(Ok(read @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut chunk)) {
            let mut kept = lock(&kept);
            let room = usize::try_from(most).unwrap_or(usize::MAX) - kept.len();
            kept.extend_from_slice(&chunk[..read.min(room)]);
        }
        let _ = end.send(());
    });
    output
}

/// Nobody panics while holding this lock; even after a panic, the bytes that were read are
/// valid.
fn lock(kept: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use mainspring_testkit::process::PATIENCE;

    use super::*;

    #[test]
    fn a_childs_words_and_code_come_back() {
        let job = Job::new(Permit::for_test(), "/bin/sh", PATIENCE).args([
            "-c",
            "echo out; echo err >&2; echo $MAINSPRING_DEPTH; exit 3",
        ]);
        let finished = job.run().unwrap();
        assert_eq!(finished.code, Some(3));
        assert_eq!(finished.stdout, b"out\n1\n");
        assert_eq!(finished.stderr, b"err\n");
    }

    #[test]
    fn a_child_gets_what_it_is_given_and_nothing_else() {
        let big = vec![b'x'; 200_000];
        let job = Job::new(Permit::for_test(), "/bin/sh", PATIENCE)
            .args(["-c", "wc -c; env | grep -v ^_= | sort"])
            .env([("PATH", "/usr/bin:/bin"), ("TITLE", "$(id) '")])
            .stdin(big);
        let said = String::from_utf8(job.run().unwrap().stdout).unwrap();
        let names: Vec<&str> = said
            .lines()
            .filter(|line| !line.starts_with("PWD="))
            .collect();
        assert_eq!(
            names,
            [
                "200000",
                "MAINSPRING_DEPTH=1",
                "PATH=/usr/bin:/bin",
                "TITLE=$(id) '"
            ]
        );
    }

    #[test]
    fn a_grandchild_that_keeps_the_pipe_open_does_not_keep_us() {
        let job =
            Job::new(Permit::for_test(), "/bin/sh", PATIENCE).args(["-c", "sleep 1000 & echo out"]);
        assert_eq!(job.run().unwrap().stdout, b"out\n");
    }

    #[test]
    fn one_that_takes_too_long_is_ended() {
        let job = Job::new(Permit::for_test(), "/bin/sh", Duration::from_millis(50))
            .args(["-c", "sleep 1000"]);
        assert!(matches!(job.run(), Err(Failure::Timeout { .. })));
    }

    #[test]
    fn a_flood_is_cut_and_a_missing_program_named() {
        let job = Job::new(Permit::for_test(), "/bin/sh", PATIENCE)
            .args(["-c", "head -c 8000000 /dev/zero"]);
        assert_eq!(job.run().unwrap().stdout.len() as u64, limits::CHILD_OUTPUT);
        let error = Job::new(Permit::for_test(), "/nonexistent/program", PATIENCE)
            .run()
            .unwrap_err();
        assert!(error.to_string().contains("/nonexistent/program"));
    }
}
