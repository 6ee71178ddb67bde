//! The clients in a terminal: how each is started, and what its screen says.
//!
//! Nothing waits for a time: the screen says when a client is ready, and the model's next request,
//! or whatever a caller names, that a line was taken.

use std::thread;
use std::time::{Duration, Instant};

use super::{Host, HostClient};
use crate::process::{PATIENCE, POLL};
use crate::tmux::Terminal;

/// The client in a terminal.
struct Screen {
    args: &'static [&'static str],
    /// What it asks first; Enter says yes.
    question: Option<&'static str>,
    /// What it shows when it waits for a prompt.
    ready: &'static str,
    /// What it shows while the agent works.
    busy: &'static str,
    /// The key that interrupts the agent, and what it shows then.
    interrupt: (&'static str, &'static str),
    /// How long it may take to heed that key, before it is pressed again.
    patience: Duration,
    /// The command that begins a new session.
    clear: &'static str,
}

/// Without it Claude Code asks in a terminal which mode is to be the default.
const MODE: &str = r#"{"permissions": {"defaultMode": "default", "allow": ["Bash"]}}"#;

const CLAUDE: Screen = Screen {
    args: &["--model", "sonnet", "--settings", MODE],
    question: None,
    ready: "mode on",
    busy: "esc to interrupt",
    interrupt: ("Escape", "Interrupted"),
    patience: AGAIN,
    clear: "/clear",
};

const CODEX: Screen = Screen {
    args: &[
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "--disable",
        "daemon_auto_start",
    ],
    question: None,
    ready: "YOLO mode",
    busy: "esc to interrupt",
    interrupt: ("Escape", "Conversation interrupted"),
    patience: AGAIN,
    clear: "/clear",
};

const GEMINI: Screen = Screen {
    args: &["-y", "--skip-trust"],
    question: None,
    ready: "Type your message",
    busy: "esc to cancel",
    interrupt: ("Escape", "Request cancelled"),
    patience: AGAIN,
    clear: "/clear",
};

const QWEN: Screen = Screen {
    args: &["-y"],
    question: None,
    ready: "Type your message",
    busy: "esc to cancel",
    interrupt: ("Escape", "Request cancelled"),
    patience: AGAIN,
    clear: "/clear",
};

const COPILOT: Screen = Screen {
    args: &["--allow-all-tools"],
    question: Some("1. Yes"),
    ready: "/ commands",
    busy: "Working",
    interrupt: ("Escape", "ancelled"),
    patience: TWICE,
    clear: "/clear",
};

const DROID: Screen = Screen {
    args: &[],
    question: Some("Trust this folder"),
    ready: "for help",
    busy: "ESC to stop",
    interrupt: ("Escape", "Request cancelled"),
    patience: AGAIN,
    clear: "/clear",
};

const GROK: Screen = Screen {
    args: &["--always-approve", "-m", "fake"],
    question: None,
    ready: "❯",
    busy: "[stop]",
    interrupt: ("C-c", "ancelled"),
    patience: AGAIN,
    clear: "/clear",
};

const OPENCODE: Screen = Screen {
    args: &["--auto"],
    question: None,
    ready: "Ask anything",
    busy: "esc interrupt",
    interrupt: ("Escape", "nterrupted"),
    patience: TWICE,
    clear: "/new",
};

const PI: Screen = Screen {
    args: &["--offline", "--provider", "fake", "--model", "fake-model"],
    question: None,
    ready: "fake-model",
    busy: "Working",
    interrupt: ("Escape", "Operation aborted"),
    patience: AGAIN,
    clear: "/new",
};

fn screen(host: Host) -> Screen {
    match host {
        Host::Claude => CLAUDE,
        Host::Codex => CODEX,
        Host::Gemini => GEMINI,
        Host::Qwen => QWEN,
        Host::Copilot => COPILOT,
        Host::Droid => DROID,
        Host::Grok => GROK,
        Host::Opencode => OPENCODE,
        Host::Pi => PI,
    }
}

/// A client in a terminal, which a person types into.
#[derive(Debug)]
pub struct Window {
    host: Host,
    terminal: Terminal,
}

/// How long a client may take to heed a key, before it is pressed again: right after a text, some
/// take Enter for a part of what was pasted.
const AGAIN: Duration = Duration::from_secs(2);
/// Some want Escape twice within half a second, but not so close that both are read as one.
const TWICE: Duration = Duration::from_millis(200);

impl HostClient {
    /// The client in a terminal, ready for a prompt.
    pub fn interactive(&self) -> Window {
        self.interactive_with(&[])
    }

    /// The same, with more arguments.
    pub fn interactive_with(&self, more: &[&str]) -> Window {
        let screen = screen(self.host);
        let mut command = self.command(&self.program);
        let terminal = Terminal::start(command.args(screen.args).args(more));
        if let Some(question) = screen.question {
            terminal.wait_for(question);
            terminal.press("Enter");
        }
        terminal.wait_for(screen.ready);
        Window {
            host: self.host,
            terminal,
        }
    }
}

impl Window {
    /// Types a line and sends it: until `has_effect`.
    pub fn enter(&self, line: &str, has_effect: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        self.terminal.type_text(line);
        // What comes right after another key may be taken for a part of that: it is typed anew.
        while !is_within(AGAIN, &|| self.shows(line)) {
            let screen = || self.terminal.screen();
            assert!(Instant::now() < deadline, "{line:?} is lost:\n{}", screen());
            self.terminal.press("C-u");
            self.terminal.type_text(line);
        }
        self.press_until("Enter", AGAIN, has_effect);
    }

    /// Begins a new session by the client's command: until `has_begun`.
    pub fn clear(&self, has_begun: impl Fn() -> bool) {
        self.enter(screen(self.host).clear, has_begun);
    }

    /// Waits until the agent has begun to say this, and interrupts it.
    pub fn interrupt(&self, said: &str) {
        let Screen {
            interrupt: (key, proof),
            patience,
            busy,
            ..
        } = screen(self.host);
        // It shows a message only once it is complete.
        let begun = if self.host == Host::Droid { busy } else { said };
        self.terminal.wait_for(begun);
        self.press_until(key, patience, || self.shows(proof));
    }

    /// Waits until the agent has said this and is at rest.
    pub fn wait_for_rest(&self, said: &str) {
        let busy = screen(self.host).busy;
        self.terminal
            .wait_until(&format!("{said:?} is shown, and the agent rests"), |seen| {
                seen.contains(said) && !seen.contains(busy)
            });
    }

    pub fn shows(&self, text: &str) -> bool {
        self.terminal.screen().contains(text)
    }

    /// Presses a key, again and again, until this is so.
    fn press_until(&self, key: &str, patience: Duration, is_done: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.terminal.press(key);
            if is_within(patience, &is_done) {
                return;
            }
            let screen = || self.terminal.screen();
            assert!(
                Instant::now() < deadline,
                "{key} has no effect:\n{}",
                screen()
            );
        }
    }
}

fn is_within(limit: Duration, is_so: &dyn Fn() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !is_so() {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(POLL);
    }
    true
}
