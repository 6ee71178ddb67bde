//! `mainspring check verify`: does a receipt belong to this commit?

use std::io::Read;
use std::path::{Path, PathBuf};

use mainspring_kernel::Name;
use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::machines::check::Occasion;
use mainspring_store::{ShownPath as _, atomic};
use serde::Serialize;

use super::permit;
use crate::command::{CommandContext, Result};
use crate::config::PROJECT_FILE;
use crate::config::checks;
use crate::error::CliError;
use crate::exit::Exit;
use crate::limits;
use crate::machines::check::key::{Parts, TakenKey};
use crate::machines::check::receipt::CheckEntry;
use crate::machines::check::{CheckReceipt, ProvingTree};
use crate::machines::tree::Tree;
use crate::people::trust::TrustedChecks;

/// Compute the keys of a commit again, and say whether a receipt of checks matches them.
///
/// The commit is checked out into a temporary worktree. Definitions, pins, toolchain files and
/// inputs must be the same; the environment is another machine's, and is not compared. Exits with 0
/// if every check in the receipt passed and matches, and no check for a pull request is left out.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  gh pr view --json body --jq .body | mainspring check verify --commit \"$GITHUB_SHA\" --receipt -"
)]
pub(super) struct Args {
    /// The commit
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    commit: String,
    /// The text of a pull request, or a receipt; `-` for stdin
    #[arg(long, value_name = "FILE", default_value = "-")]
    receipt: PathBuf,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Verified {
    commit: String,
    matches: bool,
    checks: Vec<Compared>,
}

#[derive(Debug, Serialize)]
struct Compared {
    name: String,
    result: String,
    /// The parts of the key that differ.
    differs: Vec<&'static str>,
    #[serde(skip)]
    standing: Standing,
}

/// What a receipt says of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Passed,
    DidNotPass,
    /// The commit defines it for a pull request, and the receipt lacks it.
    LeftOut,
}

impl Compared {
    fn of(entry: &CheckEntry, taken: Option<&TakenKey>) -> Self {
        Self {
            name: entry.name.clone(),
            result: entry.result.clone(),
            differs: match taken {
                Some(taken) => differs(&entry.parts, &taken.parts),
                None => vec!["definition"],
            },
            standing: if entry.passed() {
                Standing::Passed
            } else {
                Standing::DidNotPass
            },
        }
    }
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let text = read(cmd, &args.receipt)?;
    let receipt = CheckReceipt::read(&text).map_err(CliError::new)?;
    cmd.permit(Name::Check)?;
    let context = cmd.context()?;
    let permit = permit(&context)?;
    let tree = ProvingTree::of(&context, &permit, &args.commit)?;
    let file = tree.dir.join(PROJECT_FILE);
    let settings = atomic::read_text(&file, limits::CONFIG)?.unwrap_or_default();
    let defined = TrustedChecks {
        definitions: checks::of(&file, &settings)?,
        pins: std::collections::BTreeMap::new(),
    };
    let wanted: Vec<_> = defined.definitions.iter().collect();
    let there = Tree::at(&context, &permit, tree.dir.clone())?;
    let taken = there.keys(&defined, &wanted).map_err(CliError::new)?;
    let compared = receipt.checks.iter().map(|entry| {
        let at = wanted.iter().position(|check| check.name == entry.name);
        Compared::of(entry, at.and_then(|at| taken.get(at)))
    });
    // A receipt that leaves a check out says nothing about it.
    let left_out = wanted.iter().filter(|check| {
        let named = receipt.checks.iter().any(|entry| entry.name == check.name);
        !named && check.when.contains(&Occasion::Handoff)
    });
    let left_out = left_out.map(|check| Compared {
        name: check.name.clone(),
        result: "not in the receipt".into(),
        differs: Vec::new(),
        standing: Standing::LeftOut,
    });
    let compared: Vec<Compared> = compared.chain(left_out).collect();
    let matches = !compared.is_empty()
        && compared
            .iter()
            .all(|one| one.differs.is_empty() && one.standing == Standing::Passed);
    let verified = Verified {
        commit: tree.commit.clone(),
        matches,
        checks: compared,
    };
    let out = if args.json {
        crate::command::json(&verified)?
    } else {
        render(&verified)
    };
    if matches {
        return Ok(out);
    }
    Err(CliError::shown(out, Exit::Failure))
}

fn read(cmd: &CommandContext, path: &Path) -> Result {
    if path == Path::new("-") {
        let mut text = String::new();
        let most = limits::CONFIG * 4;
        std::io::stdin()
            .take(most)
            .read_to_string(&mut text)
            .map_err(|error| CliError::new(format!("cannot read stdin: {error}")))?;
        return Ok(text);
    }
    let path = cmd.cwd.join(path);
    let text = atomic::read_text(&path, limits::CONFIG * 4)?;
    text.ok_or_else(|| CliError::not_found(format!("there is no {}", path.shown())))
}

fn differs(receipt: &Parts, tree: &Parts) -> Vec<&'static str> {
    let parts = [
        ("definition", receipt.definition == tree.definition),
        ("pins", receipt.pins == tree.pins),
        ("toolchain", receipt.toolchain == tree.toolchain),
        ("inputs", receipt.inputs == tree.inputs),
    ];
    let other = parts.into_iter().filter(|(_, same)| !same);
    other.map(|(name, _)| name).collect()
}

fn render(verified: &Verified) -> String {
    let mut out = String::new();
    for one in &verified.checks {
        let name = escape_name(&one.name);
        let result = escape_name(&one.result);
        out += &match one.differs.as_slice() {
            [] if one.standing == Standing::LeftOut => format!("{name}: {result}\n"),
            [] => format!("{name}: {result}, over this tree\n"),
            parts => format!(
                "{name}: {result}, but not over this commit: {} differ\n",
                parts.join(", ")
            ),
        };
    }
    let commit: String = verified.commit.chars().take(12).collect();
    out += &if verified.matches {
        format!(
            "the receipt matches {commit}; the environment is another machine's and was not compared\n"
        )
    } else {
        format!("the receipt does not match {commit}\n")
    };
    out
}
