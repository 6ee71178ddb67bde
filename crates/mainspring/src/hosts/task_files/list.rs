//! Reads and changes the client's task list on disk.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_json::Fields;
use mainspring_kernel::machines::tasks::draft::Status;
use mainspring_kernel::machines::tasks::task_list::{Entry, MOST_ID, Maker, Source, TaskList};
use mainspring_kernel::machines::tasks::text::excerpt;
use mainspring_platform::file::is_symlink_error;
use mainspring_store::{Trouble, atomic};
use serde_json::{Map, Value};

use super::lock::{self, Held};
use crate::limits;

/// The metadata key that marks a task of a skill.
pub(crate) const MARK: &str = "fsm";
/// The metadata key for notes on a task.
pub(crate) const NOTES: &str = "notes";
const HIGH_WATER: &str = ".highwatermark";
/// A folder with more entries is not a list that we should work on.
const MOST_ENTRIES: usize = 20_000;

/// The content of a list's folder.
#[derive(Debug, Default)]
pub(crate) struct ClientList {
    pub(crate) folder: PathBuf,
    pub(crate) tasks: BTreeMap<u64, Task>,
    /// Files with the name of a task that are no task; the client may be writing them at this
    /// moment.
    unread: BTreeMap<u64, String>,
    strangers: Vec<String>,
    locks: Vec<PathBuf>,
    floor: u64,
}

/// A task's file.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) bytes: Vec<u8>,
    pub(crate) fields: Map<String, Value>,
}

impl Task {
    /// Its file's fields: some may be changed, and every other stays as it was written.
    pub(crate) fn document(&self) -> Result<Fields<'_>, Trouble> {
        Fields::of(&self.bytes).map_err(|error| Trouble::Other(error.to_string()))
    }
}

impl ClientList {
    /// Reads a list without a lock, as the client's own readers do.
    pub(crate) fn read(folder: &Path) -> Result<Self, Trouble> {
        let mut list = Self {
            folder: folder.into(),
            ..Self::default()
        };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(list),
            Err(error) => return Err(Trouble::io("list", folder)(error)),
        };
        for (count, entry) in entries.enumerate() {
            let entry = entry.map_err(Trouble::io("list", folder))?;
            if count >= MOST_ENTRIES {
                return Err(Trouble::Unsafe {
                    path: folder.into(),
                    problem: format!("has more than {MOST_ENTRIES} entries"),
                });
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.ends_with(".json.lock") {
                list.locks.push(entry.path());
            } else if let Some(stem) = name.strip_suffix(".json")
                && !name.starts_with('.')
            {
                list.add(name, stem)?;
            }
        }
        if let Some(bytes) = readable(atomic::read(&folder.join(HIGH_WATER), 1024))? {
            let mark = leading_number(&String::from_utf8_lossy(&bytes));
            list.floor = list.floor.max(mark);
        }
        Ok(list)
    }

    fn add(&mut self, name: &str, stem: &str) -> Result<(), Trouble> {
        if let Some(id) = task_id(stem) {
            self.reread(id)?;
        } else {
            // The client counts it nevertheless.
            self.floor = self.floor.max(leading_number(stem));
            self.strangers.push(excerpt(name));
        }
        Ok(())
    }

    /// Removes locks that crashed processes left behind.
    pub(crate) fn sweep(&self) {
        for lock in &self.locks {
            lock::sweep(lock);
        }
    }

    /// Reads one task's file again. A file that is no task is reported as a stranger. A file
    /// that cannot be read might be a task, so that is an error.
    pub(crate) fn reread(&mut self, id: u64) -> Result<(), Trouble> {
        self.tasks.remove(&id);
        self.unread.remove(&id);
        match atomic::read(&self.path(id), limits::STATE_FILE) {
            Ok(None) => {}
            Ok(Some(bytes)) => match task(&bytes) {
                Some(fields) => {
                    self.tasks.insert(id, Task { bytes, fields });
                }
                None => {
                    self.unread.insert(id, format!("{id}.json"));
                }
            },
            Err(trouble) => {
                let said = trouble.to_string();
                readable(Err::<Option<()>, _>(trouble))?;
                self.unread.insert(id, said);
            }
        }
        Ok(())
    }

