//! Five machines at one stop, through the binary and its files: sixteen projects in which every
//! two machines meet in each pair of their situations. The kernel's own tests decide all 1024
//! combinations; here the states are files, and the failures are damaged files.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::tasks::put;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    Absent,
    Passing,
    Blocking,
    Failing,
}
use Stand::{Absent, Blocking, Failing, Passing};

const STANDS: [Stand; 4] = [Absent, Passing, Blocking, Failing];
const TOKEN: &str = "TASKMASTER_DONE::s";
const SIGNAL: &str = "<loop-done>COMPLETE</loop-done>";

/// The situation of each machine.
#[derive(Debug, Clone, Copy)]
struct Row {
    gate: Stand,
    looping: Stand,
    review: Stand,
    claim: Stand,
    tasks: Stand,
}

/// Any two columns hold each pair of situations exactly once: they are the lines of a plane
/// over the field of four elements.
fn rows() -> Vec<Row> {
    const TIMES: [[usize; 4]; 4] = [[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]];
    let mut rows = Vec::new();
    for a in 0..4 {
        for b in 0..4 {
            let column = |slope: usize| STANDS[a ^ TIMES[slope][b]];
            rows.push(Row {
                gate: column(0),
                looping: STANDS[b],
                review: column(1),
                claim: column(2),
                tasks: column(3),
            });
        }
    }
    rows
}

#[test]
fn the_rows_hold_every_pair() {
    let rows = rows();
    let columns: [fn(&Row) -> Stand; 5] = [
        |row| row.gate,
        |row| row.looping,
        |row| row.review,
        |row| row.claim,
        |row| row.tasks,
    ];
    for (at, left) in columns.iter().enumerate() {
        for right in &columns[at + 1..] {
            for pair in STANDS.iter().flat_map(|a| STANDS.map(|b| (*a, b))) {
                let seen = rows.iter().filter(|row| (left(row), right(row)) == pair);
                assert_eq!(seen.count(), 1, "{pair:?}");
            }
        }
    }
}

/// The project of a row.
fn project(row: Row) -> TestEnv {
    let env = TestEnv::new();
    env.trust();
    if row.gate != Absent {
        env.agent("s", &["gate", "on"]).ok();
    }
    if row.looping != Absent {
        env.agent("s", &["loop", "start", "--max", "5"]).ok();
    }
    let plan = env.project().join(".taskie/plans/demo");
    if row.review != Absent {
        put(&plan.join("state.json"), r#"{"next_phase": null}"#);
    }
    if matches!(row.review, Passing | Failing) {
        put(&plan.join("plan.md"), "# Plan\n\n## Overview\n");
    }
    let claim = env.project().join(".agent-claim.json");
    let phase = if row.claim == Blocking {
        "ready_for_pr"
    } else {
        "coding"
    };
    if row.claim != Absent {
        let signal = json!({
            "schema_version": 1, "item_id": "", "issue_number": 42, "branch": "claude/fix-42",
            "agent_id": "me", "phase": phase, "summary": "", "status": "In Progress",
            "pr_number": null, "last_check_poll": null, "last_synced_status": "In Progress",
        });
        put(&claim, &signal.to_string());
    }
    if row.tasks != Absent {
        let status = if row.tasks == Blocking {
            "in_progress"
        } else {
            "completed"
        };
        let task = json!({
            "id": "1", "subject": "Ship", "description": "", "status": status, "blocks": [],
            "blockedBy": [], "metadata": { "fsm": "ship" },
        });
        let text = if row.tasks == Failing {
            "no task".to_owned()
        } else {
            task.to_string()
        };
        put(&env.home().join(".claude/tasks/s/1.json"), &text);
    }
    if row.review == Failing {
        // This creates the project's folder in our state, for the memory of the review.
        env.run(&["observe", "off"]).ok();
    }
    damage(&env, row);
    env
}

/// Damages the files of the machines that fail in this row.
fn damage(env: &TestEnv, row: Row) {
    let own = |name: &str| env.project_state().join(name);
    if row.gate == Failing {
        fs::write(own("sessions/s.gate.json"), "{ no").unwrap();
    }
    if row.looping == Failing {
        fs::write(own("loop-of-s.json"), "{ no").unwrap();
    }
    if row.review == Failing {
        fs::write(own("review.json"), "{ no").unwrap();
    }
    if row.claim == Failing {
        fs::write(env.project().join(".agent-claim.json"), "{ no").unwrap();
    }
}

#[test]
fn every_pair_of_stands_is_decided_by_the_rules() {
    for row in rows() {
        let env = project(row);
        let mut words = vec!["I stop here."];
        if row.gate == Passing {
            words.push(TOKEN);
        }
        if row.looping == Passing {
            words.push(SIGNAL);
        }
        let printed = env.stop(&words.join("\n\n")).ok();
        let answer: Value = serde_json::from_str(&printed).unwrap_or_default();
        let reason = answer["reason"].as_str().unwrap_or_default();
        let told = answer["systemMessage"].as_str().unwrap_or_default();
        let at = format!("{row:?}\n{printed}");

        // Everything that is missing is in one reason, in a fixed order.
        let asks = [
            (row.gate, "TASKMASTER (1): Stop blocked."),
            (row.looping, "[ITERATION 1/5]"),
            (row.review, "Missing required file: plan.md"),
            (row.claim, "its summary cannot be the title"),
        ];
        let mut from = 0;
        for (stand, ask) in asks {
            match reason[from..].find(ask) {
                Some(place) => {
                    assert_eq!(stand, Blocking, "{ask} is asked for: {at}");
                    from += place;
                }
                None => assert_ne!(stand, Blocking, "{ask} is not asked for in its place: {at}"),
            }
        }
        let blocked = asks.iter().any(|(stand, _)| *stand == Blocking);
        assert_eq!(answer["decision"] == "block", blocked, "{at}");

        // A machine that failed never holds; the person is told its file's name, and the file
        // is unchanged.
        let failures = [
            (row.gate, "s.gate.json"),
            (row.looping, "loop-of-s.json"),
            (row.review, "review.json"),
            (row.claim, ".agent-claim.json"),
        ];
        for (stand, file) in failures {
            assert_eq!(told.contains(file), stand == Failing, "{file}: {at}");
        }
        assert!(!told.contains("tasks/s"), "no say at a stop: {at}");
        if row.claim == Failing {
            let claim = fs::read_to_string(env.project().join(".agent-claim.json"));
            assert_eq!(claim.unwrap(), "{ no", "{at}");
        }
        if row.tasks == Failing {
            let list = env.home().join(".claude/tasks/s/1.json");
            assert_eq!(fs::read_to_string(list).unwrap(), "no task", "{at}");
        }

        // A signal counts although others still ask; a machine that is finished waits for them.
        if row.looping == Passing {
            let status = env.run(&["loop", "status"]).ok();
            assert_eq!(status.contains("no loop"), !blocked, "{status}\n{at}");
        }
    }
}
