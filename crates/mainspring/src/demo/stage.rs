//! The stage: a temporary project with a home of its own, and a clock that the demo sets. What a
//! scene tells is checked: each step says how it must come out, and fails if it does not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mainspring_kernel::event::{Author, Chain};
use mainspring_kernel::{Answer, Decision, Event, HoldTexts, Kind, Millis, SessionId};
use mainspring_platform::path;
use mainspring_store::{Trouble, atomic};

use super::Dispatch;
use crate::command::{CommandContext, Result, TypedIn};
use crate::env::{Environment, name};
use crate::error::CliError;
use crate::hook;
use crate::hosts::text::{self, clean};
use crate::hosts::{self, Payload, Speaker};
use crate::output::Paint;

/// 2026-01-05, a Monday morning.
const CURTAIN: Millis = Millis(1_767_600_000_000);

#[derive(Debug)]
pub(crate) struct Stage {
    scene: String,
    root: PathBuf,
    project: PathBuf,
    vars: BTreeMap<String, OsString>,
    now: Millis,
    session: &'static str,
    paint: Paint,
    dispatch: Dispatch,
    script: String,
    /// What the client has recorded of the conversation.
    transcript: String,
    /// What Mainspring said last.
    said: String,
    /// Did a hook of Mainspring continue the agent since the last prompt?
    continued: bool,
}

