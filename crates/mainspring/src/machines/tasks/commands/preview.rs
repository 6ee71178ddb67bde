//! `mainspring tasks preview`: what a list's order of work looks like.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use mainspring_kernel::machines::tasks::advice::{waits, waves};
use mainspring_kernel::machines::tasks::check::{Item, List};
use mainspring_kernel::machines::tasks::draft::Status;

pub(super) fn text(list: &List) -> String {
    let waits = waits(list);
    let mut out = String::new();
    let mut line = |label: &str, item: &Item| {
        let after: Vec<String> = waits
            .get(&item.local)
            .into_iter()
            .flatten()
            .map(ToString::to_string)
            .collect();
        let _ = write!(out, "{label:<6} {} {}", item.local, item.subject);
        if item.status != Status::Pending {
            let _ = write!(out, " [{}]", item.status.as_str());
        }
        if !after.is_empty() {
            let _ = write!(out, "  (after {})", after.join(", "));
        }
        out.push('\n');
    };
    let mut reached: BTreeSet<u64> = BTreeSet::new();
    for (index, wave) in waves(list).into_iter().enumerate() {
        let mut label = match index {
            0 => "first",
            _ => "then",
        };
        reached.extend(wave.iter().copied());
        for item in list.items.iter().filter(|item| wave.contains(&item.local)) {
            line(label, item);
            label = "";
        }
    }
    for item in list
        .items
        .iter()
        .filter(|item| !reached.contains(&item.local))
    {
        line("never", item);
    }
    if out.is_empty() {
        out.push_str("no tasks\n");
    }
    out
}

pub(super) fn mermaid(list: &List) -> String {
    let mut out = String::from("graph TD\n");
    for item in &list.items {
        let label = item.subject.replace('&', "&amp;").replace('"', "&quot;");
        let label = label.replace('<', "&lt;").replace('>', "&gt;");
        let _ = writeln!(out, "  t{0}[\"{0} {label}\"]", item.local);
    }
    for (id, blockers) in waits(list) {
        for blocker in blockers {
            let _ = writeln!(out, "  t{blocker} --> t{id}");
        }
    }
    out
}
