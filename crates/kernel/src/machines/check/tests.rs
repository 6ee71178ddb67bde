//! Does the machine do what its table says, and never pass what it has not seen pass?

mod after_red;
mod table;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{borrow::ToOwned, vec};

use super::*;
use crate::effect::{EffectOwner, Intent};
use crate::event::{Background, Event, Kind};
use crate::machine::Verdict as Verdicted;
use crate::machines::conformance::{assert_arrow, event};

fn key(text: &str) -> Digest {
    Digest(text.into())
}

fn defined(name: &str) -> Defined {
    Defined {
        name: name.into(),
        when: vec![Occasion::Stop, Occasion::Handoff],
        timeout: Millis::seconds(600),
        retries: 0,
    }
}

fn facts(checks: &[&str]) -> Facts {
    Facts {
        checks: checks.iter().map(|name| defined(name)).collect(),
        occasions: Vec::new(),
        tree: "/p".into(),
        activity: Activity::Tools,
        max: 5,
        left: Millis::seconds(3_000),
        asked: None,
    }
}

fn stop(chain: Chain) -> Event {
    event(
        "s1",
        Kind::Stop {
            chain,
            background: Background::Quiet,
        },
    )
}

fn done(effect: Effect, outcome: Outcome) -> EffectStatus<Check> {
    EffectStatus::Done(intent(effect), outcome)
}

fn intent(effect: Effect) -> Intent<Check> {
    Intent {
        fence: Fence(1),
        effect,
        owner: EffectOwner::default(),
        since: Millis(0),
        deadline: Millis(0),
        uptime: crate::Uptime(0),
    }
}

fn ask(
    state: &State,
    facts: &Facts,
    event: &Event,
    status: &EffectStatus<Check>,
) -> Step<Check, OnStop> {
    let input = Input {
        event,
        now: Millis(7),
        facts,
        effect_status: status,
    };
    let step = Check::on_stop(state, &input);
    if !step.rule.is_empty() {
        assert_arrow::<Check>(step.rule, state, "stop", &step.state);
    }
    step
}

fn looked(name: &str, at: &str) -> Looked {
    Looked {
        name: name.into(),
        key: key(at),
        pins: Vec::new(),
        tree: None,
    }
}

fn ran(name: &str, at: &str, verdict: Verdict) -> Ran {
    Ran {
        name: name.into(),
        key: key(at),
        verdict,
        took: Millis::seconds(41),
        log: "/logs/1".into(),
        tree: None,
        rewrites: Vec::new(),
    }
}

fn fail(reason: &str) -> Verdict {
    Verdict::Fail(Failure {
        exit: "exit code 101".into(),
        said: "assertion failed: left == right".into(),
        reason: key(reason),
        changed: vec!["src/lib.rs".into()],
    })
}

/// One stop, from the look to the answer: `keys` is what the look finds, `run` what a run would.
fn play(
    state: &State,
    facts: &Facts,
    chain: Chain,
    keys: &[Looked],
    run: impl Fn(&Request) -> Verdict,
) -> (Step<Check, OnStop>, Vec<String>) {
    let event = stop(chain);
    let step = ask(state, facts, &event, &EffectStatus::Clear);
    let Verdicted::Need { effect, .. } = &step.verdict else {
        return (step, Vec::new());
    };
    let status = done(effect.clone(), Outcome::Looked(keys.to_vec()));
    let step = ask(state, facts, &event, &status);
    let Verdicted::Need { effect, .. } = &step.verdict else {
        return (step, Vec::new());
    };
    let Effect::Run(asked) = effect else {
        panic!("a run follows a look")
    };
    let started = asked.checks.iter().map(|one| one.name.clone()).collect();
    let results = asked
        .checks
        .iter()
        .map(|one| ran(&one.name, &one.key.0, run(one)));
    let status = done(effect.clone(), Outcome::Ran(results.collect()));
    (ask(state, facts, &event, &status), started)
}

