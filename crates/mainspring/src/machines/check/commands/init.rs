//! `mainspring check init`: propose checks from what the project is.

use std::path::Path;

use mainspring_kernel::verbs::Actor;
use mainspring_store::{Trouble, atomic};
use serde_json::Value;

use crate::command::{CommandContext, Result};
use crate::config::{PROJECT_FILE, checks};
use crate::error::CliError;
use crate::limits;
use crate::people::ask;
use crate::people::trust::Proposal;

/// Propose checks for this project, and write them to `mainspring.toml`.
///
/// It looks for Cargo, npm scripts, pytest, Go and a Makefile. In a project that you trust, the
/// checks count at once, if the rest of the file is as you trusted it; otherwise when you trust them:
/// `mainspring trust`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// A proposal.
struct Proposed {
    name: &'static str,
    run: Vec<String>,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let (project, _) = cmd.project()?;
    let state = cmd.state()?;
    let root = &project.worktree;
    // Before the file is written: nothing may wait that the person has not seen.
    let written_by_person = cmd.actor() == Actor::Person && project.worktree == project.root;
    let counts = written_by_person
        && Proposal::of(&cmd.env, &state, &project.root).is_ok_and(|before| before.is_nothing());
    let file = root.join(PROJECT_FILE);
    let before = atomic::read_text(&file, limits::CONFIG)?.unwrap_or_default();
    let there = checks::of(&file, &before)?;
    let mut proposed = propose(root)?;
    proposed.retain(|one| !there.iter().any(|check| check.name == one.name));
    if proposed.is_empty() {
        let error = match there.len() {
            0 => CliError::not_found("nothing here tells which checks this project has").hint(format!(
                "write one into {PROJECT_FILE}: [[check]], name = \"tests\", run = [\"make\", \"test\"]"
            )),
            _ => CliError::refused(format!(
                "{PROJECT_FILE} has every check that could be proposed"
            )),
        };
        return Err(error);
    }
    let text: String = proposed.iter().map(toml).collect();
    let after = match before.trim_end() {
        "" => text.trim_start().to_owned(),
        before => format!("{before}\n{text}"),
    };
    // A file with the settings of all checks cannot define checks, too.
    checks::of(&file, &after)?;
    if !args.yes {
        ask::confirm(&format!("{text}\nWrite this to {PROJECT_FILE}?"), cmd.paint)?;
    }
    atomic::replace(&file, after.as_bytes())?;
    let names: Vec<&str> = proposed.iter().map(|one| one.name).collect();
    let names = names.join(", ");
    if counts {
        let proposal = Proposal::of(&cmd.env, &state, &project.root)?;
        if proposal.settings().1 == Some(after.as_str()) {
            proposal.grant(&state, &project.root, cmd.env.now())?;
            return Ok(format!(
                "{PROJECT_FILE} defines {names}, and you trust them: they run when the agent stops\n"
            ));
        }
    }
    Ok(format!(
        "{PROJECT_FILE} defines {names}. They count when you trust them: `mainspring trust`\n"
    ))
}

fn toml(one: &Proposed) -> String {
    let words: Vec<String> = one.run.iter().map(|word| format!("{word:?}")).collect();
    format!(
        "\n[[check]]\nname = \"{}\"\nrun = [{}]\n",
        one.name,
        words.join(", ")
    )
}

fn propose(root: &Path) -> Result<Vec<Proposed>> {
    let has = |name: &str| root.join(name).exists();
    let mut all = Vec::new();
    let mut add = |name: &'static str, words: &str| {
        let taken = all.iter().any(|one: &Proposed| one.name == name);
        if !taken {
            let run = words.split(' ').map(str::to_owned).collect();
            all.push(Proposed { name, run });
        }
    };
    if has("Cargo.toml") {
        let nextest = has(".config/nextest.toml");
        add(
            "tests",
            if nextest {
                "cargo nextest run"
            } else {
                "cargo test"
            },
        );
        add("lint", "cargo clippy --all-targets -- -D warnings");
    }
    let manager = match () {
        () if has("pnpm-lock.yaml") => "pnpm",
        () if has("yarn.lock") => "yarn",
        () => "npm",
    };
    for (script, name) in scripts(root)? {
        add(name, &format!("{manager} run {script}"));
    }
    if ["pytest.ini", "conftest.py", "tests/conftest.py"]
        .iter()
        .any(|name| has(name))
        || mentions(root, "pyproject.toml", "pytest")?
    {
        add("tests", "python3 -m pytest -q");
    }
    if has("go.mod") {
        add("tests", "go test ./...");
        add("lint", "go vet ./...");
    }
    if mentions(root, "Makefile", "\ntest:")? {
        add("tests", "make test");
    }
    Ok(all)
}

fn mentions(root: &Path, name: &str, words: &str) -> Result<bool> {
    let text = atomic::read_text(&root.join(name), limits::CONFIG)?;
    Ok(text.is_some_and(|text| format!("\n{text}").contains(words)))
}

/// The scripts of `package.json` that check something.
fn scripts(root: &Path) -> Result<Vec<(&'static str, &'static str)>> {
    const KNOWN: [(&str, &str); 4] = [
        ("test", "tests"),
        ("lint", "lint"),
        ("typecheck", "types"),
        ("build", "build"),
    ];
    let path = root.join("package.json");
    let Some(text) = atomic::read_text(&path, limits::CONFIG)? else {
        return Ok(Vec::new());
    };
    let parsed: Value =
        serde_json::from_str(&text).map_err(|error| Trouble::corrupt(&path, error))?;
    let is_real = |script: &str| {
        let text = parsed["scripts"][script].as_str();
        // What `npm init` writes for tests fails by design.
        text.is_some_and(|text| !text.contains("no test specified"))
    };
    Ok(KNOWN
        .into_iter()
        .filter(|(script, _)| is_real(script))
        .collect())
}
