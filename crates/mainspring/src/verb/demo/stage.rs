//! The stage: a temporary project with a home of its own, and a clock that the demo sets.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mainspring_kernel::event::{Author, Chain};
use mainspring_kernel::{Answer, Decision, Event, Kind, Millis, Reasons, SessionId};
use mainspring_platform::path;
use mainspring_store::Trouble;

use super::Dispatch;
use crate::env::{Environment, name};
use crate::host::text::{self, clean};
use crate::host::{self, Payload};
use crate::output::Paint;
use crate::verb::hook;
use crate::verb::{CommandContext, Result, TypedIn};

/// 2026-01-05, a Monday morning.
const CURTAIN: Millis = Millis(1_767_600_000_000);

#[derive(Debug)]
pub(crate) struct Stage {
    root: PathBuf,
    project: PathBuf,
    vars: BTreeMap<String, OsString>,
    now: Millis,
    session: &'static str,
    paint: Paint,
    dispatch: Dispatch,
    script: String,
    /// Did a hook of Mainspring continue the agent since the last prompt?
    continued: bool,
}

impl Stage {
    pub(super) fn open(scene: &str, cmd: &CommandContext, dispatch: Dispatch) -> Result<Self> {
        let root =
            std::env::temp_dir().join(format!("mainspring-demo-{}-{scene}", std::process::id()));
        let project = root.join("project");
        std::fs::create_dir_all(&project).map_err(Trouble::io("create", &project))?;
        let project = path::real(&project).map_err(Trouble::io("find", &project))?;
        let mut vars = BTreeMap::new();
        vars.insert(name::HOME.to_owned(), root.join("home").into_os_string());
        vars.insert(name::TMPDIR.into(), root.clone().into_os_string());
        if let Some(path) = cmd.env.var_os(name::PATH) {
            vars.insert(name::PATH.into(), path);
        }
        let mut stage = Self {
            root,
            project,
            vars,
            now: CURTAIN,
            session: "demo-session",
            paint: cmd.paint,
            dispatch,
            script: String::new(),
            continued: false,
        };
        let title = stage.paint.bold(&format!("── {scene} "));
        let _ = writeln!(stage.script, "{title}");
        Ok(stage)
    }

    /// Deletes the temporary project, and returns what was played.
    pub(super) fn close(self) -> String {
        let _ = std::fs::remove_dir_all(&self.root);
        self.script + "\n"
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Explains what happens, to whoever reads the demo.
    pub(crate) fn narrate(&mut self, text: &str) {
        let _ = writeln!(self.script, "\n{}", self.paint.dim(text));
    }

    fn line(&mut self, who: &str, text: &str) {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(self.script, "{who:>10} │ {first}");
        for line in lines {
            let _ = writeln!(self.script, "{:>10} │ {line}", "");
        }
    }

    pub(super) fn env(&self) -> Environment {
        Environment::staged(self.vars.clone(), self.now)
    }

    /// The person types a command in a terminal of their own.
    pub(crate) fn person_runs(&mut self, command: &str) {
        self.line("person", &format!("$ mainspring {command}"));
        self.run(command, self.env());
    }

    /// The agent runs a command in its shell.
    pub(crate) fn agent_runs(&mut self, command: &str) {
        self.line("agent", &format!("$ mainspring {command}"));
        let mut vars = self.vars.clone();
        if let Some(variable) = host::DEFAULT.agent.session {
            vars.insert(variable.into(), self.session.into());
        }
        let env = Environment::staged(vars, self.now);
        self.run(command, env);
    }

    fn run(&mut self, command: &str, env: Environment) {
        let cmd = CommandContext {
            env,
            cwd: self.project.clone(),
            paint: Paint::Plain,
            width: None,
            typed_in: TypedIn::Shell,
            typed: String::new(),
        };
        let words = command.split(' ').map(OsString::from).collect();
        let out = match (self.dispatch)(words, &cmd) {
            Ok(out) => out,
            Err(error) => error.to_string(),
        };
        let shown = out.replace(&*self.project.to_string_lossy(), "~/project");
        self.line("", shown.trim_end());
        self.now = self.now.plus(Millis::seconds(5));
    }

    pub(crate) fn person_says(&mut self, prompt: &str) {
        self.continued = false;
        self.line("person", prompt);
        let author = Author::Person;
        let answer = self.play(Event::of(self.session(), Kind::Prompt { author }), None);
        self.show(&answer);
    }

    /// The agent says its last words and stops. Returns whether it was kept going.
    pub(crate) fn agent_stops(&mut self, words: &str) -> bool {
        self.line("agent", words);
        let chain = if self.continued {
            Chain::Continued
        } else {
            Chain::First
        };
        let answer = self.play(Event::stop(self.session(), chain), Some(words));
        let held = matches!(&answer.decision, Decision::Stop { hold } if !hold.is_empty());
        self.continued |= held;
        self.show(&answer);
        if !held {
            self.line("", &self.paint.good("the agent stops"));
        }
        held
    }

    /// Nobody types for a while, and the host says so.
    pub(crate) fn agent_waits(&mut self) {
        self.now = self.now.plus(Millis::seconds(180));
        self.line("", &self.paint.dim("three minutes pass"));
        let answer = self.play(Event::of(self.session(), Kind::Idle), None);
        self.show(&answer);
    }

    /// The agent invokes a skill with its client's tool.
    pub(crate) fn agent_invokes(&mut self, skill: &str) {
        self.line("agent", &format!("(invokes the skill {skill})"));
        let invoked = Kind::AfterTool {
            tool: "Skill".into(),
            skill: Some(skill.into()),
        };
        let answer = self.play(Event::of(self.session(), invoked), None);
        self.show(&answer);
    }

    fn session(&self) -> Option<SessionId> {
        SessionId::parse(self.session)
    }

    /// Plays any event through the same code that answers a host.
    fn play(&mut self, event: Event, words: Option<&str>) -> Answer {
        self.now = self.now.plus(Millis::seconds(20));
        let mut payload = Payload::played(event, self.project.clone(), self.now);
        payload.last_message = words.map(str::to_owned);
        hook::played(&self.env(), &payload)
    }

    fn show(&mut self, answer: &Answer) {
        let nothing = Reasons::default();
        let (held, told) = match &answer.decision {
            Decision::Stop { hold } => (hold, &nothing),
            Decision::BeforeTool { deny } => (deny, &nothing),
            Decision::Context { tell } => (&nothing, tell),
            Decision::AfterTool { tell, object } => (object, tell),
            Decision::Watch { wake } => (&nothing, wake),
            Decision::Idle { .. } | Decision::Silent => (&nothing, &nothing),
        };
        if !held.is_empty() {
            self.line("mainspring", &self.paint.warn(&clean(&held.text())));
        }
        if !told.is_empty() {
            self.line("mainspring", &clean(&told.text()));
        }
        if let Decision::Idle { notify } = &answer.decision
            && !notify.is_empty()
        {
            self.line("desktop", &clean(&notify.text()).replace(['\n', '\t'], " "));
        }
        if !answer.notes.is_empty() {
            self.line("to person", &clean(&text::notes(answer)));
        }
    }
}
