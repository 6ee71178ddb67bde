//! One process is paused at a call while another runs, and then continues. The result must be the
//! same as if one had run after the other.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::check;
use super::lab::{Lab, Subject, event_file, finish, without_digits};
use super::paths::{self, Does, Path};
use super::strace::{self, Injection};
use super::sweep::{Depth, Tally};

/// The process that runs while the first one is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Other {
    /// The same event, delivered twice.
    Twice,
    /// Another stop of the same session.
    NextStop,
    /// Another session's stop in the same project.
    Neighbour,
    /// A person who says `stop`.
    Suspend,
    /// A stop after a reboot: it takes the first process for dead.
    NextBoot,
}

const OTHERS: [Other; 4] = [
    Other::Twice,
    Other::NextStop,
    Other::Neighbour,
    Other::Suspend,
];

/// How long a process may take that waits only for us.
const PATIENCE: Duration = Duration::from_secs(60);
/// After this time we assume that the other waits for the paused one.
const WAITING: Duration = Duration::from_millis(100);

/// The results of two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Came {
    mark: String,
    first: String,
    other: String,
}

pub(super) fn sweep(subject: &Subject, path: &Path, depth: Depth) -> Tally {
    let mut lab = Lab::new(subject, path);
    let calls = lab.calls();
    let mut tally = Tally::default();
    if path.has_children {
        // The process that comes back takes the lock again.
        let locks = |(call, _): &(String, usize)| depth == Depth::Full || call == "flock";
        for (call, k) in points(&calls, Depth::Full).into_iter().filter(locks) {
            if subject.satisfied_by(&tally) {
                return tally;
            }
            let at = format!("{}: stopped at {call} #{k} over a boot", path.name);
            let result = over_a_boot(&mut lab, &call, k);
            tally.add(at, result);
        }
    }
    for other in OTHERS {
        if other == Other::Twice && path.does != Does::Hook {
            continue;
        }
        let orders = [
            in_turn(&lab, other, Order::FirstThenOther),
            in_turn(&lab, other, Order::OtherThenFirst),
        ];
        if other == Other::Twice {
            let once = orders.iter().all(|order| order.mark == lab.new);
            let result = once.then_some(()).ok_or(format!(
                "delivered twice it is applied twice: {orders:?}, not {:?}",
                lab.new
            ));
            tally.add(format!("{}: delivered twice", path.name), result);
        }
        for (call, k) in points(&calls, depth) {
            if subject.satisfied_by(&tally) {
                return tally;
            }
            let at = format!("{}: stopped at {call} #{k} for {other:?}", path.name);
            tally.add(at, point(&lab, other, &call, k, &orders));
        }
    }
    if depth == Depth::Full && path.does == Does::Hook {
        let held = calls.iter().any(|(call, _)| call == "fdatasync");
        if held && !path.has_children {
            let at = format!("{}: stopped with the lock", path.name);
            tally.add(at, with_the_lock(&lab));
        }
    }
    tally
}

fn points(calls: &[(String, usize)], depth: Depth) -> Vec<(String, usize)> {
    let wanted = |call: &str, k: usize| match depth {
        Depth::Full => true,
        Depth::Quick => strace::changes_files(call) && k.is_multiple_of(4),
    };
    calls
        .iter()
        // Nothing follows the exit, and memory is not shared.
        .filter(|(call, _)| {
            !["exit_group", "mmap", "munmap", "mprotect", "brk"].contains(&call.as_str())
        })
        .flat_map(|(call, count)| (1..=*count).map(move |k| (call.clone(), k)))
        .filter(|(call, k)| wanted(call, *k))
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    FirstThenOther,
    OtherThenFirst,
}

fn in_turn(lab: &Lab<'_>, other: Other, order: Order) -> Came {
    lab.reset();
    let run_other = || finish(&mut other_command(lab, other)).stdout;
    let run_first = || finish(lab.command(&[]).stdin(lab.stdin())).stdout;
    let (first, other) = match order {
        Order::FirstThenOther => {
            let first = run_first();
            (first, run_other())
        }
        Order::OtherThenFirst => {
            let other = run_other();
            (run_first(), other)
        }
    };
    lab.settle();
    Came {
        mark: lab.mark(),
        first,
        other,
    }
}

