//! After red, per check and tree: only a run makes green.

use super::*;

/// The check failed at `/p`, in whichever session.
fn red() -> State {
    let mut state = State::default();
    state
        .results
        .record(&ran("tests", "old", Verdict::Pass), "/p", Millis(1));
    state
        .results
        .record(&ran("tests", "bad", fail("x")), "/p", Millis(2));
    state
}

/// What a check did that did not end by itself.
fn did(what: &str) -> Failure {
    Failure {
        exit: what.into(),
        said: "waiting for the lock".into(),
        reason: key(what),
        changed: Vec::new(),
    }
}

fn handing_over() -> Facts {
    Facts {
        occasions: vec![Occasion::Handoff],
        ..facts(&["tests"])
    }
}

fn rule_and_answer(step: &Step<Check, OnStop>) -> (&'static str, bool, bool) {
    let holds = matches!(step.verdict, Verdicted::Say(OnStop::Hold(_)));
    let alone = step.verdict == Verdicted::Say(OnStop::PassAlone);
    (step.rule, holds, alone)
}

#[test]
fn an_old_pass_does_not_count_after_red_and_a_run_makes_it_green() {
    let at = [looked("tests", "old")];
    let (step, started) = play(&red(), &facts(&["tests"]), Chain::First, &at, |_| fail("x"));
    assert_eq!((step.rule, started.len()), ("red", 1));
    let (step, started) = play(&red(), &facts(&["tests"]), Chain::First, &at, |_| {
        Verdict::Pass
    });
    assert_eq!((step.rule, started.len()), ("green", 1));
    let (step, started) = play(&step.state, &facts(&["tests"]), Chain::First, &at, |_| {
        fail("x")
    });
    assert_eq!((step.rule, started.len()), ("green", 0), "now it is known");
}

#[test]
fn red_in_one_tree_is_not_red_in_another() {
    let elsewhere = Facts {
        tree: "/q".into(),
        ..facts(&["tests"])
    };
    let at = [looked("tests", "old")];
    let (step, started) = play(&red(), &elsewhere, Chain::First, &at, |_| fail("x"));
    assert_eq!((step.rule, started.len()), ("green", 0));
}

#[test]
fn what_does_not_come_to_its_end_is_red_after_red_and_told_before() {
    let verdicts = [
        Verdict::TimedOut(did("it timed out after 10m")),
        Verdict::Unfinished(did("it printed more than 64 MiB")),
    ];
    for verdict in verdicts {
        let at = [looked("tests", "new")];
        let facts = facts(&["tests"]);
        let run = |_: &Request| verdict.clone();
        let (step, _) = play(&red(), &facts, Chain::First, &at, run);
        assert_eq!(step.rule, "red", "{verdict:?}");
        let text = held(&step);
        let what = &verdict.failure().expect("what it did").exit;
        let says = format!("The check `tests` does not come to its end: {what}.");
        assert!(text.contains(&says), "{text}");
        assert!(text.contains("    | waiting for the lock"), "{text}");
        // Up to the maximum.
        let last = Facts { max: 1, ..facts };
        let (step, _) = play(&red(), &last, Chain::First, &at, run);
        assert_eq!(rule_and_answer(&step), ("gave-up", false, true));
        // Nothing was red.
        let (step, _) = play(&State::default(), &last, Chain::First, &at, run);
        assert_eq!(rule_and_answer(&step), ("unsure", false, false));
        assert!(step.notes[0].contains(what), "{:?}", step.notes);
    }
}

#[test]
fn a_check_that_came_to_an_end_before_and_hangs_now_has_an_ordinary_bug() {
    let mut green = State::default();
    green
        .results
        .record(&ran("tests", "old", Verdict::Pass), "/p", Millis(1));
    let at = [looked("tests", "new")];
    let hangs = |_: &Request| Verdict::TimedOut(did("it timed out after 10m"));
    let (step, _) = play(&green, &facts(&["tests"]), Chain::First, &at, hangs);
    assert!(held(&step).contains("it timed out after 10m"));
    assert!(step.state.results.is_red("tests", "/p"));
    let floods = |_: &Request| Verdict::Unfinished(did("it printed more than 64 MiB"));
    let (step, _) = play(&green, &facts(&["tests"]), Chain::First, &at, floods);
    assert_eq!(step.rule, "unsure");
}

