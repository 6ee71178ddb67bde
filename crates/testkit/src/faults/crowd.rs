//! Many sessions at once in one project, each with its own count, while some of their hooks are
//! killed at random moments.

use std::fs::{self, File};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::json;

use super::lab::{Subject, finish};
use super::sweep::{Depth, Tally};
use crate::world::World;

/// One in so many hooks is killed.
const KILLED: u64 = 20;
/// Hosts kill a stop hook after ten minutes; no hook should come near that.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn sweep(subject: &Subject, depth: Depth) -> Tally {
    let (sessions, hooks) = match depth {
        Depth::Quick => (16, 12),
        Depth::Full => (64, 1_000),
    };
    let mut tally = Tally::default();
    for kills in [false, true] {
        crowd(subject, sessions, hooks, kills, &mut tally);
    }
    tally
}

/// What one session observed.
#[derive(Default)]
struct Saw {
    attempts: u32,
    answers: Vec<u32>,
    times: Vec<Duration>,
    problems: Vec<String>,
}

fn crowd(subject: &Subject, sessions: u32, hooks: u32, kills: bool, tally: &mut Tally) {
    let world = subject.world();
    world.person(&["gate", "on", "--project"]);
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for session in 0..sessions {
            let (world, all) = (&world, &all);
            scope.spawn(move || {
                let saw = attend(world, session, hooks, kills);
                let count = counted(world, session);
                all.lock()
                    .expect("no thread panics")
                    .push((session, saw, count));
            });
        }
    });
    let mut times = Vec::new();
    let (mut attempts, mut answers, mut total) = (0, 0, 0);
    for (session, saw, count) in all.into_inner().expect("all threads are done") {
        attempts += saw.attempts;
        answers += u32::try_from(saw.answers.len()).unwrap_or(u32::MAX);
        total += count;
        times.extend(saw.times.iter().copied());
        let told = format!("session {session} of {sessions}, kills: {kills}");
        tally.points += saw.attempts as usize;
        let result = judge(&saw, count, kills);
        if let Err(problem) = result {
            tally.failures.push(format!("{told}: {problem}"));
        }
    }
    times.sort();
    let at = |part: usize| {
        times
            .get(times.len() * part / 100)
            .copied()
            .unwrap_or_default()
    };
    tally.notes.insert(format!(
        "{sessions} sessions × {hooks} hooks{}: {attempts} started, {answers} answered, {total} \
         counted; median {} ms, p99 {} ms, longest {} ms",
        if kills { ", one in 20 killed" } else { "" },
        at(50).as_millis(),
        at(99).as_millis(),
        times.last().copied().unwrap_or_default().as_millis(),
    ));
    let journal = fs::read_to_string(world.state().join("journal.jsonl")).unwrap_or_default();
    if let Err(problem) = in_sequence(&journal) {
        tally.failures.push(problem);
    }
}

/// No answer is given twice or skipped, and every answer was counted.
fn judge(saw: &Saw, count: u32, kills: bool) -> Result<(), String> {
    if let Some(problem) = saw.problems.first() {
        return Err(problem.clone());
    }
    if !saw.answers.is_sorted_by(|one, next| one < next) {
        return Err(format!("answers out of order: {:?}", saw.answers));
    }
    let answers = u32::try_from(saw.answers.len()).unwrap_or(u32::MAX);
    if kills {
        let fits = answers <= count && count <= saw.attempts;
        let told = saw.answers.last().is_none_or(|last| *last <= count);
        return (fits && told).then_some(()).ok_or_else(|| {
            format!(
                "{answers} answered ≤ {count} counted ≤ {} started does not hold",
                saw.attempts
            )
        });
    }
    let every: Vec<u32> = (1..=saw.attempts).collect();
    if saw.answers != every || count != saw.attempts {
        return Err(format!(
            "{} started, {count} counted, {answers} answered",
            saw.attempts
        ));
    }
    Ok(())
}

fn counted(world: &World, session: u32) -> u32 {
    let file = world.root().join(format!("tmp/taskmaster/n{session}"));
    let text = fs::read_to_string(file).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

fn attend(world: &World, session: u32, hooks: u32, kills: bool) -> Saw {
    let mut saw = Saw::default();
    let mut seed = u64::from(session) + 1;
    for number in 0..hooks {
        let event = world.event(
            "Stop",
            json!({"session_id": format!("n{session}"), "stop_hook_active": number > 0,
                   "last_assistant_message": format!("Step {number}.")}),
        );
        let file = world.root().join(format!("tmp/event-{session}"));
        fs::write(&file, event).expect("room for an event");
        let mut command = world.command_under(&[], &["hook"]);
        command.stdin(File::open(&file).expect("the event is there"));
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        saw.attempts += 1;
        if kills && (seed >> 33).is_multiple_of(KILLED) {
            let spawned = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            let mut child = spawned.expect("it starts");
            std::thread::sleep(Duration::from_micros((seed >> 20) % 12_000));
            let _ = child.kill();
            let _ = child.wait();
            continue;
        }
        let start = Instant::now();
        let ran = finish(&mut command);
        let took = start.elapsed();
        saw.times.push(took);
        if took > PATIENCE {
            saw.problems.push(format!("it took {took:?}"));
        }
        match answer(&ran.stdout) {
            Some(count) => saw.answers.push(count),
            None => saw
                .problems
                .push(format!("it was not held: {} {}", ran.stdout, ran.stderr)),
        }
    }
    saw
}

/// The number in `TASKMASTER (7)`.
fn answer(stdout: &str) -> Option<u32> {
    let (_, rest) = stdout.split_once("TASKMASTER (")?;
    rest.split_once(')')?.0.parse().ok()
}

/// The records of the last segment are numbered without a gap.
fn in_sequence(journal: &str) -> Result<(), String> {
    let number = |line: &str| -> Option<u64> {
        let (_, rest) = line.split_once("\"seq\":")?;
        rest.split_once(',')?.0.parse().ok()
    };
    let numbers: Vec<u64> = journal.lines().filter_map(number).collect();
    let next = numbers.windows(2).find(|pair| pair[1] != pair[0] + 1);
    next.map_or(Ok(()), |pair| {
        Err(format!("record {} follows {}", pair[1], pair[0]))
    })
}