    pub(crate) fn path(&self, id: u64) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// The list as the kernel knows it, in the order of the ids.
    pub(crate) fn task_list(&self) -> TaskList {
        TaskList {
            tasks: self
                .tasks
                .iter()
                .map(|(id, task)| task.entry(*id))
                .collect(),
            floor: self
                .floor
                .max(self.unread.keys().copied().max().unwrap_or(0)),
        }
    }

    /// Files that are not changed because they are no tasks.
    pub(crate) fn strangers(&self) -> Vec<String> {
        self.strangers
            .iter()
            .chain(self.unread.values())
            .cloned()
            .collect()
    }

    /// Locks every task that `after` would change or discard, and every file that could not be
    /// read. Repeats this until what was read under the locks needs no further lock.
    pub(crate) fn settle_under(
        &mut self,
        held: &mut Held,
        after: impl Fn(&TaskList) -> Option<TaskList>,
    ) -> Result<(), Trouble> {
        let mut locked = std::collections::BTreeSet::new();
        loop {
            let before = self.task_list();
            let touched = after(&before).map(|after| before.touched(&after));
            let unread = self.unread.keys().copied();
            let wanted: Vec<u64> = touched
                .into_iter()
                .flatten()
                .chain(unread)
                .filter(|id| !locked.contains(id))
                .collect();
            if wanted.is_empty() {
                return Ok(());
            }
            for id in wanted {
                held.task(id)?;
                locked.insert(id);
                self.reread(id)?;
            }
        }
    }
}

impl Task {
    pub(crate) fn text(&self, field: &str) -> &str {
        self.fields
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The client's own tasks rarely have every field; a missing one is empty.
    fn entry(&self, id: u64) -> Entry {
        let mark = self
            .fields
            .get("metadata")
            .and_then(|metadata| metadata.get(MARK));
        Entry {
            id,
            maker: match mark {
                None => Maker::Hand,
                Some(Value::String(skill)) => Maker::Skill(skill.clone()),
                Some(other) => Maker::Skill(other.to_string()),
            },
            status: Status::parse(self.text("status")).unwrap_or_default(),
            blocked_by: references(self.fields.get("blockedBy")),
            blocks: references(self.fields.get("blocks")),
            source: Source::Found,
        }
    }
}

/// The ids in a list of references; other values are ignored.
fn references(value: Option<&Value>) -> Vec<u64> {
    let elements = value.and_then(Value::as_array).into_iter().flatten();
    elements.filter_map(reference).collect()
}

pub(crate) fn reference(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => task_id(text),
        other => other.as_u64(),
    }
}

/// Treats anything but a regular file as missing; errors of the disk stay errors.
fn readable<T>(read: Result<Option<T>, Trouble>) -> Result<Option<T>, Trouble> {
    match read {
        Err(Trouble::NotAFile { .. } | Trouble::TooLarge { .. }) => Ok(None),
        // Symlinks are not followed.
        Err(Trouble::Io { source, .. }) if is_symlink_error(&source) => Ok(None),
        other => other,
    }
}

/// A task is an object with a subject.
fn task(bytes: &[u8]) -> Option<Map<String, Value>> {
    match mainspring_json::read(bytes) {
        Ok(Value::Object(fields)) if fields.get("subject").is_some_and(Value::is_string) => {
            Some(fields)
        }
        Ok(_) | Err(_) => None,
    }
}

/// An id as the client writes it: no sign, no leading zero.
fn task_id(stem: &str) -> Option<u64> {
    let plain = !stem.starts_with('0') && stem.bytes().all(|byte| byte.is_ascii_digit());
    let id = plain.then(|| stem.parse::<u64>().ok())??;
    (id <= MOST_ID).then_some(id)
}

