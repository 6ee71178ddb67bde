//! Runs checks, side by side: each over one tree, which must be the same before and after.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mainspring_kernel::machines::check::{Failure, Ran, Request, Verdict};
use mainspring_kernel::{Digest, Millis, hidden};
use mainspring_platform::{file, path};
use mainspring_store::{Trouble, atomic, digest};

use super::key::TakenKey;
use super::printed;
use crate::children::guard::{Ended, Guarded};
use crate::children::permit::{Permit, Revoked};
use crate::config::checks::CheckDefinition;
use crate::limits;
use crate::machines::tree::{Files, Tree, TreeFile, differences};
use crate::people::trust::TrustedChecks;
use crate::store::StateDir;

/// Logs of one check that are kept.
const LOGS_KEPT: usize = 10;
/// What is read of a log to find the lines that matter.
const MOST_READ: u64 = 8 << 20;
/// A larger tree is not remembered for `what changed since it passed`.
const MOST_REMEMBERED: usize = 20_000;
/// How many changed files are remembered.
const MOST_CHANGED: usize = 50;
/// How many of those that moved are named.
const MOST_NAMED: usize = 5;
/// A check that is known may take twice as long as the last time, and this.
const SLACK: Duration = Duration::from_secs(30);

/// Everything that is needed to run checks, without a context.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) permit: Permit,
    pub(crate) tree: Tree,
    /// The other trees, by their names.
    pub(crate) others: BTreeMap<String, Tree>,
    pub(crate) checks: &'a TrustedChecks,
    pub(crate) state: &'a StateDir,
    /// The folder with a folder for each check.
    pub(crate) folder: PathBuf,
    /// Names this run among the logs.
    pub(crate) id: String,
    pub(crate) deadline: Instant,
    pub(crate) parallel: usize,
}

/// How one run of the command ended: what failed, if anything; or what it means that the command did
/// not come to its end.
type RunEnd = Result<Option<Failure>, Verdict>;

/// What came of a check over one tree.
struct Judged {
    verdict: Verdict,
    taken: TakenKey,
    /// The inputs that it wrote itself.
    rewrites: Vec<String>,
}