fn held(step: &Step<Check, OnStop>) -> String {
    match &step.verdict {
        Verdicted::Say(OnStop::Hold(text)) => text.clone(),
        other => panic!("{other:?} holds nothing"),
    }
}

#[test]
fn a_red_check_holds_until_it_passes_and_the_pass_counts_for_that_tree_only() {
    let facts = facts(&["tests"]);
    let none = State::default();
    let at = |key: &str| [looked("tests", key)];
    let (red, _) = play(&none, &facts, Chain::First, &at("a"), |_| fail("x"));
    assert_eq!(red.rule, "red");
    let text = held(&red);
    for part in [
        "`tests` fails with exit code 101",
        "    | assertion failed: left == right",
        "src/lib.rs",
        "/logs/1",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let (green, _) = play(&red.state, &facts, Chain::Continued, &at("b"), |_| {
        Verdict::Pass
    });
    assert_eq!(
        (green.rule, green.verdict.clone()),
        ("green", Verdicted::Say(OnStop::Pass))
    );
    assert_eq!(green.notes, ["tests pass at b…, 41s"]);
    // Under the same key nothing runs; under another one it does.
    let (again, started) = play(&green.state, &facts, Chain::First, &at("b"), |_| fail("x"));
    assert_eq!(
        (again.rule, started.len(), again.notes.len()),
        ("green", 0, 0)
    );
    assert_eq!(again.state, green.state, "nothing is written");
    let (other, started) = play(&green.state, &facts, Chain::First, &at("c"), |_| fail("x"));
    assert_eq!((other.rule, started), ("red", vec!["tests".to_owned()]));
}

#[test]
fn only_a_finished_run_under_the_very_key_is_a_pass() {
    let facts = facts(&["tests"]);
    let verdicts = [
        (Verdict::Pass, true),
        (fail("x"), false),
        (Verdict::Flaky, false),
        (Verdict::CouldNotRun("it timed out".into()), false),
        (Verdict::NotStarted, false),
    ];
    for (verdict, passes) in verdicts {
        let keys = [looked("tests", "k")];
        let run = |_: &Request| verdict.clone();
        let (step, _) = play(&State::default(), &facts, Chain::First, &keys, run);
        let recorded = step.state.results.green("tests", &key("k"), "/p").is_some();
        assert_eq!(recorded, passes, "{verdict:?}");
    }
}

#[test]
fn a_check_that_passed_under_a_key_and_fails_under_it_later_has_not_passed() {
    let mut results = Results::default();
    results.record(&ran("tests", "k", Verdict::Pass), "/p", Millis(1));
    assert!(results.green("tests", &key("k"), "/p").is_some());
    results.record(&ran("tests", "k", fail("x")), "/q", Millis(2));
    assert!(results.green("tests", &key("k"), "/p").is_none());
}

#[test]
fn what_could_not_run_or_is_flaky_lets_go_and_the_person_is_told() {
    let facts = facts(&["tests"]);
    for (verdict, said) in [
        (
            Verdict::CouldNotRun("no such program".into()),
            "could not run: no such program",
        ),
        (Verdict::Flaky, "is flaky"),
    ] {
        let keys = [looked("tests", "k")];
        let (step, _) = play(&State::default(), &facts, Chain::First, &keys, |_| {
            verdict.clone()
        });
        assert_eq!(
            (step.rule, &step.verdict),
            ("unsure", &Verdicted::Say(OnStop::Pass))
        );
        assert!(step.notes[0].contains(said), "{:?}", step.notes);
    }
}

#[test]
fn the_same_reason_three_times_in_a_row_is_told_to_both() {
    let facts = facts(&["tests"]);
    let mut state = State::default();
    for (stop, reason, stuck) in [
        (1, "x", false),
        (2, "x", false),
        (3, "x", true),
        (4, "y", false),
    ] {
        let keys = [looked("tests", &format!("k{stop}"))];
        let (step, _) = play(&state, &facts, Chain::Continued, &keys, |_| fail(reason));
        assert_eq!(held(&step).contains("try another way"), stuck, "{stop}");
        assert_eq!(
            step.notes.iter().any(|note| note.contains("may be stuck")),
            stuck
        );
        state = step.state;
    }
}

#[test]
fn at_the_maximum_the_agent_is_let_go_and_nothing_is_handed_over() {
    let facts = Facts {
        max: 2,
        ..facts(&["tests"])
    };
    let keys = [looked("tests", "k")];
    let (first, _) = play(&State::default(), &facts, Chain::First, &keys, |_| {
        fail("x")
    });
    assert_eq!(first.rule, "red");
    let (second, _) = play(&first.state, &facts, Chain::Continued, &keys, |_| fail("x"));
    assert_eq!(second.rule, "gave-up");
    assert_eq!(second.verdict, Verdicted::Say(OnStop::PassAlone));
    assert!(
        second.notes[0].contains("No review starts"),
        "{:?}",
        second.notes
    );
    // The next prompt counts anew.
    let (third, _) = play(&second.state, &facts, Chain::First, &keys, |_| fail("x"));
    assert_eq!((third.rule, third.state.memory.reds), ("red", 1));
    let forever = Facts { max: 0, ..facts };
    let (fourth, _) = play(&second.state, &forever, Chain::Continued, &keys, |_| {
        fail("x")
    });
    assert_eq!(fourth.rule, "red");
}

#[test]
fn a_changed_pin_holds_counts_and_keeps_the_check_from_running() {
    let facts = Facts {
        max: 2,
        ..facts(&["tests", "lint"])
    };
    let pinned = Looked {
        pins: vec!["ci.sh".into()],
        ..looked("tests", "k")
    };
    let keys = [pinned, looked("lint", "l")];
    let (step, started) = play(&State::default(), &facts, Chain::First, &keys, |_| {
        Verdict::Pass
    });
    assert_eq!(step.rule, "pinned");
    assert_eq!(started, ["lint"], "the others run");
    let text = held(&step);
    assert!(
        text.contains("ci.sh") && text.contains("mainspring trust"),
        "{text}"
    );
    let (next, _) = play(&step.state, &facts, Chain::Continued, &keys, |_| {
        Verdict::Pass
    });
    assert_eq!(next.rule, "gave-up");
    assert!(next.notes[0].contains("pinned files"), "{:?}", next.notes);
}

#[test]
fn a_turn_without_tools_runs_nothing_unless_it_hands_over_or_owes_it() {
    let quiet = Facts {
        activity: Activity::NoTools,
        ..facts(&["tests"])
    };
    let rule = |state: &State, facts: &Facts| {
        ask(state, facts, &stop(Chain::First), &EffectStatus::Clear).rule
    };
    assert_eq!(rule(&State::default(), &quiet), "idle");
    let unknown = Facts {
        activity: Activity::Unknown,
        ..quiet.clone()
    };
    assert_eq!(rule(&State::default(), &unknown), "look");
    let handoff = Facts {
        occasions: vec![Occasion::Handoff],
        ..quiet.clone()
    };
    assert_eq!(rule(&State::default(), &handoff), "look");
    let review = Facts {
        occasions: vec![Occasion::Review],
        ..quiet.clone()
    };
    assert_eq!(
        rule(&State::default(), &review),
        "idle",
        "it is not for reviews"
    );
    let mut owed = State::default();
    owed.memory.stage = Stage::Owed;
    assert_eq!(rule(&owed, &quiet), "look");
}

#[test]
fn while_a_sub_agent_works_nothing_runs_and_the_next_stop_makes_up_for_it() {
    let working = event(
        "s1",
        Kind::Stop {
            chain: Chain::First,
            background: Background::Working,
        },
    );
    let step = ask(
        &State::default(),
        &facts(&["tests"]),
        &working,
        &EffectStatus::Clear,
    );
    assert_eq!(
        (step.rule, Check::label(&step.state)),
        ("background", "owed")
    );
}

#[test]
fn a_run_of_another_process_is_waited_for_and_never_passed_by() {
    let run = Effect::Run(Run {
        checks: Vec::new(),
        pinned: Vec::new(),
    });
    let running = EffectStatus::Running(intent(run));
    let facts = facts(&["tests"]);
    let step = ask(&State::default(), &facts, &stop(Chain::First), &running);
    assert!(matches!(
        &step.verdict,
        Verdicted::Need {
            effect: Effect::Look {
                after: Some(Fence(1)),
                ..
            },
            ..
        }
    ));
    let late = Facts {
        left: Millis::seconds(5),
        ..facts
    };
    let step = ask(&State::default(), &late, &stop(Chain::First), &running);
    assert_eq!(step.rule, "busy");
    assert!(held(&step).contains("stop again"));
}

#[test]
fn what_had_no_time_to_start_holds_until_the_next_stop() {
    let facts = facts(&["build", "tests"]);
    let keys = [looked("build", "b"), looked("tests", "t")];
    let (step, _) = play(&State::default(), &facts, Chain::First, &keys, |one| {
        if one.name == "build" {
            Verdict::Pass
        } else {
            Verdict::NotStarted
        }
    });
    assert_eq!(step.rule, "later");
    assert_eq!(
        held(&step),
        "build is done, tests starts at your next stop, because this one has no time left. You \
         need not do anything: stop again."
    );
}

#[test]
fn a_persons_command_runs_what_it_names_even_if_it_has_passed() {
    let nobody = Event {
        session: None,
        ..stop(Chain::First)
    };
    let facts = Facts {
        asked: Some(vec!["lint".into()]),
        ..facts(&["tests", "lint"])
    };
    let mut state = State::default();
    state
        .results
        .record(&ran("lint", "k", Verdict::Pass), "/p", Millis(1));
    let step = ask(&state, &facts, &nobody, &EffectStatus::Clear);
    let Verdicted::Need {
        effect: Effect::Look { checks, .. },
        ..
    } = &step.verdict
    else {
        panic!("{step:?}")
    };
    assert_eq!(checks, &["lint"]);
    let look = Effect::Look {
        checks: Vec::new(),
        others: Vec::new(),
        after: None,
    };
    let status = done(look, Outcome::Looked(vec![looked("lint", "k")]));
    assert_eq!(ask(&state, &facts, &nobody, &status).rule, "run");
}

#[test]
fn a_session_without_an_id_and_a_project_without_checks_are_left_alone() {
    let nobody = Event {
        session: None,
        ..stop(Chain::First)
    };
    for (event, facts) in [
        (nobody, facts(&["tests"])),
        (stop(Chain::First), facts(&[])),
    ] {
        let step = ask(&State::default(), &facts, &event, &EffectStatus::Clear);
        assert_eq!((step.rule, step.state), ("", State::default()));
    }
}

#[test]
fn what_a_check_printed_is_not_in_the_record() {
    let run = Effect::Run(Run {
        checks: Vec::new(),
        pinned: Vec::new(),
    });
    let mut input = InputOf::<Check>::new(State::default(), facts(&["tests"]));
    input.effect_status = done(run, Outcome::Ran(vec![ran("tests", "k", fail("x"))]));
    Check::reduce(&mut input, Reducer::new(|_| key("d")));
    assert!(!format!("{input:?}").contains("assertion failed"));
}

#[test]
fn a_command_means_one_check_or_all_and_names_what_there_is() {
    let checks = facts(&["build", "tests"]).checks;
    assert_eq!(verbs::wanted(&checks, None).map(|all| all.len()), Ok(2));
    assert_eq!(
        verbs::wanted(&checks, Some("tests")).map(|all| all.len()),
        Ok(1)
    );
    let error = verbs::wanted(&checks, Some("test")).expect_err("no such check");
    assert_eq!(error.to_string(), "there is no check `test`");
    assert_eq!(verbs::wanted(&[], None), Err(verbs::Refused::NoChecks));
}
