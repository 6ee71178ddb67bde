//! A program in a terminal that a test types into and looks at.
//!
//! Each [`Terminal`] is a tmux server of its own, on a socket of its own, and is
//! ended with everything in it when dropped.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::process::{Finished, POLL, Running};

/// Wide enough that what a test looks for is not wrapped.
const COLUMNS: &str = "160";
const ROWS: &str = "50";
/// What one command of tmux may take.
const TMUX_LIMIT: Duration = Duration::from_secs(10);
/// What a screen may take to change.
const SCREEN_LIMIT: Duration = Duration::from_secs(30);

/// A running program and its screen.
#[derive(Debug)]
pub struct Terminal {
    /// Holds the socket.
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

    /// Waits until `text` is on the screen, and returns the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("{text:?} is shown"), |screen| {
            screen.contains(text)
        })
    }

    /// Waits until the screen is as `wanted` says.
    #[track_caller]
    pub fn wait_until(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + SCREEN_LIMIT;
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
        let deadline = Instant::now() + SCREEN_LIMIT;
        while run(self.tmux().arg("has-session")).succeeded() {
            assert!(Instant::now() < deadline, "still there:\n{}", self.screen());
            thread::sleep(POLL * 5);
        }
    }

    /// The program's process id.
    pub fn process_id(&self) -> u32 {
        let id = self.answer(&["list-panes", "-F", "#{pane_pid}"]);
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
    fn drop(&mut self) {
        // Already gone when the program ended by itself.
        let _ = run(self.tmux().arg("kill-server"));
    }
}

fn run(tmux: &mut Command) -> Finished {
    Running::start(tmux).wait(TMUX_LIMIT)
}
