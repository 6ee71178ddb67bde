//! A recorder between the client and a hook: it stores the input and the output.
//!
//! `Claude::recording` registers `hook-tee LOG PROGRAM ARGS…` in place of each
//! hook. It writes one line before the hook starts and one when it has ended, so
//! a hook that the client killed is seen too.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Twice what a hook of ours reads, so that its own limit can be tested.
const INPUT_LIMIT: u64 = 16 << 20;

/// One call of one hook.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The payload, or null where it was not JSON.
    pub input: Value,
    pub cwd: PathBuf,
    /// The hook's environment, without keys and tokens.
    pub env: BTreeMap<String, String>,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    Ended {
        code: u8,
        stdout: String,
        stderr: String,
        duration: Duration,
    },
    /// It was killed together with its recorder, or still runs.
    NeverEnded,
}

impl HookCall {
    pub fn event(&self) -> &str {
        self.input["hook_event_name"].as_str().unwrap_or_default()
    }

    /// What the hook printed, as JSON; null if it printed nothing or something else.
    pub fn answer(&self) -> Value {
        match &self.outcome {
            Outcome::Ended { stdout, .. } => serde_json::from_str(stdout).unwrap_or_default(),
            Outcome::NeverEnded => Value::Null,
        }
    }
}

#[derive(Deserialize, Serialize)]
enum Line {
    Started {
        witness: u32,
        command: Vec<String>,
        input: String,
        cwd: PathBuf,
        env: BTreeMap<String, String>,
    },
    Ended {
        witness: u32,
        code: u8,
        stdout: String,
        stderr: String,
        millis: u64,
    },
}

/// The calls in `log`, in the order they started.
pub(crate) fn read(log: &Path) -> Vec<HookCall> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut calls: Vec<(u32, HookCall)> = Vec::new();
    for line in text.lines() {
        match serde_json::from_str(line).expect("the log is ours") {
            Line::Started {
                witness,
                command,
                input,
                cwd,
                env,
            } => {
                let call = HookCall {
                    command,
                    input: serde_json::from_str(&input).unwrap_or_default(),
                    cwd,
                    env,
                    outcome: Outcome::NeverEnded,
                };
                calls.push((witness, call));
            }
            Line::Ended {
                witness,
                code,
                stdout,
                stderr,
                millis,
            } => {
                // The newest with this id: the system may use an id again.
                let started = calls.iter_mut().rev().find(|(held, _)| *held == witness);
                let (_, call) = started.expect("a call starts before it ends");
                call.outcome = Outcome::Ended {
                    code,
                    stdout,
                    stderr,
                    duration: Duration::from_millis(millis),
                };
            }
        }
    }
    calls.into_iter().map(|(_, call)| call).collect()
}

/// What `hook-tee` does: `args` are the log, the program and its arguments.
pub fn tee(args: impl IntoIterator<Item = OsString>) -> io::Result<ExitCode> {
    let mut args = args.into_iter();
    let usage = || io::Error::other("usage: hook-tee LOG PROGRAM ARGS…");
    let log = PathBuf::from(args.next().ok_or_else(usage)?);
    let program = args.next().ok_or_else(usage)?;
    let args: Vec<OsString> = args.collect();

    let mut input = Vec::new();
    io::stdin().take(INPUT_LIMIT).read_to_end(&mut input)?;
    let witness = std::process::id();
    append(
        &log,
        &Line::Started {
            witness,
            command: std::iter::once(&program)
                .chain(&args)
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            input: String::from_utf8_lossy(&input).into_owned(),
            cwd: std::env::current_dir()?,
            env: presentable_environment(),
        },
    )?;

    let started = Instant::now();
    let mut command = Command::new(program);
    let (status, stdout, stderr) = run(command.args(args), &input)?;
    let code = exit_code(status);
    append(
        &log,
        &Line::Ended {
            witness,
            code,
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            millis: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        },
    )?;
    io::stdout().write_all(&stdout)?;
    io::stderr().write_all(&stderr)?;
    Ok(ExitCode::from(code))
}

/// Into files, not pipes: a child that the hook leaves behind with its stdout does not block the
/// client, so it must not block the recorder.
fn run(command: &mut Command, input: &[u8]) -> io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let [mut stdout, mut stderr] = [tempfile::tempfile()?, tempfile::tempfile()?];
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook may decide without reading all of it.
        let _ = stdin.write_all(input);
    }
    let status = child.wait()?;
    Ok((status, content(&mut stdout)?, content(&mut stderr)?))
}

fn content(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The exit code that a shell would report: for a signal, 128 and its number.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}

fn presentable_environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !name.contains("TOKEN") && !name.contains("KEY"))
        .collect()
}

/// Hooks of one event run at the same time, so a line must be written whole.
fn append(log: &Path, line: &Line) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(log)?;
    file.lock()?;
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)
}