impl Stage {
    pub(super) fn open(scene: &str, cmd: &CommandContext, dispatch: Dispatch) -> Result<Self> {
        let root =
            std::env::temp_dir().join(format!("mainspring-demo-{}-{scene}", std::process::id()));
        std::fs::create_dir_all(&root).map_err(Trouble::io("create", &root))?;
        let root = path::real(&root).map_err(Trouble::io("find", &root))?;
        let project = root.join("project");
        std::fs::create_dir(&project).map_err(Trouble::io("create", &project))?;
        let mut vars = BTreeMap::new();
        vars.insert(name::HOME.to_owned(), root.join("home").into_os_string());
        vars.insert(name::TMPDIR.into(), root.clone().into_os_string());
        if let Some(path) = cmd.env.var_os(name::PATH) {
            vars.insert(name::PATH.into(), path);
        }
        let mut stage = Self {
            scene: scene.into(),
            root,
            project,
            vars,
            now: CURTAIN,
            session: "demo-session",
            paint: cmd.paint,
            dispatch,
            script: String::new(),
            transcript: String::new(),
            said: String::new(),
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

    /// Writes a file of the project.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<()> {
        Ok(atomic::replace(&self.project.join(name), text.as_bytes())?)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Explains what happens, to whoever reads the demo.
    pub(crate) fn narrate(&mut self, text: &str) {
        let _ = writeln!(self.script, "\n{}", self.paint.dim(text));
    }

    fn line(&mut self, who: &str, text: &str) {
        let text = text
            .replace(&*self.project.to_string_lossy(), "~/project")
            .replace(&*self.home().to_string_lossy(), "~");
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(self.script, "{who:>10} │ {first}");
        for line in lines {
            let _ = writeln!(self.script, "{:>10} │ {line}", "");
        }
    }

    /// Mainspring must have said this just now.
    pub(super) fn expect(&self, words: &str) -> Result<()> {
        self.told_truly(self.said.contains(words), || {
            format!("Mainspring should have said {words:?}")
        })
    }

    fn told_truly(&self, truly: bool, told: impl FnOnce() -> String) -> Result<()> {
        if truly {
            return Ok(());
        }
        let cause = format!(
            "the scene `{}` did not come out as told: {}",
            self.scene,
            told()
        );
        Err(CliError::new(cause).hint("the last lines of the scene show what happened instead"))
    }

    pub(super) fn env(&self) -> Environment {
        Environment::staged(self.vars.clone(), self.now)
    }

    /// The person types a command in a terminal of their own.
    pub(crate) fn person_runs(&mut self, command: &str) -> Result<()> {
        self.line("person", &format!("$ mainspring {command}"));
        self.run(command, self.env(), Ends::Well)
    }

    /// The agent runs a command in its shell.
    pub(crate) fn agent_runs(&mut self, command: &str) -> Result<()> {
        self.in_agents_shell(command, Ends::Well)
    }

    /// The agent runs a command that it may not run now.
    pub(crate) fn agent_is_refused(&mut self, command: &str) -> Result<()> {
        self.in_agents_shell(command, Ends::Refused)
    }

    fn in_agents_shell(&mut self, command: &str, ends: Ends) -> Result<()> {
        self.line("agent", &format!("$ mainspring {command}"));
        let mut vars = self.vars.clone();
        if let Some(variable) = hosts::DEFAULT.agent.session {
            vars.insert(variable.into(), self.session.into());
        }
        self.run(command, Environment::staged(vars, self.now), ends)
    }

    fn run(&mut self, command: &str, env: Environment, ends: Ends) -> Result<()> {
        let cmd = CommandContext {
            env,
            cwd: self.project.clone(),
            paint: Paint::Plain,
            width: None,
            typed_in: TypedIn::Shell,
            typed: String::new(),
        };
        let words = command.split(' ').map(OsString::from).collect();
        let (said, ended) = match (self.dispatch)(words, &cmd) {
            Ok(said) => (said, Ends::Well),
            Err(error) => (error.to_string(), Ends::Refused),
        };
        self.line("", said.trim_end());
        self.said = said;
        self.now = self.now.plus(Millis::seconds(5));
        self.told_truly(ended == ends, || match ends {
            Ends::Well => format!("`mainspring {command}` should have worked"),
            Ends::Refused => format!("`mainspring {command}` should have been refused"),
        })
    }

    pub(crate) fn person_says(&mut self, prompt: &str) -> Result<()> {
        self.continued = false;
        self.line("person", prompt);
        self.record(Speaker::Person, prompt)?;
        let author = Author::Person;
        let answer = self.play(Event::of(self.session(), Kind::Prompt { author }), None);
        self.show(&answer);
        Ok(())
    }

    /// The agent says its last words, wants to stop, and is kept going.
    pub(crate) fn agent_is_held(&mut self, words: &str) -> Result<()> {
        let held = self.agent_says(words)?;
        self.told_truly(held, || "the agent should have been kept going".into())
    }

    /// The agent says its last words, and stops.
    pub(crate) fn agent_stops(&mut self, words: &str) -> Result<()> {
        let held = self.agent_says(words)?;
        self.told_truly(!held, || "the agent should have been let go".into())
    }

    /// Returns whether the agent was kept going.
    fn agent_says(&mut self, words: &str) -> Result<bool> {
        self.line("agent", words);
        self.record(Speaker::Agent, words)?;
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
        Ok(held)
    }

    /// The client keeps what is said: a person's consent counts only from there.
    fn record(&mut self, who: Speaker, text: &str) -> Result<()> {
        let said = hosts::played_line(who, text, self.now);
        self.transcript += &said;
        let file = hosts::played_transcript(&self.home(), self.session);
        Ok(atomic::replace(&file, self.transcript.as_bytes())?)
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
        self.said.clear();
        let nothing = HoldTexts::default();
        let (held, told) = match &answer.decision {
            Decision::Stop { hold } => (hold, &nothing),
            Decision::BeforeTool { deny } => (deny, &nothing),
            Decision::Context { tell } => (&nothing, tell),
            Decision::AfterTool { tell, object } => (object, tell),
            Decision::Watch { wake } => (&nothing, wake),
            Decision::Idle { .. } | Decision::Silent => (&nothing, &nothing),
        };
        if !held.is_empty() {
            self.say("mainspring", &held.text(), Paint::warn);
        }
        if !told.is_empty() {
            self.say("mainspring", &told.text(), plain);
        }
        if let Decision::Idle { notify } = &answer.decision
            && !notify.is_empty()
        {
            self.say("desktop", &notify.text().replace(['\n', '\t'], " "), plain);
        }
        if !answer.notes.is_empty() {
            self.say("to person", &text::notes(answer), plain);
        }
    }

    fn say(&mut self, whom: &str, text: &str, paint: fn(Paint, &str) -> String) {
        let text = clean(text);
        self.line(whom, &paint(self.paint, &text));
        self.said += &text;
        self.said.push('\n');
    }
}

fn plain(_: Paint, text: &str) -> String {
    text.to_owned()
}

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Well,
    Refused,
}