fn other_command(lab: &Lab<'_>, other: Other) -> Command {
    let world = &lab.world;
    if other == Other::Suspend {
        let mut command = world.command_under(&[], &["stop"]);
        command.stdin(Stdio::null());
        return command;
    }
    let event = match other {
        Other::Twice => lab.event.clone(),
        Other::NextStop | Other::NextBoot | Other::Suspend => world.stop("Something else."),
        Other::Neighbour => world.event(
            "Stop",
            json!({"session_id": "t", "stop_hook_active": false, "last_assistant_message": "Me too."}),
        ),
    };
    let file = world.root().join("tmp/other-event");
    fs::write(&file, event).expect("room for an event");
    let mut command = world.command_under(&[], &["hook"]);
    if other == Other::Twice {
        // Two registrations get the same event; to one of them, it would be a new stop.
        command.env("CLAUDE_PLUGIN_ROOT", "/elsewhere");
    }
    command.stdin(File::open(file).expect("the event is there"));
    command
}

/// A run that is paused at a call.
struct Stopped {
    strace: Child,
    pid: Pid,
}

/// Starts the path and waits until it is paused there; `None` if it never was.
fn stop_at(lab: &Lab<'_>, call: &str, k: usize) -> Option<Stopped> {
    let trace = lab.world.root().join("trace");
    let _ = fs::remove_file(&trace);
    let inject = Injection::new(lab.path, call, &format!("signal=SIGSTOP:when={k}"));
    let name = trace.to_string_lossy();
    let mut starter = vec!["strace", "-qq", "-o", &name];
    starter.extend(inject.options());
    let mut strace = lab
        .command(&starter)
        .stdin(event_file(&lab.world, &lab.event))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("strace runs");
    let start = Instant::now();
    loop {
        let stopped = fs::read_to_string(&trace).is_ok_and(|text| text.contains("--- stopped by"));
        if stopped {
            let pid = only_child(strace.id());
            return Some(Stopped { strace, pid });
        }
        if strace.try_wait().expect("a child of ours").is_some() || start.elapsed() > PATIENCE {
            let _ = strace.kill();
            let _ = strace.wait();
            return None;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

fn only_child(id: u32) -> Pid {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.expect("a process of ours");
    let pid = children.split_whitespace().next();
    let pid = pid.and_then(|pid| pid.parse().ok());
    pid.and_then(Pid::from_raw).expect("it has one child")
}

fn stop_within_tries(lab: &Lab<'_>, call: &str, k: usize) -> Result<Stopped, String> {
    for _ in 0..lab.tries() {
        lab.reset();
        if let Some(stopped) = stop_at(lab, call, k) {
            return Ok(stopped);
        }
    }
    Err("it was not stopped".into())
}

impl Stopped {
    /// Lets it run to its end, and returns its output.
    fn go_on(mut self) -> Result<String, String> {
        // A SIGCONT does not end a stop that comes after it.
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let _ = kill_process(self.pid, Signal::CONT);
            if let Ok(text) = said_within(&mut self.strace, Duration::from_millis(200)) {
                return Ok(text);
            }
        }
        said(&mut self.strace, Duration::ZERO)
    }
}

/// Waits for a child's end, or kills it, and returns its output.
fn said(child: &mut Child, patience: Duration) -> Result<String, String> {
    said_within(child, patience).inspect_err(|_| {
        let _ = child.kill();
        let _ = child.wait();
    })
}

fn said_within(child: &mut Child, patience: Duration) -> Result<String, String> {
    let start = Instant::now();
    while child.try_wait().expect("a child of ours").is_none() {
        if start.elapsed() > patience {
            return Err(format!("no end after {patience:?}"));
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    let mut text = String::new();
    let mut stdout = child.stdout.take().expect("it is piped");
    std::io::Read::read_to_string(&mut stdout, &mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

fn start(command: &mut Command) -> Child {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// Runs the other to its end, or until it waits for the paused one.
fn until_done_or_waiting(child: &mut Child, patience: Duration) {
    let start = Instant::now();
    while child.try_wait().expect("a child of ours").is_none() {
        if waits_for_a_lock(child.id()) || start.elapsed() > patience {
            return;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Does it wait in the kernel, or sleep between tries, with the lock file open?
fn waits_for_a_lock(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let mut tasks = tasks.into_iter().flatten().flatten();
    let has_a_lock = || {
        let files = fs::read_dir(format!("/proc/{pid}/fd"));
        let mut files = files.into_iter().flatten().flatten();
        files.any(|file| {
            fs::read_link(file.path()).is_ok_and(|file| file.ends_with("claim-gh.lock"))
        })
    };
    tasks.any(|task| {
        fs::read_to_string(task.path().join("wchan"))
            .is_ok_and(|name| name.contains("lock") || (name.contains("nanosleep") && has_a_lock()))
    })
}

fn point(
    lab: &Lab<'_>,
    kind: Other,
    call: &str,
    k: usize,
    orders: &[Came; 2],
) -> Result<(), String> {
    let stopped = stop_within_tries(lab, call, k)?;
    let mut child = start(&mut other_command(lab, kind));
    until_done_or_waiting(&mut child, WAITING);
    let first = stopped.go_on()?;
    let other = said(&mut child, PATIENCE)?;
    lab.settle();
    let found = Came {
        mark: lab.mark(),
        first,
        other,
    };
    // Both deliveries may get the same answer.
    let twice = kind == Other::Twice && found.first == found.other;
    let like = |order: &Came| {
        // A process that comes while a child runs is told so, so only the remaining state is
        // compared.
        let answers = lab.path.has_children
            || twice
            || (same(&order.first, &found.first) && same(&order.other, &found.other));
        order.mark == found.mark && answers
    };
    if !orders.iter().any(like) {
        return Err(format!(
            "as in no order of the two:\n  found {found:?}\n  not   {:?}\n  nor   {:?}",
            orders[0], orders[1]
        ));
    }
    no_mess(lab)
}

/// Counts must be the same; times may differ.
fn same(one: &str, other: &str) -> bool {
    let timed = ["let go after", "until", "paused", ".aside-"];
    if timed.iter().any(|words| one.contains(words)) {
        without_digits(one) == without_digits(other)
    } else {
        one == other
    }
}

fn no_mess(lab: &Lab<'_>) -> Result<(), String> {
    check::nothing_torn(&lab.world)?;
    check::nothing_left_over(&lab.world)?;
    match paths::reviews(&lab.world) {
        0 | 1 => Ok(()),
        count => Err(format!("{count} reviewers were started for one review")),
    }
}

/// While it is paused, another process finds its record and takes it for a dead process's. A result
/// that it brings back afterwards must not count a second time.
fn over_a_boot(lab: &mut Lab<'_>, call: &str, k: usize) -> Result<(), String> {
    let stopped = stop_within_tries(lab, call, k)?;
    let boot = lab.world.root().join("boot");
    fs::write(&boot, "00000000-0000-4000-8000-000000000000\n").expect("room for an id");
    lab.world.in_boot(Some(boot));
    let mut child = start(&mut other_command(lab, Other::NextBoot));
    lab.world.in_boot(None);
    // Only one of the two may take the other for dead, and it has done so when we continue.
    until_done_or_waiting(&mut child, PATIENCE);
    let first = stopped.go_on()?;
    let other = said(&mut child, PATIENCE)?;
    lab.settle();
    let mark = lab.mark();
    if mark != lab.new && mark != lab.old {
        return Err(format!(
            "the result of a process that was taken for dead counts: {mark:?}, not {:?}\n  \
             first: {first}\n  other: {other}",
            lab.new
        ));
    }
    // Two started the same review: the one that was taken over is told so.
    let begun = paths::state_text(&lab.world, "journal.jsonl")
        .matches("\"intends\":{")
        .count();
    let late = [&first, &other]
        .iter()
        .any(|said| said.contains("came too late"));
    if begun > 1 && paths::reviews(&lab.world) > 0 && !late {
        return Err(format!(
            "{begun} began, and both results count\n  first: {first}\n  other: {other}"
        ));
    }
    check::nothing_torn(&lab.world)
}

/// The process with the lock may hang: the others must answer meanwhile.
fn with_the_lock(lab: &Lab<'_>) -> Result<(), String> {
    let stopped = stop_within_tries(lab, "fdatasync", 1)?;
    let mut child = start(&mut other_command(lab, Other::NextStop));
    let answer = said(&mut child, PATIENCE);
    let first = stopped.go_on()?;
    let answer = answer.map_err(|problem| format!("the other waits for ever: {problem}"))?;
    if !answer.contains("systemMessage") || answer.contains("\"decision\":\"block\"") {
        return Err(format!("the other is not let go loudly: {answer:?}"));
    }
    if first != lab.healthy.stdout || lab.mark() != lab.new {
        return Err(format!("the first one was disturbed: {first:?}"));
    }
    no_mess(lab)
}
