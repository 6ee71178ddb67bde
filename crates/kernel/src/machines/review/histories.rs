//! Histories of reviews, as tables: those that never converge go to the person soon after the first
//! repeat, those that converge never do.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::findings::{How, Reply, Report, Reported, Severity, Status};
use super::world::{StopResult, World};
use super::*;
use crate::effect::EffectStatus;

/// A round: what the reviewer says (`+a` found, `a!` not fixed, `a.` fixed, `a-` withdrawn), and,
/// after a bar, what the agent answers (`a:f` fixed, `a:d` disputed). Without a bar it says of
/// everything that it is fixed.
type History = &'static [&'static str];

#[rustfmt::skip]
const NEVER: [(&str, History); 12] = [
    ("one finding is never fixed",              &["+a", "a!", "a!", "a!"]),
    ("one finding is disputed each time",       &["+a |a:d", "a! |a:d", "a!"]),
    ("it is fixed and comes back",              &["+a", "a.", "+a", "a.", "+a", "a."]),
    ("two take turns",                          &["+a +b", "a! b.", "a. +b", "+a b.", "a! +b"]),
    ("each round brings more, and one stays",   &["+a +b", "a! b. +c", "a! c. +d", "a! d. +e"]),
    ("disputed, then called fixed",             &["+a |a:d", "a! |a:f", "a! |a:d", "a!"]),
    ("withdrawn and found again",               &["+a", "a-", "+a", "a-", "+a"]),
    ("two are disputed each time",              &["+a +b |a:d b:d", "a! b! |a:d b:d", "a! b!"]),
    ("the agent answers nothing",               &["+a |", "a! |", "a! |", "a!"]),
    ("two of three are fixed",                  &["+a +b +c", "a. b. c!", "c!", "c!"]),
    ("a late one stays",                        &["+a", "a. +b", "b. +c", "c!", "c!", "c!"]),
    ("a reviewer says it twice in one answer",  &["+a", "a! +a", "a! +a", "a!"]),
];

#[rustfmt::skip]
const CONVERGING: [(&str, History); 12] = [
    ("clean at once",                           &["", ""]),
    ("one finding, fixed",                      &["+a", "a.", ""]),
    ("one of two is fixed late",                &["+a +b", "a. b!", "b.", ""]),
    ("disputed and withdrawn",                  &["+a |a:d", "a-", ""]),
    ("each round brings another",               &["+a", "a. +b", "b. +c", "c. +d", "d.", ""]),
    ("disputed once, then fixed",               &["+a |a:d", "a! |a:f", "a.", ""]),
    ("comes back once",                         &["+a", "a.", "+a", "a.", ""]),
    ("three fates",                             &["+a +b +c", "a. b! c-", "b.", ""]),
    ("not fixed once",                          &["+a", "a!", "a.", ""]),
    ("clean, then a finding",                   &["", "+a", "a.", ""]),
    ("withdrawn, and another",                  &["+a |a:d", "a- +b", "b.", ""]),
    ("two disputes, one given up",              &["+a +b |a:d b:d", "a- b! |b:f", "b.", ""]),
];

fn report(said: &str) -> (Report, Verdict) {
    let mut report = Report::default();
    let mut verdict = Verdict::Pass;
    for word in said.split_whitespace() {
        if let Some(name) = word.strip_prefix('+') {
            report.findings.push(Reported {
                id: name.into(),
                severity: Severity::Major,
                place: Some("src/a.rs:1".into()),
                claim: format!("{name} is wrong"),
                evidence: String::new(),
                print: Digest(name.into()),
            });
            verdict = Verdict::Fail;
            continue;
        }
        let (name, status) = word.split_at(1);
        let status = match status {
            "!" => Status::NotFixed,
            "." => Status::Fixed,
            _ => Status::Withdrawn,
        };
        if status == Status::NotFixed {
            verdict = Verdict::Fail;
        }
        report.earlier.push((name.into(), status));
    }
    (report, verdict)
}

fn replies(world: &World, answers: Option<&str>) -> Vec<Reply> {
    let open = world
        .plan
        .memory
        .ledger
        .iter()
        .filter(|entry| entry.is_open());
    let Some(answers) = answers else {
        return open
            .map(|entry| Reply {
                id: entry.id.clone(),
                how: How::Fixed,
                why: "done".into(),
            })
            .collect();
    };
    let reply = |word: &str| {
        let (name, how) = word.split_once(':').expect("an answer");
        Reply {
            id: name.to_string(),
            how: if how == "d" {
                How::Disputed
            } else {
                How::Fixed
            },
            why: "because".into(),
        }
    };
    answers.split_whitespace().map(reply).collect()
}

/// How a history ends.
#[derive(Debug, PartialEq)]
enum End {
    /// The person is asked after so many reviews.
    Escalated(usize),
    Passed,
    Open,
}

fn play(history: History) -> End {
    let mut world = World::due(Kind::Plan);
    for (at, round) in history.iter().enumerate() {
        let (said, answers) = match round.split_once('|') {
            Some((said, answers)) => (said, Some(answers)),
            None => (*round, None),
        };
        let intent = match world.hear() {
            StopResult::Runs(intent) => *intent,
            StopResult::Says { notes, .. } => {
                assert!(notes[0].contains("do not agree"), "{notes:?}");
                return End::Escalated(at);
            }
        };
        let (report, verdict) = report(said);
        world.facts.written.push(intent.effect.iteration);
        let outcome = Outcome {
            report: Some(report),
            ..Outcome::new(Finding::Reviewed(verdict), Millis(1), 1)
        };
        world.effect_status = EffectStatus::Done(intent, outcome);
        let (hold, notes) = world.says();
        if notes.iter().any(|note| note.contains("do not agree")) {
            assert_eq!(hold, "");
            return End::Escalated(at + 1);
        }
        if world.fields().awaited().is_none() {
            return End::Passed;
        }
        world.facts.replies = replies(&world, answers);
        world.answers();
    }
    End::Open
}

/// The round in which something is said again for the first time.
fn first_repeat(history: History) -> usize {
    let repeats = |at: usize, round: &str| {
        round.split_whitespace().any(|word| {
            let again = word
                .strip_prefix('+')
                .is_some_and(|name| history[..at].iter().any(|before| before.contains(name)));
            word.ends_with('!') || again
        })
    };
    let found = history
        .iter()
        .enumerate()
        .position(|(at, round)| repeats(at, round.split('|').next().unwrap_or_default()));
    found.expect("it repeats") + 1
}

#[test]
fn what_never_converges_goes_to_the_person_within_three_rounds_of_the_first_repeat() {
    for (name, history) in NEVER {
        let End::Escalated(round) = play(history) else {
            panic!("{name}: not escalated");
        };
        let repeat = first_repeat(history);
        assert!(
            round <= repeat + 3,
            "{name}: {round}, first repeat {repeat}"
        );
        assert!(round >= repeat, "{name}: before anything was repeated");
    }
}

#[test]
fn what_converges_never_goes_to_the_person() {
    for (name, history) in CONVERGING {
        assert_eq!(play(history), End::Passed, "{name}");
    }
}
