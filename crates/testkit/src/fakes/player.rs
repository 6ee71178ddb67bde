//! The fake itself: what `fake-cli` does under another program's name.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

use super::call::{self, Line, Played, Stdin};
use super::folder::{LOG, SCENARIO};
use super::scenario::{Act, Group, Scenario, Uses};
use crate::files;

/// If the caller has not closed stdin by then, it counts as left open.
const STDIN_PATIENCE: Duration = Duration::from_secs(5);
/// The exit code of a call without a rule.
const NONE_FITS: u8 = 97;

/// Plays the rule for this call. The rules are in a file beside the program, because tests have
/// callers that clear the environment.
pub fn play() -> io::Result<ExitCode> {
    let itself = std::env::current_exe()?;
    let folder = itself.parent().ok_or(io::ErrorKind::NotFound)?;
    let program = itself.file_name().unwrap_or_default().to_string_lossy();
    let scenario = fs::read(folder.join(SCENARIO))?;
    let Scenario { rules } = serde_json::from_slice(&scenario)?;

    let stdin = read_stdin();
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let words: Vec<String> = args
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let told = match &stdin {
        Stdin::Closed(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Stdin::LeftOpen => String::new(),
    };
    let cwd = std::env::current_dir()?;
    let played = call::append(&folder.join(LOG), |before| {
        let left = |index: usize, uses: Uses| match uses {
            Uses::Always => true,
            Uses::AtMost(times) => {
                let same = |line: &&Line| line.rule == Played::Rule(index);
                before.iter().filter(same).count() < times
            }
        };
        let fitting = (0..)
            .zip(&rules)
            .find(|(index, rule)| rule.fits(&program, &words, &told) && left(*index, rule.uses));
        Line {
            program: program.to_string(),
            args: args.into_iter().map(OsStringExt::into_vec).collect(),
            env: std::env::vars_os()
                .map(|(name, value)| (name.into_vec(), value.into_vec()))
                .collect(),
            cwd: cwd.into_os_string().into_vec(),
            stdin,
            rule: fitting.map_or(Played::NoneFits, |(index, _)| Played::Rule(index)),
        }
    })?;
    match played {
        Played::Rule(index) => perform(&rules[index].acts),
        Played::NoneFits => {
            writeln!(io::stderr(), "fake {program}: no rule for {words:?}")?;
            Ok(ExitCode::from(NONE_FITS))
        }
    }
}

fn perform(acts: &[Act]) -> io::Result<ExitCode> {
    for act in acts {
        match act {
            Act::Print(text) => write_all(&mut io::stdout(), text.as_bytes()),
            Act::PrintError(text) => write_all(&mut io::stderr(), text.as_bytes()),
            Act::Write { path, text } => files::write(path, text),
            Act::Sleep(time) => thread::sleep(*time),
            Act::Flood { bytes } => write_all(&mut io::stdout(), &vec![b'x'; *bytes]),
            Act::LeaveChild {
                holds_pipe_for,
                group,
            } => leave_child(*holds_pipe_for, *group)?,
            Act::IgnoreTermination(time) => return Err(become_stubborn(*time)),
            Act::Die { signal } => return Err(die(*signal)),
            Act::Exit(status) => return Ok(ExitCode::from(*status)),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_all(to: &mut impl Write, bytes: &[u8]) {
    // The reader may close the pipe early.
    let _ = to.write_all(bytes).and_then(|()| to.flush());
}

fn leave_child(time: Duration, group: Group) -> io::Result<()> {
    let mut sleep = Command::new("/bin/sleep");
    sleep.arg(time.as_secs_f64().to_string());
    match group {
        Group::Shared => {}
        Group::Own => {
            sleep.process_group(0);
        }
    }
    sleep.spawn()?;
    Ok(())
}

fn die(signal: i32) -> io::Error {
    let Some(signal) = Signal::from_named_raw(signal) else {
        return io::ErrorKind::InvalidInput.into();
    };
    // Twice, because the runtime handles the first SIGSEGV: it finds no stack overflow, and
    // restores the default for the next one.
    for _ in 0..2 {
        if let Err(error) = kill_process(getpid(), signal) {
            return error.into();
        }
    }
    io::Error::other("the signal was survived")
}

/// A shell's `trap ''` is inherited by the program that replaces it.
fn become_stubborn(time: Duration) -> io::Error {
    let line = format!("trap '' TERM INT HUP; exec sleep {}", time.as_secs_f64());
    Command::new("/bin/sh").arg("-c").arg(line).exec()
}

fn read_stdin() -> Stdin {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = io::stdin().read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes).unwrap_or_default());
    });
    match receiver.recv_timeout(STDIN_PATIENCE) {
        Ok(bytes) => Stdin::Closed(bytes),
        Err(_) => Stdin::LeftOpen,
    }
}
