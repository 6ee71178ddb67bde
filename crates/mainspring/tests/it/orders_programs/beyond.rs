//! The watcher, which no host's event starts, and task lists, which an order does not stop.

use std::io::Write as _;
use std::process::{Child, Stdio};

use mainspring_testkit::process::wait_until;
use serde_json::json;

use super::{Place, gate, mail, orders, starts, told, with_pull_request};
use crate::env::Ran;

/// A watcher whose client lives as long as this value.
struct Watcher {
    watcher: Child,
    client: Child,
}

impl Watcher {
    fn start(place: &Place) -> Self {
        let client = std::process::Command::new("/bin/cat")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut command = place.env.command();
        command
            .args(["claim", "watch"])
            .env("CLAUDE_CODE_SESSION_ID", "s")
            .env("CLAUDE_PID", client.id().to_string())
            .env("MAINSPRING_CLAIM_WATCH", "1s")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut watcher = command.spawn().unwrap();
        let event = place.event("Stop", json!({})).to_string();
        let mut stdin = watcher.stdin.take().unwrap();
        stdin.write_all(event.as_bytes()).unwrap();
        drop(stdin);
        Self { watcher, client }
    }

    fn watches(&mut self) -> bool {
        self.watcher.try_wait().unwrap().is_none()
    }

    fn end(mut self) -> Ran {
        let _ = self.client.kill();
        let _ = self.client.wait();
        Ran::of(self.watcher.wait_with_output().unwrap())
    }
}

#[test]
fn under_an_order_the_watcher_asks_nobody_and_wakes_nobody_and_goes_on_after_it() {
    for order in orders("claim") {
        for (prepare, program) in [(with_pull_request as fn(&Place), Some("gh")), (mail, None)] {
            let place = Place::new();
            prepare(&place);
            place.order(&order);
            let mut watcher = Watcher::start(&place);
            let lease = place.env.project_state().join("claim-watch.lock");
            wait_until("it watches", || lease.exists());
            // A second watcher exits at once, because this one watches.
            assert_eq!(Watcher::start(&place).end().code, Some(0));
            assert!(watcher.watches(), "{order:?}");
            assert_eq!(place.started(), [""; 0], "{order:?}");
            place.resume(&order);
            if let Some(program) = program {
                wait_until("it looks", || starts(&place.started(), program));
                assert_eq!(watcher.end().code, Some(0));
            } else {
                wait_until("it wakes", || !watcher.watches());
                let ran = watcher.end();
                assert_eq!((ran.code, ran.stderr.trim()), (Some(2), "CI failed"));
            }
        }
    }
}

#[test]
fn a_task_list_is_laid_out_under_every_order_that_does_not_name_it() {
    let laid_out = |order: &[&str]| {
        let place = Place::new();
        gate(&place);
        place.file(
            ".claude/skills/build/fsm.json",
            r#"[{"id": 1, "subject": "Set up"}]"#,
        );
        place.order(order);
        let skill = json!({ "tool_name": "Skill", "tool_input": { "skill": "build" }, "tool_response": {} });
        let ran = place.hook("PostToolUse", skill);
        assert_eq!(ran.code, Some(0), "{order:?}: {ran:?}");
        assert_eq!(place.started(), [""; 0]);
        let list = place.env.home().join(".claude/tasks/s/1.json").exists();
        assert_eq!(list, told(&ran), "{order:?}: {ran:?}");
        list
    };
    for order in orders("gate") {
        assert!(laid_out(&order), "{order:?}");
    }
    for order in [["stop", "tasks"].as_slice(), &["pause", "1h", "tasks"]] {
        assert!(!laid_out(order), "{order:?}");
    }
}