#[test]
fn what_is_nobodys_fault_lets_go_after_red_and_nothing_is_handed_over() {
    let at = [looked("tests", "new")];
    for verdict in [
        Verdict::CouldNotRun("there is no program `cargo`".into()),
        Verdict::Flaky,
    ] {
        let run = |_: &Request| verdict.clone();
        let (step, _) = play(&red(), &facts(&["tests"]), Chain::First, &at, run);
        assert_eq!(rule_and_answer(&step), ("unsure", false, false));
        let (step, _) = play(&red(), &handing_over(), Chain::First, &at, run);
        assert_eq!(rule_and_answer(&step), ("unproved", false, true));
        assert!(
            step.notes[1].contains("no pull request is opened"),
            "{:?}",
            step.notes
        );
        // It is still not green at the next stop.
        let (step, started) = play(&step.state, &handing_over(), Chain::First, &at, run);
        assert_eq!((step.rule, started.len()), ("unproved", 1));
    }
}

#[test]
fn a_flaky_check_that_was_never_red_before_is_not_green_for_a_review_either() {
    let review = Facts {
        occasions: vec![Occasion::Review],
        ..facts(&["tests"])
    };
    let at = [looked("tests", "k")];
    let (step, _) = play(&State::default(), &review, Chain::First, &at, |_| {
        Verdict::Flaky
    });
    assert_eq!(rule_and_answer(&step), ("unproved", false, true));
}

#[test]
fn a_red_check_is_due_where_something_is_handed_over_whatever_it_is_for() {
    let mut facts = Facts {
        activity: Activity::NoTools,
        ..handing_over()
    };
    facts.checks[0].when = vec![Occasion::Stop];
    let rule = |state: &State, facts: &Facts| {
        ask(state, facts, &stop(Chain::First), &EffectStatus::Clear).rule
    };
    assert_eq!(rule(&State::default(), &facts), "idle");
    assert_eq!(rule(&red(), &facts), "look");
    facts.occasions.clear();
    assert_eq!(rule(&red(), &facts), "idle", "a question is answered");
}

#[test]
fn a_tree_that_cannot_be_listed_is_red_after_red_of_any_session() {
    let look = Effect::Look {
        checks: Vec::new(),
        others: Vec::new(),
        after: None,
    };
    let broken = done(look, Outcome::Fault("no git".into()));
    let step = ask(&red(), &facts(&["tests"]), &stop(Chain::First), &broken);
    assert_eq!(step.rule, "blind");
    let mut flaky = red();
    flaky
        .results
        .record(&ran("tests", "k", Verdict::Flaky), "/p", Millis(3));
    let step = ask(&flaky, &facts(&["tests"]), &stop(Chain::First), &broken);
    assert_eq!(rule_and_answer(&step), ("fault", false, false));
    let step = ask(&flaky, &handing_over(), &stop(Chain::First), &broken);
    assert_eq!(rule_and_answer(&step), ("unproved", false, true));
}

#[test]
fn nothing_is_handed_over_while_a_sub_agent_keeps_the_checks_from_looking() {
    let working = event(
        "s1",
        Kind::Stop {
            chain: Chain::First,
            background: Background::Working,
        },
    );
    for (facts, alone) in [(facts(&["tests"]), false), (handing_over(), true)] {
        let step = ask(&State::default(), &facts, &working, &EffectStatus::Clear);
        assert_eq!(rule_and_answer(&step), ("background", false, alone));
    }
}

#[test]
fn the_person_is_told_once_which_inputs_a_check_writes_itself() {
    let writes = |files: &[&str]| {
        let run = Effect::Run(Run {
            checks: Vec::new(),
            pinned: Vec::new(),
        });
        let ran = Ran {
            rewrites: files.iter().map(|name| (*name).to_owned()).collect(),
            ..ran("tests", "k", Verdict::Pass)
        };
        done(run, Outcome::Ran(vec![ran]))
    };
    let mut state = State::default();
    for (files, told) in [
        (&["gen.rs"][..], true),
        (&["gen.rs"], false),
        (&[], false),
        (&["gen.rs"], false),
        (&["gen.rs", "more.rs"], true),
    ] {
        let stop = stop(Chain::First);
        let step = ask(&state, &facts(&["tests"]), &stop, &writes(files));
        assert_eq!(step.rule, "green");
        let tells = |note: &String| note.contains("tests writes gen.rs");
        assert_eq!(step.notes.iter().any(tells), told, "{files:?}");
        state = step.state;
    }
}
