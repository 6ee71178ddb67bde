//! One path in one world that can be set up again and again, in the same folder.

use std::fs::{self, File};
use std::path::{Path as FilePath, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;

use super::check;
use super::deadline;
use super::paths::{Does, Path, Who};
use super::strace::{self, Injection};
use super::sweep::Tally;
use super::tree::Tree;
use crate::process::wait_until;
use crate::world::World;

/// The binary under test and its options.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) mainspring: PathBuf,
    /// Where worlds are created.
    pub(super) place: PathBuf,
    /// Only this error.
    pub(super) error: Option<String>,
    /// Stop at the first failure.
    pub(super) one_will_do: bool,
}

impl Subject {
    pub(super) fn new(mainspring: &FilePath) -> Self {
        // In memory: a sweep tests what is written, not how fast a disk is.
        let memory = FilePath::new("/dev/shm");
        let place = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        Self {
            mainspring: mainspring.into(),
            place,
            error: None,
            one_will_do: false,
        }
    }

    /// May the sweep stop?
    pub(super) fn satisfied_by(&self, tally: &Tally) -> bool {
        self.one_will_do && !tally.failures.is_empty()
    }

    pub(super) fn world(&self) -> World {
        World::below(&self.place, &self.mainspring)
    }
}

/// The output of a run, and how it ended.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) code: Option<i32>,
    pub(super) trace: String,
    /// It did not end by itself, and was killed.
    pub(super) overdue: bool,
}

#[derive(Debug)]
pub(super) struct Lab<'a> {
    pub(super) path: &'a Path,
    pub(super) world: World,
    pub(super) event: Vec<u8>,
    pub(super) tree: Tree,
    /// The path's state, before and after it.
    pub(super) old: String,
    pub(super) new: String,
    pub(super) healthy: Ran,
}

impl<'a> Lab<'a> {
    pub(super) fn new(subject: &Subject, path: &'a Path) -> Self {
        Self::of(subject.world(), path)
    }

    pub(super) fn of(mut world: World, path: &'a Path) -> Self {
        for (name, value) in path.vars {
            world = world.with(name, value);
        }
        let event = (path.prepare)(&world);
        let mut lab = Self {
            path,
            event,
            tree: Tree::capture(world.root()),
            old: (path.mark)(&world),
            new: String::new(),
            healthy: Ran::default(),
            world,
        };
        lab.healthy = lab.traced(&[]);
        assert!(
            lab.healthy.code.is_some_and(|code| code < 2),
            "{}: {:?}",
            path.name,
            lab.healthy
        );
        lab.new = (path.mark)(&lab.world);
        lab.settle();
        lab
    }

    /// Restores the prepared world.
    pub(super) fn reset(&self) {
        self.settle();
        self.tree.restore(self.world.root());
    }

    /// The children of a killed process end by themselves, but must not end in the next world.
    pub(super) fn settle(&self) {
        if self.path.has_children {
            wait_until("what a killed process had started has ended", || {
                !self.world.is_lived_in()
            });
        }
    }

    /// How many tries a fault has to fire. A path that waits for others looks a varying number of
    /// times, depending on how busy the machine is.
    pub(super) fn tries(&self) -> usize {
        if self.path.has_children { 40 } else { 1 }
    }

    /// How often each call is made in every one of a few healthy runs.
    pub(super) fn calls(&self) -> Vec<(String, usize)> {
        let mut counts = strace::calls(&self.healthy.trace);
        if self.path.has_children {
            for _ in 0..8 {
                self.reset();
                let again = strace::calls(&self.traced(&[]).trace);
                counts.retain(|name, _| again.contains_key(name));
                for (name, count) in &mut counts {
                    *count = (*count).min(again[name]);
                }
            }
        }
        counts.into_iter().collect()
    }

    /// Runs the path under strace, with these options.
    pub(super) fn traced(&self, options: &[&str]) -> Ran {
        self.under_strace(options, |starter| self.run(starter))
    }

    fn under_strace(&self, options: &[&str], run: impl Fn(&[&str]) -> Ran) -> Ran {
        let trace = self.world.root().join("trace");
        let name = trace.to_string_lossy();
        let mut starter = vec!["strace", "-qq", "-o", &name];
        starter.extend(options);
        let mut ran = run(&starter);
        ran.trace = fs::read_to_string(&trace).unwrap_or_default();
        ran
    }

    /// Runs it with this fault at this call. Only that call is traced, because tracing the others
    /// would take most of the time.
    pub(super) fn inject(&self, call: &str, fault: &str) -> Ran {
        let fault = Injection::new(self.path, call, fault);
        self.traced(&fault.options())
    }

    /// Runs the path once more, healthy: the same event, but not a second delivery of it.
    pub(super) fn again(&self) -> Ran {
        self.again_started(&[])
    }