/// The client reads a number by its leading digits and ignores what follows.
fn leading_number(text: &str) -> u64 {
    let digits = text.trim_start();
    let end = digits
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(digits.len());
    match digits[..end].parse() {
        Ok(number) => number,
        Err(_) if end == 0 => 0,
        // It is too large for a number, and so would be every id after it.
        Err(_) => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn put(folder: &Path, name: &str, text: &str) {
        atomic::replace(&folder.join(name), text.as_bytes()).unwrap();
    }

    #[test]
    fn a_real_list_is_read() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-tasks-my-list");
        let list = ClientList::read(&folder).unwrap();
        let task_list = list.task_list();
        assert_eq!(
            task_list
                .tasks
                .iter()
                .map(|task| task.id)
                .collect::<Vec<_>>(),
            [1, 2, 4]
        );
        assert_eq!(task_list.tasks[0].status, Status::Completed);
        assert_eq!(task_list.tasks[1].blocked_by, [1]);
        assert!(task_list.tasks.iter().all(|task| task.maker == Maker::Hand));
        assert_eq!(list.strangers(), [""; 0]);
        assert!(task_list.floor >= 3, "the fixture's high-water mark");
    }

    #[test]
    fn what_is_no_task_is_left_alone_but_counted() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path();
        put(folder, "1.json", r#"{"subject":"by hand"}"#);
        put(
            folder,
            "2.json",
            r#"{"subject":"s","metadata":{"fsm":7},"blocks":["1",3,"x","03"]}"#,
        );
        put(folder, "3.json", "");
        put(folder, "5.json", r#"{"no":"subject"}"#);
        put(folder, "07.json", r#"{"subject":"s"}"#);
        put(folder, "12abc.json", "{}");
        put(folder, "notes.json", "{}");
        put(folder, "readme.txt", "");
        put(folder, ".highwatermark", " 9\n");
        fs::create_dir(folder.join("6.json")).unwrap();
        let list = ClientList::read(folder).unwrap();
        let task_list = list.task_list();
        let made: Vec<(u64, &Maker)> = task_list
            .tasks
            .iter()
            .map(|task| (task.id, &task.maker))
            .collect();
        assert_eq!(made, [(1, &Maker::Hand), (2, &Maker::Skill("7".into()))]);
        assert_eq!(task_list.tasks[1].blocks, [1, 3]);
        assert_eq!(task_list.floor, 12);
        let mut strangers = list.strangers();
        strangers[..3].sort();
        assert_eq!(
            strangers[..5],
            ["07.json", "12abc.json", "notes.json", "3.json", "5.json"]
        );
        assert!(strangers[5].ends_with("6.json is not a regular file"));
        assert_eq!(
            ClientList::read(&folder.join("none")).unwrap().task_list(),
            TaskList::default()
        );
    }

    #[test]
    fn numbers_are_counted_as_the_client_counts() {
        for (text, number) in [
            ("12", 12),
            (" 12\n", 12),
            ("12abc", 12),
            ("", 0),
            ("abc", 0),
            ("-3", 0),
            ("99999999999999999999999", u64::MAX),
        ] {
            assert_eq!(leading_number(text), number, "{text:?}");
        }
        assert_eq!(task_id("9007199254740991"), Some(MOST_ID));
        for none in ["", "0", "01", "+1", "1 ", "9007199254740992", "1e3"] {
            assert_eq!(task_id(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_task_that_was_torn_is_read_again_under_its_lock() {
        let temp = tempfile::tempdir().unwrap();
        put(temp.path(), "1.json", "");
        let mut list = ClientList::read(temp.path()).unwrap();
        assert_eq!(list.task_list().tasks, []);
        put(temp.path(), "1.json", r#"{"subject":"whole now"}"#);
        let mut held = Held::list(temp.path()).unwrap();
        list.settle_under(&mut held, |_| None).unwrap();
        assert!(temp.path().join("1.json.lock").is_dir());
        assert_eq!(list.task_list().tasks.len(), 1);
        assert_eq!(list.strangers(), [""; 0]);
    }
}
