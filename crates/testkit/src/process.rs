//! Children with a deadline and a process group of their own.

use std::io::{Read, Write};
use std::mem;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// The limit for a child's output; the rest is dropped.
const OUTPUT_LIMIT: usize = 64 << 20;
/// The time between asking a group to end and killing it.
const GRACE: Duration = Duration::from_secs(1);
/// How long to wait for the output of a child that has ended, while a grandchild keeps the pipe
/// open.
const OUTPUT_GRACE: Duration = Duration::from_secs(3);
/// How long to wait for something that happens in any case. It only ends a test that would never
/// end: a busy machine must not make a test fail.
pub const PATIENCE: Duration = Duration::from_secs(180);
/// How often a waiting test looks.
pub(crate) const POLL: Duration = Duration::from_millis(10);

/// Waits until the condition holds; fails with `what` if it never does.
#[track_caller]
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "waited until {what}");
        thread::sleep(POLL);
    }
}

/// A child that is still running. Dropping it ends its group.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: Printed,
    stderr: Printed,
    started: Instant,
    ended: bool,
}

/// The result of a child.
#[derive(Debug)]
#[must_use]
pub struct Finished {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub duration: Duration,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    Exited(ExitStatus),
    /// It was still running at the deadline, and was killed.
    DeadlinePassed,
}

impl Running {
    /// Starts `command` in a process group of its own, with nothing on stdin.
    pub fn start(command: &mut Command) -> Self {
        Self::spawn(command.stdin(Stdio::null()))
    }

    /// The same, with `input` on stdin: a payload for a hook.
    pub fn start_with(command: &mut Command, input: impl Into<Vec<u8>>) -> Self {
        let mut running = Self::spawn(command.stdin(Stdio::piped()));
        let mut stdin = running.child.stdin.take().expect("stdin is piped");
        let input = input.into();
        thread::spawn(move || {
            // It may decide without reading all of it.
            let _ = stdin.write_all(&input);
        });
        running
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "{} does not start: {error}",
                    command.get_program().display()
                )
            });
        let stdout = Printed::follow(child.stdout.take().expect("stdout is piped"));
        let stderr = Printed::follow(child.stderr.take().expect("stderr is piped"));
        Self {
            child,
            stdout,
            stderr,
            started: Instant::now(),
            ended: false,
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end, or kills the group at the deadline.
    pub fn wait(mut self, limit: Duration) -> Finished {
        let end = match self.exit_within(limit) {
            Some(status) => End::Exited(status),
            None => End::DeadlinePassed,
        };
        let duration = self.started.elapsed();
        self.end_group();
        Finished {
            end,
            stdout: self.stdout.take(),
            stderr: self.stderr.take(),
            duration,
        }
    }

    /// Kills the group, as a crash would.
    pub fn kill(mut self) {
        self.signal(Signal::KILL);
        self.end_group();
    }

    fn exit_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().expect("the child is ours") {
                return Some(status);
            }
            if Instant::now() >= deadline {
                return None;
            }
            thread::sleep(POLL);
        }
    }

    /// Ends whatever is left of the group. It is asked first, because a client that is asked ends
    /// its own children, which may be in groups of their own.
    fn end_group(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        self.signal(Signal::TERM);
        if self.exit_within(GRACE).is_none() {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        } else {
            self.signal(Signal::KILL);
        }
    }

    fn signal(&self, signal: Signal) {
        signal_group(&self.child, signal);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end_group();
    }
}

/// A server that a test talks to while it runs. Dropping it ends its group.
#[derive(Debug)]
pub struct Held {
    child: Child,
}

impl Held {
    /// Starts `command` in a process group of its own, with nothing on stdin.
    pub fn start(command: &mut Command) -> Self {
        Self::start_with(command, Stdio::null())
    }

    /// The same, with something on stdin.
    pub fn start_with(command: &mut Command, stdin: impl Into<Stdio>) -> Self {
        let program = command.get_program().display().to_string();
        let child = command.process_group(0).stdin(stdin).spawn();
        Self {
            child: child.unwrap_or_else(|error| panic!("{program} does not start: {error}")),
        }
    }

    /// Its output, if it was piped and not taken yet.
    pub fn stdout(&mut self) -> std::process::ChildStdout {
        self.child.stdout.take().expect("stdout is piped")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        signal_group(&self.child, Signal::KILL);
        let _ = self.child.wait();
    }
}

fn signal_group(child: &Child, signal: Signal) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // No such group: all of it is gone already.
        let _ = kill_process_group(group, signal);
    }
}

impl Finished {
    pub fn succeeded(&self) -> bool {
        matches!(self.end, End::Exited(status) if status.success())
    }

    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// What a child has printed so far, and whether it can still print.
#[derive(Debug)]
struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    finished: Receiver<()>,
}

impl Printed {
    fn follow(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (finish, finished) = mpsc::channel();
        let shared = Arc::clone(&bytes);
        thread::spawn(move || {
            let mut chunk = [0; 8 << 10];
            // What came before an error is still worth showing.
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                let mut held = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let room = OUTPUT_LIMIT.saturating_sub(held.len());
                held.extend_from_slice(&chunk[..length.min(room)]);
            }
            let _ = finish.send(());
        });
        Self { bytes, finished }
    }

    /// All of it; but if a grandchild out of reach keeps the pipe open, only what there is.
    fn take(&self) -> Vec<u8> {
        let _ = self.finished.recv_timeout(OUTPUT_GRACE);
        mem::take(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
