//! A process whose reads and writes of files are watched, and asked of the kernel for fewer
//! bytes than it asks for. Of the process itself, as strace is used here without `-f`, not
//! of its children.

use std::fmt;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command};

use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::deadline;
use super::lab::Ran;

/// It waits for its tracer before it becomes what is traced.
pub(super) const STARTER: [&str; 4] = ["sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"];

/// Which calls are asked for less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Nothing,
    /// One call, by its number.
    One {
        number: usize,
        bytes: u64,
    },
    /// Every call.
    All {
        bytes: u64,
    },
}

impl Cut {
    fn of(self, number: usize) -> Option<u64> {
        match self {
            Self::All { bytes } => Some(bytes),
            Self::One { number: at, bytes } => (at == number).then_some(bytes),
            Self::Nothing => None,
        }
    }
}

/// A read or a write, of more than a byte, of a regular file.
#[derive(Debug)]
pub(super) struct Call {
    name: &'static str,
    file: PathBuf,
    asked: u64,
    /// What it was cut to.
    cut: Option<u64>,
    /// How many bytes came of it.
    came: u64,
}

impl Call {
    /// It did as much as it was cut to, and would have done more.
    pub(super) fn was_cut(&self) -> bool {
        self.cut == Some(self.came)
    }

    pub(super) fn has_more_than(&self, bytes: u64) -> bool {
        self.came > bytes
    }

    /// Numbers of bytes that are fewer than those that came of it.
    pub(super) fn less(&self) -> Vec<u64> {
        match self.came {
            0 | 1 => Vec::new(),
            2 | 3 => vec![1],
            more => vec![1, more / 2],
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        write!(f, "{} bytes at a {} of {file}", self.came, self.name)
    }
}

/// Runs the command, which begins with `STARTER`, to its end: how it ended, and what it did
/// with files.
pub(super) fn run(command: &mut Command, cut: Cut) -> (Ran, Vec<Call>) {
    let ((mut ran, calls), overdue) = deadline::watched(command, |child| watch(child, cut));
    ran.overdue = overdue;
    (ran, calls)
}

/// No call is made through the standard library's `Child`: what it waits for is ours.
fn watch(mut child: Child, cut: Cut) -> (Ran, Vec<Call>) {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process's number"));
    let stopped = waitpid(pid, Some(WaitPidFlag::WUNTRACED)).expect("a child of ours");
    assert_eq!(stopped, WaitStatus::Stopped(pid, Signal::SIGSTOP));
    let options =
        Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL;
    ptrace::seize(pid, options).expect("a child of ours");
    // Its stop ends for its tracer alone; threads that it makes would be born stopped.
    kill(pid, Signal::SIGCONT).expect("a child of ours");
    let mut watch = Watch {
        pid,
        cut,
        begun: false,
        within: false,
        calls: Vec::new(),
    };
    let code = watch.follow();
    let mut ran = Ran {
        code,
        ..Ran::default()
    };
    // All that it prints fits into a pipe, or it would not have ended.
    let read = |pipe: Option<&mut dyn Read>, text: &mut String| {
        let mut bytes = Vec::new();
        pipe.expect("it is piped")
            .read_to_end(&mut bytes)
            .expect("a pipe");
        *text = String::from_utf8_lossy(&bytes).into_owned();
    };
    read(child.stdout.as_mut().map(|pipe| pipe as _), &mut ran.stdout);
    read(child.stderr.as_mut().map(|pipe| pipe as _), &mut ran.stderr);
    (ran, watch.calls)
}

struct Watch {
    pid: Pid,
    cut: Cut,
    /// It is the program itself, no longer its starter.
    begun: bool,
    /// It is in the last call of the list.
    within: bool,
    calls: Vec<Call>,
}

impl Watch {
    fn follow(&mut self) -> Option<i32> {
        loop {
            let signal = match waitpid(self.pid, None).expect("a child of ours") {
                WaitStatus::Exited(_, code) => return Some(code),
                WaitStatus::Signaled(..) => return None,
                WaitStatus::PtraceSyscall(_) if self.begun => {
                    self.at_a_call();
                    None
                }
                WaitStatus::PtraceEvent(_, _, event) => {
                    self.begun |= event == nix::libc::PTRACE_EVENT_EXEC;
                    None
                }
                WaitStatus::Stopped(_, signal) => Some(signal),
                WaitStatus::PtraceSyscall(_)
                | WaitStatus::Continued(_)
                | WaitStatus::StillAlive => None,
            };
            // It may have been ended just now: the next wait says so.
            let _ = ptrace::syscall(self.pid, signal);
        }
    }

    /// It enters a call, or comes back from one.
    fn at_a_call(&mut self) {
        let Ok(mut registers) = ptrace::getregs(self.pid) else {
            return;
        };
        let result = registers.rax.cast_signed();
        if self.within {
            self.within = false;
            let call = self.calls.last_mut().expect("it is within one");
            call.came = u64::try_from(result).unwrap_or(0);
            // Whoever made the call finds its registers as they were.
            registers.rdx = call.asked;
            let _ = ptrace::setregs(self.pid, registers);
            return;
        }
        let name = match registers.orig_rax.cast_signed() {
            nix::libc::SYS_read => "read",
            nix::libc::SYS_pread64 => "pread64",
            nix::libc::SYS_write => "write",
            nix::libc::SYS_pwrite64 => "pwrite64",
            _ => return,
        };
        let entering = result == -i64::from(nix::libc::ENOSYS);
        let open = format!("/proc/{}/fd/{}", self.pid, registers.rdi);
        let is_file = || fs::metadata(&open).is_ok_and(|meta| meta.is_file());
        if !entering || registers.rdx < 2 || !is_file() {
            return;
        }
        let cut = self.cut.of(self.calls.len());
        self.calls.push(Call {
            name,
            file: fs::read_link(&open).unwrap_or_default(),
            asked: registers.rdx,
            cut,
            came: 0,
        });
        if let Some(bytes) = cut.filter(|bytes| *bytes < registers.rdx) {
            registers.rdx = bytes;
            let _ = ptrace::setregs(self.pid, registers);
        }
        self.within = true;
    }
}
