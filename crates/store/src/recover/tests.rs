//! A journal with one changed byte, read after a power loss: what a later record ended is not
//! brought back from an earlier one, not then and not later.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mainspring_kernel::Millis;
use mainspring_kernel::effect::Fence;
use mainspring_kernel::journal::Entry;

use super::*;
use crate::journal::{CURRENT, segments};
use crate::{Locked, Store};

struct Place {
    _temp: tempfile::TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let (dir, root) = (temp.path().join("store"), temp.path().join("root"));
        fs::create_dir(&dir).unwrap();
        fs::create_dir(&root).unwrap();
        Self {
            store: Store::new(dir, root),
            _temp: temp,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.store.dir().join(name)
    }

    fn lock(&self) -> Locked<'_> {
        self.store
            .hold(Duration::from_secs(5))
            .unwrap()
            .recover()
            .unwrap()
    }

    /// One command that makes this file hold this.
    fn commit(&self, name: &str, now: Option<&str>) {
        let path = self.file(name);
        let was = fs::read(&path).ok();
        let change = atomic::change(&path, was.as_deref(), now.map(str::to_owned));
        commit(&mut self.lock(), change);
    }

    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(self.store.dir())
    }
}

fn commit(locked: &mut Locked<'_>, change: FileChange) {
    let entry = Entry::Verb {
        command: "a command".into(),
        machine: None,
        session: None,
        did: "something".into(),
    };
    locked.commit(Millis(1), entry, vec![change]).unwrap();
}

fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut found: Vec<_> = entries
        .map(|entry| (entry.path(), fs::read(entry.path()).unwrap()))
        .collect();
    found.sort();
    found
}

/// A loop that began, went on and ended.
fn finished_loop(place: &Place) {
    place.commit("loop.json", Some("iteration 1"));
    place.commit("loop.json", Some("iteration 2"));
    place.commit("loop.json", None);
}

/// A stop that was given and lifted, and something else after it.
fn lifted_stop(place: &Place) {
    place.commit("orders.json", Some("stopped"));
    place.commit("orders.json", None);
    place.commit("other.json", Some("one"));
}

/// A machine in its third state.
fn moved_on(place: &Place) {
    for state in ["one", "two", "three"] {
        place.commit("state.json", Some(state));
    }
}

/// Every byte in four ways: two of its bits, a line feed, a zero.
fn changes(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let all = bytes.iter().enumerate().flat_map(|(at, byte)| {
        let mut to = vec![byte ^ 1, byte ^ 0x20, b'\n', 0];
        to.retain(|to| to != byte);
        to.into_iter().map(move |to| (at, to))
    });
    all.map(|(at, to)| {
        let mut changed = bytes.to_vec();
        changed[at] = to;
        (at, changed)
    })
}

/// What the records are about, as it is on the disk.
fn projected(place: &Place) -> Vec<(PathBuf, Vec<u8>)> {
    let ours = |path: &Path| path.extension().is_some_and(|end| end == "json");
    let files = place.files().into_iter();
    files.filter(|(path, _)| ours(path)).collect()
}

type Story = (&'static str, fn(&Place));

const STORIES: [Story; 3] = [
    ("a finished loop", finished_loop),
    ("a lifted stop", lifted_stop),
    ("a machine that moved on", moved_on),
];

/// The head is of another boot, or lost.
fn after_a_power_loss(place: &Place, head: Option<Head>) -> Recovered {
    recover(place.store.dir(), place.store.root(), head, "another boot").unwrap()
}

#[test]
fn a_changed_byte_brings_nothing_back_after_a_power_loss() {
    for (name, story) in STORIES {
        let place = Place::new();
        story(&place);
        let journal = fs::read(place.file(CURRENT)).unwrap();
        let expected = projected(&place);
        let head = Head::read(&fs::File::open(place.file("lock")).unwrap());
        for (at, changed) in changes(&journal) {
            fs::write(place.file(CURRENT), &changed).unwrap();
            for head in [head.clone(), None] {
                let case = format!("{name}, byte {at}, {head:?}");
                let recovered = after_a_power_loss(&place, head);
                assert_eq!(projected(&place), expected, "{case}");
                assert!(
                    recovered.damaged.is_some_and(|place| place <= at as u64),
                    "{case}"
                );
                assert!(recovered.head.seq >= 3, "{case}");
            }
        }
    }
}

/// Nor does it come back once more was recorded, and the computer is started again.
#[test]
fn a_changed_journal_is_closed_and_named_once() {
    for (name, story) in STORIES {
        let place = Place::new();
        story(&place);
        let expected = projected(&place);
        let mut journal = fs::read(place.file(CURRENT)).unwrap();
        let middle = journal.len() / 2;
        journal[middle] ^= 1;
        fs::write(place.file(CURRENT), &journal).unwrap();
        fs::write(place.file("lock"), "").unwrap();
        let mut locked = place.lock();
        let told = locked.news().concat();
        assert!(told.contains("journal.jsonl, byte "), "{name}: {told}");
        assert!(locked.fence() >= Fence(3), "{name}");
        let change = atomic::change(&place.file("later.txt"), None, Some("later".into()));
        commit(&mut locked, change);
        drop(locked);
        let found = segments(place.store.dir()).unwrap();
        assert_eq!(fs::read(&found[0]).unwrap(), journal, "{name}");
        fs::write(place.file("lock"), "").unwrap();
        assert_eq!(place.lock().news(), [""; 0], "{name}");
        assert_eq!(projected(&place), expected, "{name}");
    }
}

/// A crash tears the last line, or several that follow each other: this is no damage, and
/// what was recorded before is rolled forward.
#[test]
fn a_torn_line_is_no_damage() {
    let place = Place::new();
    place.commit("state.json", Some("one"));
    place.commit("state.json", Some("two"));
    let journal = fs::read(place.file(CURRENT)).unwrap();
    let line = journal.split_inclusive(|byte| *byte == b'\n').next_back();
    let line = line.unwrap().to_vec();
    for length in 1..line.len() - 1 {
        let torn = &line[..length];
        let zeros = [&vec![0; line.len() - length][..], b"\n"].concat();
        for rest in [
            torn.to_vec(),
            [torn, b"\n", torn].concat(),
            [torn, &zeros].concat(),
        ] {
            fs::write(place.file(CURRENT), [&journal[..], &rest].concat()).unwrap();
            fs::write(place.file("state.json"), "one").unwrap();
            let recovered = after_a_power_loss(&place, None);
            let case = String::from_utf8_lossy(&rest);
            assert_eq!(recovered.damaged, None, "{case}");
            assert_eq!(
                fs::read(place.file("state.json")).unwrap(),
                b"two",
                "{case}"
            );
        }
    }
}
