//! What a reviewer looks at: the files whose contents its verdict is about.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use mainspring_kernel::Digest;
use mainspring_kernel::machines::review::{Kind, Request, Saw};
use mainspring_store::{digest, no_symlink};
use serde::{Deserialize, Serialize};

use super::directory::{PLANS, STATE};
use crate::children::permit::Permit;
use crate::context::EventContext;
use crate::git::Git;
use crate::limits;
use crate::machines::tree::Tree;

/// How long git may take to name branches and tags.
const REFS_LIMIT: Duration = Duration::from_secs(10);

/// The state of everything that a reviewer sees, and of what it must not change, at one moment.
/// Contents are kept as digests.
#[derive(Serialize, Deserialize)]
pub(super) struct Subject {
    /// `None` if they could not be read.
    files: Option<BTreeMap<String, Digest>>,
    state: Option<Digest>,
    refs: Option<BTreeMap<String, String>>,
}

impl Subject {
    pub(super) fn of(context: &EventContext<'_>, permit: &Permit, asked: &Request) -> Self {
        // A drop-in counts as its document says: by verdicts alone.
        if asked.ledger.is_none() {
            return Self {
                files: None,
                state: None,
                refs: None,
            };
        }
        let plan = super::home_of_plans(context).join(PLANS).join(&asked.plan);
        let files = match asked.review {
            Kind::Plan => Some(plan_files(&plan, &["plan.md", "design.md"], false)),
            Kind::Tasks => Some(plan_files(
                &plan,
                &["plan.md", "design.md", "tasks.md"],
                true,
            )),
            Kind::Code | Kind::AllCode => {
                let tree = Tree::here(context, permit).ok();
                tree.and_then(|tree| tree.files().ok())
            }
        };
        let files = files.map(|files| {
            let taken = files.into_iter();
            taken
                .map(|(name, content)| (name, digest::of(&[&content])))
                .collect()
        });
        let state = no_symlink::read(&plan.join(STATE), limits::STATE_FILE);
        let git = Git::of(context, permit.clone(), Instant::now() + REFS_LIMIT);
        Self {
            files,
            state: state.ok().flatten().map(|bytes| digest::of(&[&bytes])),
            refs: git.ok().and_then(|git| git.refs().ok()),
        }
    }

    /// What this reviewer saw, and what changed meanwhile.
    pub(super) fn compare(&self, after: &Self) -> Saw {
        let mut touched = Vec::new();
        if self.state != after.state {
            touched.push(STATE.to_owned());
        }
        if let (Some(before), Some(after)) = (&self.refs, &after.refs) {
            touched.extend(changed(before, after));
        }
        Saw {
            subject: self.files.as_ref().map(|files| {
                let mut all = Vec::new();
                for (name, content) in files {
                    all.extend_from_slice(&(name.len() as u64).to_le_bytes());
                    all.extend_from_slice(name.as_bytes());
                    all.extend_from_slice(content.0.as_bytes());
                }
                digest::of(&[&all])
            }),
            moved: match (&self.files, &after.files) {
                (Some(before), Some(after)) => changed(before, after),
                _ => Vec::new(),
            },
            touched,
        }
    }
}

/// The names whose value is not the same in both.
fn changed<V: PartialEq>(before: &BTreeMap<String, V>, after: &BTreeMap<String, V>) -> Vec<String> {
    let gone = before
        .iter()
        .filter(|(name, value)| after.get(*name) != Some(value));
    let new = after.iter().filter(|(name, _)| !before.contains_key(*name));
    let mut names: Vec<String> = gone.chain(new).map(|(name, _)| name.clone()).collect();
    names.truncate(50);
    names
}

/// The contents of these files of a plan, and of the task files.
fn plan_files(plan: &Path, names: &[&str], tasks: bool) -> BTreeMap<String, Vec<u8>> {
    let mut wanted: Vec<String> = names.iter().map(ToString::to_string).collect();
    let listed = fs::read_dir(plan)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    wanted.extend(listed.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_task = name.starts_with("task-") && name.ends_with(".md");
        (tasks && is_task && !name.contains("-review-")).then_some(name)
    }));
    let read = |name: String| {
        let content = no_symlink::read(&plan.join(&name), limits::STATE_FILE).ok()??;
        Some((name, content))
    };
    wanted.into_iter().filter_map(read).collect()
}
