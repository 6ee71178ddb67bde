//! A child of ours has a child in a session of its own, which keeps our pipe open: the hook
//! answers and does not wait for it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mainspring_testkit::process::{End, PATIENCE, Running};
use serde_json::{Value, json};

use crate::env::{TestEnv, payload};

/// Longer than anybody waits for a hook, but not for ever.
const HOLDING: &str = "40";

/// A program that starts a process which holds its output, records that process's id, and then
/// runs `then`.
fn program(path: &Path, holder: &Path, then: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script = format!(
        "#!/bin/sh\n[ -e {0} ] || setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep {HOLDING}' &\n\
         while [ ! -e {0} ]; do sleep 0.01; done\n{then}\n",
        holder.display()
    );
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The holder is still alive, so nobody waited for it. Ends it.
#[track_caller]
fn still_holds(holder: &Path) {
    let pid = fs::read_to_string(holder).unwrap();
    assert!(super::runs(pid.trim()), "the hook waited for its end");
    let ended = Command::new("kill").args(["-9", pid.trim()]).status();
    assert!(ended.unwrap().success());
}

struct Held {
    env: TestEnv,
    holder: PathBuf,
}

impl Held {
    /// A trusted checkout with a claim. Its `gh` answers at once and leaves a holder.
    fn gh() -> Self {
        let env = TestEnv::new();
        let holder = env.root().join("holder");
        let gh = env.root().join("bin/gh");
        program(&gh, &holder, "echo 'HTTP/2.0 500 Oops'; echo; echo '{}'");
        let config = env.home().join(".config/mainspring/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(&config, format!("[claim]\ngh = '{}'\n", gh.display())).unwrap();
        for args in [
            &["init", "--quiet"][..],
            &[
                "remote",
                "add",
                "origin",
                "https://github.com/acme/widgets.git",
            ],
        ] {
            crate::claim::world::git(&env.project(), args);
        }
        let claim = json!({
            "schema_version": 1, "item_id": "", "issue_number": 42, "branch": "claude/x-42",
            "agent_id": "ada-1", "phase": "pr_created", "summary": "Fix", "status": "In Review",
            "pr_number": 44, "last_check_poll": null, "last_synced_status": "In Review",
        });
        fs::write(env.project().join(".agent-claim.json"), claim.to_string()).unwrap();
        env.trust();
        Self { env, holder }
    }

    /// A trusted project with a loop in `jwz`, whose later calls leave a holder.
    fn jwz(then: &str) -> Self {
        let env = TestEnv::new();
        let holder = env.root().join("holder");
        let jwz = env.root().join("bin/jwz");
        fs::create_dir_all(env.project().join(".jwz")).unwrap();
        let path = format!("{}:/usr/bin:/bin", env.root().join("bin").display());
        let env = env.with("PATH", &path);
        fs::create_dir_all(jwz.parent().unwrap()).unwrap();
        fs::write(
            &jwz,
            "#!/bin/sh\n[ $1 != post ] || printf %s \"$4\" > .jwz/newest\n",
        )
        .unwrap();
        fs::set_permissions(&jwz, fs::Permissions::from_mode(0o755)).unwrap();
        env.trust();
        env.agent("s", &["loop", "start", "--max", "3"]).ok();
        let newest = fs::read_to_string(env.project().join(".jwz/newest")).unwrap();
        let read = Value::from(vec![json!({"id": "1", "body": newest})]);
        fs::write(env.project().join(".jwz/read"), read.to_string()).unwrap();
        program(&jwz, &holder, &format!("echo $1 >> .jwz/calls\n{then}"));
        // The session's end names a client that is new to the loop, so a message is posted.
        let env = env.with("CLAUDE_PID", "7");
        Self { env, holder }
    }

    /// What `jwz` was asked for since.
    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.env.project().join(".jwz/calls")).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_hook_does_not_wait_for_whoever_holds_the_output_of_gh() {
    let held = Held::gh();
    let idle = json!({"notification_type": "idle_prompt", "message": "waiting"});
    assert_eq!(held.env.hook("Notification", idle).code, Some(0));
    still_holds(&held.holder);
}

#[test]
fn a_sessions_end_does_not_wait_for_whoever_holds_the_output_of_jwz() {
    let held = Held::jwz("[ $1 != read ] || cat .jwz/read");
    let ran = held.env.hook("SessionEnd", json!({"reason": "clear"}));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(held.calls()[0], "read");
    still_holds(&held.holder);
}

/// All calls together have one deadline: after one that used it up, no other starts.
#[test]
fn at_a_sessions_end_no_child_is_started_that_has_no_time_left() {
    let held = Held::jwz("[ $1 != read ] || exec cat .jwz/read\nsleep 0.4; exit 1");
    let ran = held.env.hook("SessionEnd", json!({"reason": "clear"}));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let calls = held.calls();
    assert!(
        (1..4).contains(&calls.len()),
        "a second post was started: {calls:?}"
    );
    still_holds(&held.holder);
}

/// A host waits a second or so at a session's end, whoever has the lock.
#[test]
fn a_sessions_end_does_not_wait_for_the_lock_as_long_as_a_stop() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    let lock = fs::File::open(env.project_state().join("lock")).unwrap();
    lock.lock().unwrap();
    let start = |event: &str| {
        let event = payload(&env.project(), event, json!({"reason": "clear"}));
        Running::start_with(env.command().arg("hook"), event.to_string())
    };
    let (stop, end) = (start("Stop"), start("SessionEnd"));
    assert!(end.wait(PATIENCE).succeeded());
    let still = stop.wait(Duration::ZERO).end;
    assert_eq!(
        still,
        End::DeadlinePassed,
        "the stop came first, and still waits"
    );
}
