use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const DOC: &str = r#"{"schema":1,"event":"STATE","run_id":"loop-1-2","updated_at":"2025-12-28T10:00:00Z","theirs":{"deep":[1]},"stack":[{"id":"a","mode":"grind","iter":3,"max":100,"filter":"bug"},{"id":"b","mode":"issue","iter":1,"max":10,"issue_id":"X-1","branch":"x"}]}"#;

fn active(text: &str) -> Run {
    match read(text) {
        State::Active(run) => run,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_state_is_read_and_every_field_that_is_not_ours_survives() {
    let mut run = active(DOC);
    assert_eq!(
        (run.outer[0].mode, run.top.mode),
        (Mode::Grind, Mode::Issue)
    );
    assert_eq!(run.updated, Millis(1_766_916_000_000));
    run.top.iter = 2;
    let written = write(Some(DOC), &State::Active(run.clone()), Millis(0));
    let expected = DOC.replace("\"iter\":1,", "\"iter\":2,") + "\n";
    assert_eq!(written, expected);
    assert_eq!(active(&written), run);
}

#[test]
fn a_frame_that_is_not_at_work_stays_as_it_is_written() {
    let outer = r#"{ "id":"a",  "mode":"grind", "iter":"3", "half":"\ud800" }"#;
    let doc = format!(r#"{{"schema":1,"event":"STATE","stack":[{outer},{{"id":"b","iter":1}}]}}"#);
    let mut run = active(&doc);
    assert_eq!((run.outer[0].iter, run.top.iter), (3, 1));
    run.top.iter = 2;
    let written = write(Some(&doc), &State::Active(run.clone()), Millis(0));
    assert!(written.contains(outer), "{written}");
    assert_eq!(active(&written), run);

    run.outer[0].iter = 4;
    let written = write(Some(&doc), &State::Active(run.clone()), Millis(0));
    assert!(
        written.contains(r#"{"id":"a","mode":"grind","iter":4,"half":"\ud800","max":"#),
        "{written}"
    );
}

#[test]
fn what_is_ours_and_no_text_is_corrupt() {
    for name in ["event", "run_id", "session", "accepted"] {
        let doc = DOC.replacen('{', &format!(r#"{{"{name}":"\ud800","#), 1);
        let doc = doc.replace(r#""event":"STATE","run_id":"loop-1-2","#, "");
        assert!(matches!(read(&doc), State::Corrupt(_)), "{doc}");
    }
}

#[test]
fn a_frame_that_is_popped_takes_its_fields_along_and_a_new_one_gets_none() {
    let mut run = active(DOC);
    let inner = std::mem::replace(&mut run.top, run.outer[0].clone());
    run.outer.clear();
    let popped = write(Some(DOC), &State::Active(run.clone()), Millis(0));
    assert!(popped.contains("\"filter\":\"bug\"") && !popped.contains("issue_id"));

    run.outer.push(run.top.clone());
    run.top = Frame {
        id: "c".into(),
        ..inner
    };
    let pushed = write(Some(DOC), &State::Active(run), Millis(0));
    assert!(
        !pushed.contains("issue_id"),
        "another frame stands there now"
    );
}

#[test]
fn owner_and_acceptance_are_kept_in_the_document() {
    let owner = LoopOwner::Session {
        id: SessionId::parse("s-1").unwrap(),
        client: Some(Client(7)),
    };
    let run = Run {
        owner,
        ..active(DOC)
    };
    let completing = State::Completing {
        run: run.clone(),
        ending: Ending::Done,
    };
    let written = write(Some(DOC), &completing, Millis(0));
    assert!(written.contains(r#""session":"s-1","client":7"#));
    assert!(written.contains(r#""accepted":"DONE""#));
    assert_eq!(read(&written), completing);
    let back = write(Some(&written), &State::Active(run.clone()), Millis(0));
    assert_eq!(read(&back), State::Active(run));
}

#[test]
fn ends_are_written_as_the_seed_has_them() {
    let now = Millis(1_766_916_000_000);
    for (state, event, reason) in [
        (
            State::Idle(Past::Done(Ending::MaxIterations)),
            "DONE",
            Some("MAX_ITERATIONS"),
        ),
        (State::Idle(Past::Aborted), "ABORT", None),
    ] {
        let doc: Value = serde_json::from_str(&write(Some(DOC), &state, now)).unwrap();
        assert_eq!(doc["event"], event);
        assert_eq!(doc["stack"], json!([]));
        assert_eq!(doc["reason"].as_str(), reason);
        assert_eq!(doc["updated_at"], "2025-12-28T10:00:00Z");
        assert_eq!(read(&doc.to_string()), state);
    }
    let aborted = State::Aborted {
        cause: "enough".into(),
        owner: LoopOwner::Nobody,
    };
    let written = write(Some(DOC), &aborted, now);
    assert_eq!(read(&written), aborted);
    assert!(
        written.contains("issue_id"),
        "the stack is kept until the owner was told"
    );
}

#[test]
fn both_forms_of_a_date_and_nothing_else() {
    let at = |text: &str| read(&DOC.replace("2025-12-28T10:00:00Z", text));
    for same in [
        "2025-12-28T10:00:00Z",
        "2025-12-28T10:00:00+00:00",
        "2025-12-28T12:00:00+02:00",
        "2025-12-28T10:00:00.000Z",
    ] {
        assert_eq!(at(same), State::Active(active(DOC)), "{same}");
    }
    for wrong in [
        "",
        "yesterday",
        "2025-12-28",
        "2025-13-28T10:00:00Z",
        "1766916000",
    ] {
        assert!(matches!(at(wrong), State::Corrupt(_)), "{wrong}");
    }
    let undated = DOC.replace(r#""updated_at":"2025-12-28T10:00:00Z","#, "");
    assert_eq!(active(&undated).updated, Millis(0), "never fresh");
}

#[test]
fn what_is_no_state_is_none_and_what_is_broken_is_corrupt() {
    for none in [
        "{}",
        r#"{"event":"STATE","stack":[{}]}"#,
        r#"{"schema":1}"#,
        r#"{"schema":1,"event":"STATE","stack":[]}"#,
        "[]",
        "7",
    ] {
        assert_eq!(read(none), State::Idle(Past::Blank), "{none}");
    }
    for (from, to) in [
        (r#""iter":1"#, r#""iter":"x""#),
        (r#""iter":1"#, r#""iter":-1"#),
        (r#""iter":1"#, r#""iter":1.5"#),
        (r#""iter":1"#, r#""iter":[1]"#),
        (r#""max":10,"#, r#""max":99999999999,"#),
        (r#""mode":"issue""#, r#""mode":"spin""#),
        (r#""event":"STATE""#, r#""event":"PAUSE""#),
        (r#""stack":["#, r#""stack":[7,"#),
        ("]}", ""),
    ] {
        let broken = DOC.replacen(from, to, 1);
        assert_ne!(broken, DOC);
        assert!(matches!(read(&broken), State::Corrupt(_)), "{from} -> {to}");
    }
    let lenient = DOC.replace(r#""iter":1"#, r#""iter":"1""#);
    assert_eq!(active(&lenient).top.iter, 1, "a number in quotes is one");
}

proptest! {
    #[test]
    fn garbage_is_never_a_panic_nor_an_active_loop(text in "\\PC{0,200}") {
        prop_assert!(!matches!(read(&text), State::Active(_)));
    }

    #[test]
    fn a_torn_document_never_runs(cut in 0..DOC.len()) {
        prop_assert!(matches!(read(&DOC[..cut]), State::Corrupt(_)));
    }
}
