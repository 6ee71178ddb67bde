//! A program in a terminal: a test types into it and reads the screen.
//!
//! Each [`Terminal`] is a tmux server of its own, on a socket of its own, and is
//! ended with everything in it when dropped.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::process::{Finished, PATIENCE, POLL, Running};

/// Wide enough not to wrap the texts that tests look for.
const COLUMNS: &str = "160";
const ROWS: &str = "50";
/// How long a program may take to end once the terminal is gone.
const HANG_UP_LIMIT: Duration = Duration::from_secs(5);
const PROCESS_ID: [&str; 3] = ["list-panes", "-F", "#{pane_pid}"];

/// A running program and its screen.
#[derive(Debug)]
pub struct Terminal {
    /// Keeps the socket's folder.
    folder: TempDir,
}

impl Terminal {
    /// Starts `command`, with its environment and directory, in a terminal.
    pub fn start(command: &Command) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let terminal = Self { folder };
        let mut tmux = terminal.tmux();
        // The server's environment is the program's.
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                tmux.env(name, value);
            }
        }
        tmux.args([
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            COLUMNS,
            "-y",
            ROWS,
        ]);
        if let Some(project) = command.get_current_dir() {
            tmux.arg("-c").arg(project);
        }
        tmux.arg("--")
            .arg(command.get_program())
            .args(command.get_args());
        let started = run(&mut tmux);
        assert!(started.succeeded(), "tmux: {}", started.stderr_text());
        terminal
    }

    /// Types `text`, then Enter.
    pub fn enter(&self, text: &str) {
        self.type_text(text);
        self.press("Enter");
    }

    /// Types `text` as it is.
    pub fn type_text(&self, text: &str) {
        self.answer(&["send-keys", "-l", "--", text]);
    }

    /// Presses a key by tmux's name for it: `Enter`, `Escape`, `C-c`.
    pub fn press(&self, key: &str) {
        self.answer(&["send-keys", key]);
    }

    /// What is on the screen now.
    pub fn screen(&self) -> String {
        self.answer(&["capture-pane", "-p", "-J"])
    }

    /// The same, with the escape sequences of its colours.
    pub fn coloured(&self) -> String {
        self.answer(&["capture-pane", "-p", "-e"])
    }

    /// Waits until `text` is on the screen, and returns the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("{text:?} is shown"), |screen| {
            screen.contains(text)
        })
    }

    /// Waits until `wanted` holds for the screen.
    #[track_caller]
    pub fn wait_until(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if wanted(&screen) {
                return screen;
            }
            assert!(Instant::now() < deadline, "waited until {what}:\n{screen}");
            thread::sleep(POLL * 5);
        }
    }

    /// Waits until the program has ended by itself.
    #[track_caller]
    pub fn wait_for_end(self) {
        let deadline = Instant::now() + PATIENCE;
        while run(self.tmux().arg("has-session")).succeeded() {
            assert!(Instant::now() < deadline, "still there:\n{}", self.screen());
            thread::sleep(POLL * 5);
        }
    }

    /// The program's process id.
    pub fn process_id(&self) -> u32 {
        let id = self.answer(&PROCESS_ID);
        id.trim().parse().expect("tmux names the process")
    }

    #[track_caller]
    fn answer(&self, args: &[&str]) -> String {
        let done = run(self.tmux().args(args));
        assert!(done.succeeded(), "tmux {args:?}: {}", done.stderr_text());
        done.stdout_text()
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .arg("-S")
            .arg(self.folder.path().join("socket"));
        tmux
    }
}

impl Drop for Terminal {
    /// Hangs up, as closing a window does, and waits for the program to end: it
    /// may still write into a home that the test is about to remove.
    fn drop(&mut self) {
        let asked = run(self.tmux().args(PROCESS_ID));
        // Both fail when the program has ended by itself.
        let _ = run(self.tmux().arg("kill-server"));
        let Ok(id) = asked.stdout_text().trim().parse() else {
            return;
        };
        let deadline = Instant::now() + HANG_UP_LIMIT;
        while is_running(id) && Instant::now() < deadline {
            thread::sleep(POLL);
        }
        if let Some(id) = Pid::from_raw(id).filter(|_| is_running(id)) {
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

/// Is the process alive? One that has ended but was not waited for is not.
fn is_running(id: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may hold any.
    let state = status
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

fn run(tmux: &mut Command) -> Finished {
    Running::start(tmux).wait(PATIENCE)
}