impl Runner<'_> {
    /// Runs these checks. The results are in their order.
    pub(crate) fn run(&self, requests: &[Request]) -> Vec<(Ran, Option<TakenKey>)> {
        let queue: VecDeque<(usize, &Request)> = requests.iter().enumerate().collect();
        let queue = Mutex::new(queue);
        let done = Mutex::new(Vec::new());
        let workers = self.parallel.clamp(1, requests.len().max(1));
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some((at, request)) = lock(&queue).pop_front() {
                        // One always starts, so that a stop is never in vain.
                        let ran = if at > 0 && expected(request) > self.left() {
                            (unrun(request, Verdict::NotStarted), None)
                        } else {
                            self.one(request)
                        };
                        lock(&done).push((at, ran));
                    }
                });
            }
        });
        let mut done = std::mem::take(&mut *lock(&done));
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, ran)| ran).collect()
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn one(&self, request: &Request) -> (Ran, Option<TakenKey>) {
        let start = Instant::now();
        let undefined = Verdict::CouldNotRun("it is not defined".into());
        let mut ran = unrun(request, undefined);
        let all = &self.checks.definitions;
        let Some(check) = all.iter().find(|check| check.name == request.name) else {
            return (ran, None);
        };
        let taken = match self.attempts(check, request, &mut ran.log) {
            Ok(result) => {
                ran.key = result.taken.key.clone();
                ran.verdict = result.verdict;
                ran.rewrites = result.rewrites;
                Some(result.taken)
            }
            Err(cause) => {
                ran.verdict = self.unjudged(cause);
                None
            }
        };
        ran.took = Millis(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
        (ran, taken)
    }

    /// It did not run over one tree. Nobody is to blame if a person stopped it.
    fn unjudged(&self, cause: String) -> Verdict {
        if self.permit.check() == Err(Revoked) {
            return Verdict::CouldNotRun(CANCELLED.into());
        }
        unprinted(cause)
    }

    /// Runs it until it has ended once over a tree that stayed as it was; a failure as often as it
    /// may be tried again. A tree stays as it was if nobody wrote a file of it: a content that went
    /// and came back is another one in between. Only what the check itself writes, each time the
    /// same files, may move.
    fn attempts(
        &self,
        check: &CheckDefinition,
        request: &Request,
        log: &mut String,
    ) -> Result<Judged, String> {
        let mut failed: Option<Digest> = request.failed.then(|| request.key.clone());
        let mut retries = request.retries;
        let mut moved: Option<Vec<String>> = None;
        let other = request.tree.as_ref().and_then(|tree| self.others.get(tree));
        let tree = other.unwrap_or(&self.tree);
        for attempt in 1.. {
            let before = self.key(check, tree)?;
            if !before.pins.is_empty() {
                let files = hidden::names(&before.pins, MOST_NAMED);
                return Err(format!("{files} changed before it started"));
            }
            let (end, path) = self.once(check, &before, attempt);
            *log = path.map_or_else(String::new, |path| path.to_string_lossy().into_owned());
            let end = match end {
                Ok(end) => end,
                Err(verdict) => return Ok(Judged::of(verdict, before)),
            };
            let after = self.key(check, tree)?;
            let rewrites = before.moved(&after);
            let stays = rewrites.is_empty() || moved.as_ref() == Some(&rewrites);
            if before.key != after.key || !stays {
                if moved.is_some() {
                    return Err(format!(
                        "its inputs changed while it ran, twice: {}",
                        named(&rewrites)
                    ));
                }
                moved = Some(rewrites);
                continue;
            }
            let verdict = match end {
                None if failed.as_ref() == Some(&after.key) => Verdict::Flaky,
                None => {
                    self.remember(check, after.files());
                    Verdict::Pass
                }
                Some(_) if retries > 0 => {
                    retries -= 1;
                    failed = Some(after.key);
                    continue;
                }
                Some(failure) => Verdict::Fail(Failure {
                    changed: self.changed(check, after.files()),
                    ..failure
                }),
            };
            return Ok(Judged {
                verdict,
                taken: after,
                rewrites,
            });
        }
        Err("it was tried too often".into())
    }

    fn key(&self, check: &CheckDefinition, tree: &Tree) -> Result<TakenKey, String> {
        let mut taken = tree.keys(self.checks, &[check])?;
        taken.pop().ok_or_else(|| "it has no key".into())
    }

    /// Runs the command once, and reads how it ended. If it started, there is a log.
    fn once(
        &self,
        check: &CheckDefinition,
        taken: &TakenKey,
        attempt: u32,
    ) -> (RunEnd, Option<PathBuf>) {
        let folder = self.folder.join(&check.name);
        let mut id = self.id.clone();
        if taken.dir != self.tree.dir {
            let tree = digest::of(&[path::bytes(&taken.dir)]).0;
            id += &format!("-{tree}");
        }
        let log = folder.join(format!("{id}-{attempt}.log"));
        if !taken.has_inputs(check) {
            let cause = "its `inputs` match no file: correct them in mainspring.toml".into();
            return (Err(unprinted(cause)), None);
        }
        let Some(program) = taken.program.clone() else {
            let cause = format!("there is no program `{}`", check.run[0]);
            return (Err(Verdict::CouldNotRun(cause)), None);
        };
        let timeout = Duration::from_millis(check.timeout.0);
        let limit = timeout.min(self.left());
        let end = match self.start(check, taken, program, (&folder, &log, limit)) {
            Ok(ended) => end(ended, &log, (limit, timeout)),
            Err(cause) => return (Err(unprinted(cause)), None),
        };
        (end, Some(log))
    }

    fn start(
        &self,
        check: &CheckDefinition,
        taken: &TakenKey,
        program: PathBuf,
        (folder, log, limit): (&Path, &Path, Duration),
    ) -> Result<Ended, String> {
        let fault = |trouble: Trouble| trouble.to_string();
        self.state.create(folder).map_err(fault)?;
        tidy(folder);
        let cannot = |error: std::io::Error| format!("cannot write its log: {error}");
        let files = (
            file::create(log).map_err(cannot)?,
            appending(log).map_err(cannot)?,
        );
        let guarded = Guarded {
            program,
            args: check.run[1..].iter().map(Into::into).collect(),
            dir: &taken.dir,
            env: taken.env.clone(),
            stdout: log,
            stderr: log,
            most_output: limits::CHECK_OUTPUT,
            limit,
        };
        let both = (appending(log).map_err(cannot)?, files.1);
        guarded
            .run(&self.permit, both, |_| {})
            .map_err(|error| format!("cannot start it: {error}"))
    }

    /// Keeps the tree on which the check passed, to tell later what changed.
    fn remember(&self, check: &CheckDefinition, files: &Files) {
        if files.len() > MOST_REMEMBERED {
            return;
        }
        let mut text = Vec::new();
        for input in files {
            text.push(input.kind);
            text.extend_from_slice(&input.content);
            text.extend_from_slice(&input.path);
            text.push(0);
        }
        // It is only for a message.
        let _ = atomic::replace(&self.folder.join(&check.name).join(GREEN), &text);
    }

    /// The inputs that differ from the last tree on which it passed.
    fn changed(&self, check: &CheckDefinition, files: &Files) -> Vec<String> {
        let path = self.folder.join(&check.name).join(GREEN);
        let Ok(Some(text)) = atomic::read(&path, limits::CHECK_OUTPUT) else {
            return Vec::new();
        };
        let before = remembered(&text);
        let mut changed = differences(&before, files);
        changed.truncate(MOST_CHANGED);
        changed
    }
}

