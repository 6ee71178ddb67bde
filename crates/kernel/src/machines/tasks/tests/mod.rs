//! Tables for what is said, properties for what is done.

mod advice;
mod check;
mod layout;
mod machine;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::check::{Item, List};
use super::draft::{Draft, Field, Row, Status};
use super::task_list::{Entry, Maker, Source};

/// A task with nothing but what it must have.
fn plain(id: u64) -> Draft {
    Draft {
        id: Field::Given(id),
        subject: Field::Given(alloc::format!("Task {id}")),
        description: Field::Missing,
        active_form: Field::Missing,
        owner: Field::Missing,
        status: Field::Missing,
        blocked_by: Field::Missing,
        blocks: Field::Missing,
        metadata: Field::Missing,
    }
}

fn row(draft: Draft) -> Row {
    Row::Task(Box::new(draft))
}

fn ids(ids: &[u64]) -> Field<Vec<Field<u64>>> {
    Field::Given(ids.iter().copied().map(Field::Given).collect())
}

fn item(local: u64, blocked_by: &[u64]) -> Item {
    Item {
        local,
        subject: alloc::format!("Step {local}"),
        status: Status::Pending,
        blocked_by: blocked_by.to_vec(),
        blocks: Vec::new(),
    }
}

fn list(items: impl IntoIterator<Item = (u64, &'static [u64])>) -> List {
    let items = items.into_iter().map(|(local, waits)| item(local, waits));
    List {
        items: items.collect(),
    }
}

fn entry(id: u64, maker: Maker) -> Entry {
    Entry {
        id,
        maker,
        status: Status::Pending,
        blocked_by: Vec::new(),
        blocks: Vec::new(),
        source: Source::Found,
    }
}

fn skill(name: &str) -> Maker {
    Maker::Skill(String::from(name))
}

fn lines(all: impl IntoIterator<Item = impl ToString>) -> String {
    let all: Vec<String> = all.into_iter().map(|one| one.to_string()).collect();
    all.join("\n")
}
