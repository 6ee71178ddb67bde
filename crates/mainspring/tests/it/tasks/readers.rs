//! What other processes see and do while lists are being laid out.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{by_hand, folder, invoke, skill};
use crate::env::TestEnv;

/// What the readers have seen.
#[derive(Default)]
struct Counts {
    looks: AtomicU64,
    torn: AtomicU64,
    missing: AtomicU64,
    mixed: AtomicU64,
}

/// Reads as the client does: the folder, then each file. A file that has disappeared by then is
/// no task.
fn look(folder: &Path, counts: &Counts) {
    let names = fs::read_dir(folder).unwrap().filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        (name.ends_with(".json") && !name.starts_with('.')).then_some(name)
    });
    let names: Vec<String> = names.collect();
    let mut skills = BTreeSet::new();
    let mut by_hand = false;
    for name in names {
        let Ok(text) = fs::read_to_string(folder.join(&name)) else {
            continue;
        };
        let Ok(task) = serde_json::from_str::<Value>(&text) else {
            counts.torn.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        by_hand |= name == "1.json";
        if let Some(skill) = task["metadata"]["fsm"].as_str() {
            skills.insert(skill.to_owned());
        }
    }
    counts.looks.fetch_add(1, Ordering::Relaxed);
    counts
        .missing
        .fetch_add(u64::from(!by_hand), Ordering::Relaxed);
    counts
        .mixed
        .fetch_add(u64::from(skills.len() > 1), Ordering::Relaxed);
}

/// Locks as the client does.
fn locked<T>(lock: &Path, act: impl FnOnce() -> T) -> T {
    while fs::create_dir(lock).is_err() {
        thread::sleep(Duration::from_millis(1));
    }
    let done = act();
    fs::remove_dir(lock).unwrap();
    done
}

fn write(path: &Path, task: &Value) {
    let beside = path.with_extension("tmp");
    let mut file = fs::File::create(&beside).unwrap();
    file.write_all(task.to_string().as_bytes()).unwrap();
    fs::rename(&beside, path).unwrap();
}

/// Adds a task as the client does; returns its id.
fn add(folder: &Path) -> u64 {
    locked(&folder.join(".lock.lock"), || {
        let ids = fs::read_dir(folder).unwrap().filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_suffix(".json")?.parse::<u64>().ok()
        });
        let id = ids.max().unwrap_or(0) + 1;
        let task = json!({"id": id.to_string(), "subject": "Added", "description": "",
            "status": "pending", "blocks": [], "blockedBy": []});
        write(&folder.join(format!("{id}.json")), &task);
        id
    })
}

/// Counts in the task that was made by hand. The task also waits for a task of a skill's, so
/// that every layout has to change it.
fn count(folder: &Path, waits_for: u64) {
    locked(&folder.join("1.json.lock"), || {
        let path = folder.join("1.json");
        let mut task: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        task["count"] = (task["count"].as_u64().unwrap_or(0) + 1).into();
        task["blockedBy"] = json!([waits_for.to_string()]);
        write(&path, &task);
    });
}

#[test]
fn others_see_whole_tasks_and_lose_nothing() {
    lay_out_under_others(40, 3);
}

/// It takes minutes, so it only runs if it is asked for by name.
#[test]
#[ignore = "minutes: `cargo test -p mainspring --test it -- --ignored ten_thousand`"]
fn others_see_whole_tasks_and_lose_nothing_in_ten_thousand_layouts() {
    lay_out_under_others(10_000, 4);
}

/// If the readers hardly get to run, the test goes on until they have seen this much.
const FEWEST_LOOKS: u64 = 50;

fn lay_out_under_others(swaps: usize, readers: usize) {
    let env = TestEnv::new();
    for name in ["one", "two"] {
        let tasks: Vec<Value> = (1..=8)
            .map(|id| json!({"id": id, "subject": format!("{name} {id}"), "description": "x".repeat(600)}))
            .collect();
        skill(&env, name, &Value::Array(tasks).to_string());
    }
    by_hand(&env, 1, &[]);
    invoke(&env, "one").ok();
    let folder = folder(&env);
    let counts = Counts::default();
    let over = AtomicBool::new(false);
    let (added, counted) = thread::scope(|scope| {
        for _ in 0..readers {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    look(&folder, &counts);
                }
            });
        }
        let writer = scope.spawn(|| {
            let (mut added, mut counted) = (Vec::new(), 0);
            while !over.load(Ordering::Relaxed) {
                if added.len() < 30 {
                    added.push(add(&folder));
                }
                count(&folder, added.last().unwrap() + 1);
                counted += 1;
                thread::sleep(Duration::from_millis(3));
            }
            (added, counted)
        });
        let looks = || counts.looks.load(Ordering::Relaxed);
        let enough = |swap: &usize| *swap < swaps || looks() <= FEWEST_LOOKS;
        for swap in (0..).take_while(enough) {
            invoke(&env, ["two", "one"][swap % 2]).ok();
        }
        over.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    eprintln!(
        "{swaps} layouts under {readers} readers and a writer: {} looks, {} missing, {} torn, {} mixed; \
         {} tasks added meanwhile and {counted} counts, none lost",
        read(&counts.looks),
        read(&counts.missing),
        read(&counts.torn),
        read(&counts.mixed),
        added.len(),
    );
    assert_eq!((read(&counts.missing), read(&counts.torn)), (0, 0));
    for id in &added {
        let text = fs::read_to_string(folder.join(format!("{id}.json"))).unwrap();
        let task: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(task["subject"], "Added", "task {id} was overwritten");
    }
    let task: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("1.json")).unwrap()).unwrap();
    assert_eq!(task["count"], counted, "no count was lost");
}