/// How long a check may take, by what is known of it.
fn expected(request: &Request) -> Duration {
    let most = Duration::from_millis(request.timeout.0);
    let known = request
        .last
        .map(|last| Duration::from_millis(last.0) * 2 + SLACK);
    known.map_or(most, |known| known.min(most))
}

/// Why a check has no result, if a person ended it.
const CANCELLED: &str = "a person stopped it";

impl Judged {
    const fn of(verdict: Verdict, taken: TakenKey) -> Self {
        Self {
            verdict,
            taken,
            rewrites: Vec::new(),
        }
    }
}

/// It did not run to its end, and printed nothing.
fn unprinted(cause: String) -> Verdict {
    Verdict::Unfinished(failure(cause, String::new()))
}

/// What was wrong, by how it ended and what it printed.
fn failure(exit: String, said: String) -> Failure {
    Failure {
        reason: printed::reason(&exit, &said),
        exit,
        said,
        changed: Vec::new(),
    }
}

/// What the end of its command says.
fn end(ended: Ended, log: &Path, (limit, timeout): (Duration, Duration)) -> RunEnd {
    let text = || printed::plain(&tail(log));
    let said = |exit: String| {
        let said = printed::lines_that_matter(&text());
        failure(exit, said)
    };
    let code = match ended {
        Ended::Code(code) => code,
        Ended::TimedOut if limit < timeout => {
            return Err(Verdict::CouldNotRun(format!(
                "it did not end within the {} s that were left of this stop",
                limit.as_secs()
            )));
        }
        Ended::TimedOut => {
            let limit = Millis(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
            let exit = format!("it timed out after {}", limit.in_words());
            return Err(Verdict::TimedOut(said(exit)));
        }
        Ended::Cancelled => return Err(Verdict::CouldNotRun(CANCELLED.into())),
        Ended::Flooded => {
            let most = limits::CHECK_OUTPUT >> 20;
            let exit = format!("it printed more than {most} MiB");
            return Err(Verdict::Unfinished(said(exit)));
        }
    };
    if let Some(signal) = ended_from_outside(code) {
        let exit = format!("it was ended by signal {signal}");
        return Err(Verdict::Unfinished(said(exit)));
    }
    match code {
        0 if printed::ran_no_test(&text()) => {
            Ok(Some(said("exit code 0, but it ran no test".into())))
        }
        0 => Ok(None),
        code => Ok(Some(said(format!("exit code {code}")))),
    }
}

/// The file with the tree on which a check last passed.
const GREEN: &str = "green";

/// A digest may contain a zero, so each entry is cut off by its length first.
fn remembered(mut text: &[u8]) -> Files {
    let mut files = Files::new();
    while let Some((head, rest)) = text.split_first_chunk::<17>() {
        let Some(end) = rest.iter().position(|byte| *byte == 0) else {
            break;
        };
        let mut content = [0; 16];
        content.copy_from_slice(&head[1..]);
        files.push(TreeFile {
            path: rest[..end].to_vec(),
            kind: head[0],
            content,
            stamps: Vec::new(),
        });
        text = &rest[end + 1..];
    }
    files
}

fn named(files: &[String]) -> String {
    match files {
        [] => "its environment or toolchain".into(),
        files => hidden::names(files, MOST_NAMED),
    }
}

/// A check that has not run yet, and would end like this if it never did.
fn unrun(request: &Request, verdict: Verdict) -> Ran {
    Ran {
        name: request.name.clone(),
        key: request.key.clone(),
        verdict,
        took: Millis(0),
        log: String::new(),
        tree: request.tree.clone(),
        rewrites: Vec::new(),
    }
}

/// The signal, if somebody else ended the check. One that crashed by itself has failed.
fn ended_from_outside(code: i32) -> Option<i32> {
    const HUP: i32 = 1;
    const INT: i32 = 2;
    const KILL: i32 = 9;
    const TERM: i32 = 15;
    let signal = code - 128;
    matches!(signal, HUP | INT | KILL | TERM).then_some(signal)
}

/// Both of its streams go to the end of one file, so that they keep their order.
fn appending(log: &Path) -> std::io::Result<fs::File> {
    file::options().append(true).open(log)
}

/// The end of a log.
pub(crate) fn tail(log: &Path) -> Vec<u8> {
    let Ok(opened) = file::open(log) else {
        return Vec::new();
    };
    let size = opened.metadata().map_or(0, |meta| meta.len());
    let start = size.saturating_sub(MOST_READ);
    let mut bytes = vec![0; usize::try_from(size - start).unwrap_or(0)];
    match file::read_exact_at(&opened, &mut bytes, start) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

/// Deletes the oldest logs.
fn tidy(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut logs: Vec<_> = entries
        .filter(|entry| entry.path().extension().is_some_and(|kind| kind == "log"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    logs.sort_unstable();
    for (_, path) in logs.iter().rev().skip(LOGS_KEPT) {
        let _ = fs::remove_file(path);
    }
}

/// Nobody panics while holding it; even then, what was done is done.
fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
