//! Generates the reference from the code, and tests that it is current: after a change,
//! `GENERATE=1 cargo test -p mainspring reference` rewrites it.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;

use crate::config::Reach;
use crate::config::setting::Notation;
use crate::env::Environment;

/// The width at which help texts are rendered.
const WIDTH: usize = 96;

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).unwrap().to_owned()
}

/// Asserts that the file has this content, or writes it.
pub(crate) fn keep(path: &str, text: &str) {
    let file = root().join(path);
    if Environment::real().var_os("GENERATE").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        mainspring_store::atomic::replace(&file, text.as_bytes()).unwrap();
        return;
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    let changes = crate::diff::lines(&found, text);
    assert!(
        changes.is_empty(),
        "{path} is not what the code says; `GENERATE=1 cargo test -p mainspring reference` writes it:\n{}",
        changes.join("\n")
    );
}

fn cli() -> Command {
    let mut cli = crate::cli::command().term_width(WIDTH);
    cli.build();
    cli
}

fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

fn describe(out: &mut String, command: &mut Command, name: &str) {
    let help = trimmed(&command.render_long_help().to_string());
    *out += &format!("\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end());
    for sub in command.get_subcommands_mut() {
        if sub.get_name() != "help" {
            let name = format!("{name} {}", sub.get_name());
            let mut sub = sub.clone().term_width(WIDTH);
            describe(out, &mut sub, &name);
        }
    }
}

#[test]
fn commands() {
    let mut out = String::from("# Commands\n\nEvery command, as `--help` prints it.\n");
    describe(&mut out, &mut cli(), "mainspring");
    keep("docs/reference/commands.md", &out);
}

/// Every command with `--json`, by its words.
fn with_json(command: &Command, words: &[&str], found: &mut Vec<String>) {
    let mut options = command.get_arguments();
    if options.any(|option| option.get_long() == Some("json")) {
        found.push(words.join(" "));
    }
    for sub in command.get_subcommands() {
        let words: Vec<&str> = words.iter().copied().chain([sub.get_name()]).collect();
        with_json(sub, &words, found);
    }
}

/// The field with the version: a line of the log is a record, and has the version of its format.
fn version_of(command: &str) -> (&'static str, u64) {
    match command {
        "log" => ("v", mainspring_kernel::journal::FORMAT.into()),
        _ => ("version", crate::command::VIEW_VERSION.into()),
    }
}

#[test]
fn every_json_has_a_version_and_a_schema() {
    let mut commands = Vec::new();
    with_json(&cli(), &[], &mut commands);
    commands.sort();
    let mut out = String::from(
        "# JSON\n\nEvery command with `--json`. The version changes when a field goes away or gets another meaning; \
         new fields do not change it. A line of `mainspring log --json` is a record of the journal, whose format's version is `v`. \
         A command that fails prints `{\"version\": 1, \"error\": {\"kind\", \"cause\", \"hints\"}}`; the kinds are `usage`, `refused`, `not-found`, `busy`, `damaged` and `failed`.\n\n\
         | command | version | fields | schema |\n|---|---|---|---|\n",
    );
    let folder = "schema/views";
    for command in &commands {
        let file = format!("{}.schema.json", command.replace(' ', "-"));
        let text = fs::read_to_string(root().join(folder).join(&file));
        let text =
            text.unwrap_or_else(|_| panic!("`mainspring {command} --json` has no {folder}/{file}"));
        let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (field, version) = version_of(command);
        assert_eq!(schema["properties"][field]["const"], version, "{command}");
        let fields = schema["properties"].as_object().unwrap().keys();
        let fields: Vec<String> = fields
            .filter(|name| *name != field)
            .map(|name| format!("`{name}`"))
            .collect();
        out += &format!(
            "| `mainspring {command} --json` | `{field}` {version} | {} | [{file}](../../{folder}/{file}) |\n",
            fields.join(", ")
        );
    }
    let there = fs::read_dir(root().join(folder)).unwrap().count();
    assert_eq!(there, commands.len(), "a schema without a command");
    keep("docs/reference/json.md", &out);
}

#[test]
fn every_command_has_an_example() {
    let cli = cli();
    for command in cli.get_subcommands() {
        let name = command.get_name();
        let help = command.get_after_help().map(ToString::to_string);
        let shown = help.is_some_and(|text| text.contains(&format!("mainspring {name}")));
        assert!(
            shown || name == "hook" || name == "help",
            "{name} has no example"
        );
    }
}

#[test]
fn configuration() {
    let mut out = String::from(
        "# Configuration\n\n`mainspring.toml` in the project, then `~/.config/mainspring/config.toml`, then the environment: \
         each overrides the one before. What a project sets counts once you trust it; of what its file says *as trusted*, each change waits for `mainspring trust` again. `mainspring config` shows what is in force and where each value came from, \
         `mainspring config check` names every problem with its line and column, and \
         [schema/mainspring.schema.json](../../schema/mainspring.schema.json) is the schema for editors.\n",
    );
    let mut section = "";
    for key in crate::config::keys() {
        let (here, name) = key.halves();
        if here != section {
            section = here;
            out += &format!(
                "\n## `[{section}]`\n\n| setting | value | default | who may set it | variable | what it does |\n|---|---|---|---|---|---|\n"
            );
        }
        let kind = match key.notation {
            Notation::Switch => "true or false".to_owned(),
            Notation::Number { most } => format!("a whole number up to {most}"),
            Notation::Amount => "an amount".to_owned(),
            Notation::Text => "text".to_owned(),
            Notation::Choice(choices) => choices.join(", "),
            Notation::Span => "a time span: `90s`, `30m`, `2h`, `90d`".to_owned(),
            Notation::List => "a list of texts".to_owned(),
        };
        let who = match key.reach {
            Reach::Anyone => "project, user",
            Reach::Trusted => "project as trusted, user",
            Reach::User => "user",
        };
        let code = |text: &str| {
            if text.is_empty() {
                "–".to_owned()
            } else {
                format!("`{text}`")
            }
        };
        let variable = code(key.variable.unwrap_or_default());
        out += &format!(
            "| `{name}` | {kind} | {} | {who} | {variable} | {} |\n",
            code(&key.default_text()),
            key.about.replace('|', "\\|")
        );
    }
    keep("docs/reference/configuration.md", &out);
    let schema = crate::config::schema::schema();
    let schema = serde_json::to_string_pretty(&schema).unwrap();
    keep("schema/mainspring.schema.json", &format!("{schema}\n"));
}

/// The items of a source file, each with the doc comment above it.
fn documented<'a>(
    source: &'a str,
    item: impl Fn(&'a str) -> Option<&'a str>,
) -> Vec<(&'a str, String)> {
    let mut found = Vec::new();
    let mut about: Vec<&str> = Vec::new();
    for line in source.lines().map(str::trim) {
        if let Some(sentence) = line.strip_prefix("/// ") {
            about.push(sentence);
        } else {
            if let Some(name) = item(line) {
                found.push((name, about.join(" ")));
            }
            about.clear();
        }
    }
    found
}

#[test]
fn environment() {
    let source = include_str!("env.rs");
    let names = source.split_once("pub(crate) mod name {").unwrap().1;
    let names = names.split_once("\n}").unwrap().0;
    let names = [names, include_str!("hosts/claude/name.rs")].join("\n");
    let listed = documented(&names, |line| {
        let value = line
            .strip_prefix("pub(crate) const ")?
            .split_once("= \"")?
            .1;
        value.strip_suffix("\";")
    });
    let mut rows: Vec<(String, String)> = listed
        .into_iter()
        .map(|(name, about)| (name.to_owned(), about))
        .collect();
    for key in crate::config::keys() {
        let Some(name) = key.variable else { continue };
        match rows.iter_mut().find(|(known, _)| known == name) {
            Some((_, about)) if about.is_empty() => key.about.clone_into(about),
            Some(_) => {}
            None => rows.push((name.to_owned(), format!("{} (`{}`)", key.about, key.name))),
        }
    }
    rows.sort();
    let mut out = String::from(
        "# Environment\n\nThe variables that Mainspring reads. An empty variable counts as unset.\n\n| variable | what it says |\n|---|---|\n",
    );
    for (name, about) in rows {
        assert!(!about.is_empty(), "{name} wants a sentence in env.rs");
        out += &format!("| `{name}` | {} |\n", about.replace('|', "\\|"));
    }
    keep("docs/reference/environment.md", &out);
}

#[test]
fn exit_codes() {
    let source = include_str!("exit.rs");
    let variants = source.split_once("enum Exit {").unwrap().1;
    let variants = variants.split_once("\n}").unwrap().0;
    let listed = documented(variants, |line| line.strip_suffix(','));
    let codes = source.split_once("match exit {").unwrap().1;
    let code_of = |variant: &str| {
        let arm = codes.lines().find(|line| {
            let names = line.split("=>").next().unwrap_or_default();
            names
                .split('|')
                .any(|name| name.trim() == format!("Exit::{variant}"))
        });
        let value = arm.unwrap().split_once("=> Self::").unwrap().1;
        match value.trim_end_matches(',') {
            "SUCCESS" => "0".to_owned(),
            "FAILURE" => "1".to_owned(),
            other => other
                .trim_start_matches("from(")
                .trim_end_matches(')')
                .to_owned(),
        }
    };
    let mut out = String::from(
        "# Exit codes\n\n`mainspring hook` exits with 0, and its JSON says what is to happen. If it cannot print an answer, it exits \
         with 1, which no host takes as a block. `mainspring compat` has the exit codes of the script that it replaces.\n\n| code | name | when |\n|---|---|---|\n",
    );
    let mut listed: Vec<(String, &str, String)> = listed
        .into_iter()
        .map(|(variant, about)| (code_of(variant), variant, about))
        .collect();
    listed.sort();
    for (code, variant, about) in listed {
        let about = if about.is_empty() {
            "The command succeeded.".into()
        } else {
            about
        };
        out += &format!("| {code} | {variant} | {about} |\n");
    }
    keep("docs/reference/exit-codes.md", &out);
}

#[test]
fn files() {
    let source = include_str!("store/mod.rs");
    let tree = source
        .split("```")
        .nth(1)
        .unwrap()
        .trim_start_matches("text");
    let tree: Vec<&str> = tree
        .lines()
        .map(|line| {
            line.trim_start_matches("//!")
                .strip_prefix(' ')
                .unwrap_or_default()
        })
        .filter(|line| !line.is_empty())
        .collect();
    let mut out = format!(
        "# Files\n\n## Mainspring's own\n\nPlain files that only you can read (0700), in `$XDG_STATE_HOME` (by default \
         `~/.local/state`; on macOS `~/Library/Application Support`, on Windows `%LOCALAPPDATA%`). A project's folder is named after a digest of its path; the file `root` in it has the path. If others can read the folder, the next event or command that uses it makes it yours alone and says so; if others can write to it, it is not used until you `chmod 700` it.\n\n```text\n{}\n```\n",
        tree.join("\n")
    );
    out += "\n## In a project\n\nA folder with one of these files is a project. Unknown fields in them are kept; a file that cannot \
            be read is reported and not changed.\n\n| file | whose |\n|---|---|\n";
    out += &format!(
        "| `{}` | settings: [configuration](configuration.md) |\n",
        crate::config::PROJECT_FILE
    );
    for name in mainspring_kernel::Name::ALL {
        let about = crate::machines::about(*name);
        for marker in crate::markers::of(*name) {
            out += &format!("| `{marker}` | `{name}`: {about} |\n");
        }
    }
    out += &format!(
        "\nWhile `{}` exists, every machine is stopped, except for the task lists of skills.\n\n## The host's\n\n`mainspring install` changes \
         `~/.claude/settings.json` (or `.claude/settings.json`, `.claude/settings.local.json` in a project) and keeps the \
         original file under `installs/`. `tasks` writes the host's own task lists in `~/.claude/tasks/`.\n",
        crate::people::orders::OFF_FILE
    );
    keep("docs/reference/files.md", &out);
}

/// The smallest machine is explained in the README.
#[test]
fn every_machine_has_a_page_that_the_readme_and_the_tutorial_name() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (readme, tutorial) = (read("README.md"), read("docs/tutorial.md"));
    for name in mainspring_kernel::Name::ALL {
        assert!(readme.contains(&format!("`{name}`")), "{name}");
        if *name == mainspring_kernel::Name::Pulse {
            continue;
        }
        let page = format!("machines/{name}.md");
        assert!(read(&format!("docs/{page}")).contains("## "), "{name}");
        assert!(readme.contains(&page) && tutorial.contains(&page), "{name}");
    }
}