    /// The same under strace, with these options.
    pub(super) fn again_under(&self, options: &[&str]) -> Ran {
        self.under_strace(options, |starter| self.again_started(starter))
    }

    fn again_started(&self, starter: &[&str]) -> Ran {
        let mut event = self.event.clone();
        event.push(b'\n');
        let mut command = self.command(starter);
        finish(command.stdin(event_file(&self.world, &event)))
    }

    fn run(&self, starter: &[&str]) -> Ran {
        finish(self.command(starter).stdin(self.stdin()))
    }

    /// The path's own command, before its stdin.
    pub(super) fn command(&self, starter: &[&str]) -> Command {
        match self.path.does {
            Does::Hook => self.world.command_under(starter, &["hook"]),
            Does::Verb { args, who } => {
                let mut command = self.world.command_under(starter, args);
                if who == Who::Agent {
                    command.env("CLAUDE_CODE_SESSION_ID", "s");
                }
                command
            }
        }
    }

    pub(super) fn stdin(&self) -> Stdio {
        event_file(&self.world, &self.event)
    }

    /// Delivers another event in the project, which finishes whatever was left unfinished.
    pub(super) fn pass_by(&self) -> Ran {
        self.pass_by_started(&[])
    }

    /// The same under strace, with these options.
    pub(super) fn pass_by_under(&self, options: &[&str]) -> Ran {
        self.under_strace(options, |starter| self.pass_by_started(starter))
    }

    fn pass_by_started(&self, starter: &[&str]) -> Ran {
        let event = self.world.event(
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}}),
        );
        let mut command = self.world.command_under(starter, &["hook"]);
        finish(command.stdin(event_file(&self.world, &event)))
    }

    pub(super) fn mark(&self) -> String {
        (self.path.mark)(&self.world)
    }

    /// Was the whole answer printed? Then it must stay true.
    pub(super) fn acknowledged(&self, ran: &Ran) -> bool {
        let said = |ran: &Ran| match self.path.does {
            Does::Hook => without_digits(&ran.stdout),
            Does::Verb { .. } => format!("{:?} {}", ran.code, without_digits(&ran.stdout)),
        };
        !self.healthy.stdout.is_empty() && said(ran) == said(&self.healthy)
    }

    /// After a fault: another event comes, then this one again, and the world must be as if nothing
    /// had happened.
    pub(super) fn check(&self, hurt: &Ran) -> Result<(), String> {
        check::nothing_torn(&self.world)?;
        self.settle();
        self.age_locks();
        let passed = self.pass_by();
        if passed.code != Some(0) {
            return Err(format!("the next event ended with {:?}", passed.code));
        }
        self.check_mark(hurt)?;
        let next = self.again();
        self.settle();
        check::answered(self.path, &next).map_err(|problem| format!("next time {problem}"))?;
        check::nothing_torn(&self.world)?;
        (self.path.verify)(&self.world, &next.stdout).map_err(|problem| {
            format!(
                "{problem}\n  first: {}\n  next:  {}",
                hurt.stdout.trim_end(),
                next.stdout.trim_end()
            )
        })?;
        check::nothing_left_over(&self.world)
    }

    /// The client's own locks are directories. Those of a dead process are stale after ten seconds;
    /// here at once.
    pub(super) fn age_locks(&self) {
        let folder = self.world.home().join(".claude/tasks/s");
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_lock = entry.path().extension().is_some_and(|end| end == "lock");
            if is_lock && let Ok(dir) = File::open(entry.path()) {
                dir.set_modified(UNIX_EPOCH + Duration::from_secs(1))
                    .expect("a folder of the world's own");
            }
        }
    }

    /// The old state or the new one; the new one if it was reported.
    pub(super) fn check_mark(&self, hurt: &Ran) -> Result<(), String> {
        let mark = self.mark();
        let acknowledged = self.acknowledged(hurt);
        if acknowledged && mark != self.new {
            return Err(format!(
                "the answer is not true: {mark:?} instead of {:?}",
                self.new
            ));
        }
        if mark != self.new && mark != self.old {
            return Err(format!(
                "neither the old state nor the new one: {mark:?}, not {:?} or {:?}",
                self.old, self.new
            ));
        }
        Ok(())
    }
}

pub(super) fn event_file(world: &World, event: &[u8]) -> Stdio {
    let file = world.root().join("event");
    fs::write(&file, event).expect("room for an event");
    File::open(&file).expect("the event is there").into()
}

pub(super) fn finish(command: &mut Command) -> Ran {
    let (output, overdue) = deadline::output(command);
    Ran {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
        trace: String::new(),
        overdue,
    }
}

/// Times and process ids differ from run to run.
pub(super) fn without_digits(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_ascii_digit())
        .collect()
}
