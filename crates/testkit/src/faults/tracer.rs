//! A process whose reads and writes of files are watched and shortened: the kernel is asked for
//! fewer bytes. Like strace without `-f`, this covers the process itself, not its children.

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

/// A starter that waits for its tracer before it becomes the traced program.
pub(super) const STARTER: [&str; 4] = ["sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"];

/// Which calls are shortened.
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
    /// The length that it was shortened to.
    cut: Option<u64>,
    /// How many bytes it transferred.
    came: u64,
}

impl Call {
    /// It transferred as much as it was shortened to, and would have transferred more.
    pub(super) fn was_cut(&self) -> bool {
        self.cut == Some(self.came)
    }

    pub(super) fn has_more_than(&self, bytes: u64) -> bool {
        self.came > bytes
    }

    /// Lengths that are shorter than what it transferred.
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

/// Runs the command, which starts with `STARTER`, to its end. Returns how it ended, and what it did
/// with files.
pub(super) fn run(command: &mut Command, cut: Cut) -> (Ran, Vec<Call>) {
    let ((mut ran, calls), overdue) = deadline::watched(command, |child| watch(child, cut));
    ran.overdue = overdue;
    (ran, calls)
}

/// The standard library's `Child` is not used to wait, because we wait for it ourselves.
fn watch(mut child: Child, cut: Cut) -> (Ran, Vec<Call>) {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process's number"));
    let stopped = waitpid(pid, Some(WaitPidFlag::WUNTRACED)).expect("a child of ours");
    assert_eq!(stopped, WaitStatus::Stopped(pid, Signal::SIGSTOP));
    let options =
        Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL;
    ptrace::seize(pid, options).expect("a child of ours");
    // The stop ends only for its tracer; threads that it creates would start stopped.
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
    // All its output fits into a pipe, or it would not have ended.
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
    /// Is it the program itself, and no longer its starter?
    begun: bool,
    /// Is it in the last call of the list?
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
            // It may have been killed just now; the next wait says so.
            let _ = ptrace::syscall(self.pid, signal);
        }
    }

    /// It enters a call, or returns from one.
    fn at_a_call(&mut self) {
        let Ok(mut registers) = ptrace::getregs(self.pid) else {
            return;
        };
        let result = registers.rax.cast_signed();
        if self.within {
            self.within = false;
            let call = self.calls.last_mut().expect("it is within one");
            call.came = u64::try_from(result).unwrap_or(0);
            // The program must find its registers unchanged.
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
