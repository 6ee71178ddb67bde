//! `[[check]]` in a project's `mainspring.toml`: the commands that must pass before the agent may
//! stop. They count only as a person trusted them (`crate::people::trust`).

use std::path::{Component, Path};

use mainspring_kernel::Millis;
use mainspring_kernel::machines::check::Occasion;
use mainspring_store::Trouble;
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::file;
use crate::timestamp;

pub(crate) const SECTION: &str = "check";

const MOST_CHECKS: usize = 32;
const MOST_WORDS: usize = 256;
const MOST_RETRIES: u64 = 5;
const TIMEOUT: Millis = Millis::seconds(600);
/// No stop lasts longer.
const LONGEST: Millis = Millis::seconds(2_900);

/// One check, as it is written in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckDefinition {
    pub(crate) name: String,
    /// The program and its arguments.
    pub(crate) run: Vec<String>,
    /// Patterns of the files that it depends on; none for every file.
    pub(crate) inputs: Vec<String>,
    pub(crate) timeout: Millis,
    pub(crate) when: Vec<Occasion>,
    /// A patch that must turn it red.
    pub(crate) canary: Option<String>,
    /// Files that run with it, whose content a person trusts.
    pub(crate) pins: Vec<String>,
    /// Variables that it gets besides the ordinary ones.
    pub(crate) env: Vec<String>,
    pub(crate) retries: u32,
}

impl CheckDefinition {
    fn new(name: String, run: Vec<String>) -> Self {
        Self {
            name,
            run,
            inputs: Vec::new(),
            timeout: TIMEOUT,
            when: Occasion::ALL.into(),
            canary: None,
            pins: Vec::new(),
            env: Vec::new(),
            retries: 0,
        }
    }
}

/// A problem, and where it is.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) offset: usize,
    pub(super) problem: String,
}

type Read<T> = Result<T, Wrong>;

/// The checks of this text; the path is for messages.
pub(crate) fn of(path: &Path, text: &str) -> Result<Vec<CheckDefinition>, Trouble> {
    let wrong = |offset: usize, problem: &str| {
        Trouble::corrupt(path, format!("{}: {problem}", file::place(text, offset)))
    };
    let table = DeTable::parse(text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message()))?;
    let Some((name, body)) = table.get_ref().get_key_value(SECTION) else {
        return Ok(Vec::new());
    };
    section(name.span().start, body.get_ref()).map_err(|bad| wrong(bad.offset, &bad.problem))
}

/// The same for a text that may be no TOML at all. Whoever reads its settings is told of that.
pub(crate) fn of_any(path: &Path, text: &str) -> Result<Vec<CheckDefinition>, Trouble> {
    match DeTable::parse(text) {
        Ok(_) => of(path, text),
        Err(_) => Ok(Vec::new()),
    }
}

/// The checks that stand under this name.
pub(super) fn section(offset: usize, body: &DeValue<'_>) -> Read<Vec<CheckDefinition>> {
    match body {
        DeValue::Array(all) => read(all),
        _ => Err(bad(
            offset,
            "a check is written as [[check]], and the settings of all checks as [checks]",
        )),
    }
}

fn read(all: &DeArray<'_>) -> Read<Vec<CheckDefinition>> {
    let mut checks: Vec<CheckDefinition> = Vec::new();
    for item in all {
        let offset = item.span().start;
        let DeValue::Table(body) = item.get_ref() else {
            return Err(bad(offset, "a check is written as [[check]]"));
        };
        let check = one(offset, body)?;
        if checks.iter().any(|other| other.name == check.name) {
            return Err(bad(
                offset,
                format!("there are two checks `{}`", check.name),
            ));
        }
        if checks.len() == MOST_CHECKS {
            return Err(bad(
                offset,
                format!("there are more than {MOST_CHECKS} checks"),
            ));
        }
        checks.push(check);
    }
    Ok(checks)
}

fn one(offset: usize, body: &DeTable<'_>) -> Read<CheckDefinition> {
    let text = |name: &str| body.get(name).map(string).transpose();
    let list = |name: &str| body.get(name).map(strings).transpose();
    let Some(name) = text("name")? else {
        return Err(bad(offset, "a check needs a `name`"));
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 40 || !name.chars().all(plain) || name.starts_with('.') {
        return Err(bad(
            offset,
            format!("{name:?} cannot name a check: use up to 40 letters, digits, `-`, `_`, `.`"),
        ));
    }
    let run = list("run")?.unwrap_or_default();
    if run.first().is_none_or(String::is_empty) || run.len() > MOST_WORDS {
        return Err(bad(
            offset,
            format!("check `{name}` needs `run`: the program and its arguments as a list"),
        ));
    }
    let mut check = CheckDefinition::new(name, run);
    for (field, value) in body {
        let start = value.span().start;
        match field.get_ref().as_ref() {
            "name" | "run" => {}
            "inputs" => check.inputs = strings(value)?,
            "pins" => check.pins = paths(value)?,
            "env" => check.env = strings(value)?,
            "when" => check.when = occasions(value)?,
            "timeout" => check.timeout = timeout(value)?,
            "retries" => check.retries = retries(value)?,
            "canary" => check.canary = Some(canary(value)?),
            other => {
                return Err(bad(
                    start,
                    format!(
                        "a check has no `{other}`; it has name, run, inputs, timeout, when, \
                         canary, pins, env and retries"
                    ),
                ));
            }
        }
    }
    Ok(check)
}

fn bad(offset: usize, problem: impl Into<String>) -> Wrong {
    Wrong {
        offset,
        problem: problem.into(),
    }
}

fn string(value: &Spanned<DeValue<'_>>) -> Read<String> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.clone().into_owned()),
        _ => Err(bad(value.span().start, "a text in quotes is wanted")),
    }
}

fn strings(value: &Spanned<DeValue<'_>>) -> Read<Vec<String>> {
    match value.get_ref() {
        DeValue::Array(items) => items.iter().map(string).collect(),
        _ => Err(bad(value.span().start, "a list of texts is wanted")),
    }
}

/// Names of files in the project.
fn paths(value: &Spanned<DeValue<'_>>) -> Read<Vec<String>> {
    let names = strings(value)?;
    let inside = |name: &String| {
        let mut parts = Path::new(name).components();
        !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    match names.iter().find(|name| !inside(name)) {
        None => Ok(names),
        Some(name) => Err(bad(
            value.span().start,
            format!("{name:?} is no path in the project"),
        )),
    }
}

fn occasions(value: &Spanned<DeValue<'_>>) -> Read<Vec<Occasion>> {
    let known = |name: &String| {
        let found = Occasion::ALL.into_iter().find(|one| one.as_str() == name);
        found.ok_or_else(|| {
            bad(
                value.span().start,
                format!("{name:?} is none of stop, review, complete and handoff"),
            )
        })
    };
    strings(value)?.iter().map(known).collect()
}

fn timeout(value: &Spanned<DeValue<'_>>) -> Read<Millis> {
    let start = value.span().start;
    let span = timestamp::span(&string(value)?).map_err(|problem| bad(start, problem))?;
    if span < Millis::seconds(1) || span > LONGEST {
        return Err(bad(start, "a timeout is from 1s to 48m"));
    }
    Ok(span)
}

fn retries(value: &Spanned<DeValue<'_>>) -> Read<u32> {
    let number = match value.get_ref() {
        DeValue::Integer(number) => number.as_str().parse::<u64>().ok(),
        _ => None,
    };
    number
        .filter(|number| *number <= MOST_RETRIES)
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| {
            bad(
                value.span().start,
                format!("`retries` is a whole number from 0 to {MOST_RETRIES}"),
            )
        })
}

fn canary(value: &Spanned<DeValue<'_>>) -> Read<String> {
    let start = value.span().start;
    let DeValue::Table(body) = value.get_ref() else {
        return Err(bad(start, "a canary is written { patch = \"…\" }"));
    };
    match (body.get("patch"), body.len()) {
        (Some(patch), 1) => Ok(string(patch)?),
        _ => Err(bad(start, "a canary has a `patch` and nothing else")),
    }
}

/// As a JSON Schema.
pub(super) fn schema() -> Value {
    let text = json!({ "type": "string" });
    let when: Vec<&str> = Occasion::ALL.iter().map(|one| one.as_str()).collect();
    json!({
        "type": "array",
        "description": "Commands that must pass before the agent may stop. They count as a person trusted them.",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "run"],
            "properties": {
                "name": text,
                "run": { "type": "array", "items": text, "minItems": 1, "description": "The program and its arguments; no shell." },
                "inputs": { "type": "array", "items": text, "description": "Patterns of the files that it depends on. Without them: every file that is not ignored." },
                "timeout": { "type": "string", "default": "10m" },
                "when": { "type": "array", "items": { "enum": when }, "description": "When it must be green. Without it: always." },
                "canary": { "type": "object", "additionalProperties": false, "required": ["patch"], "properties": { "patch": text } },
                "pins": { "type": "array", "items": text, "description": "Files that it runs, whose content you trust with it." },
                "env": { "type": "array", "items": text, "description": "Names of variables that count for it, whatever they are called." },
                "retries": { "type": "integer", "minimum": 0, "maximum": MOST_RETRIES, "default": 0 },
            },
        },
        "examples": [[{ "name": "tests", "run": ["cargo", "test"] }]],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(text: &str) -> Result<Vec<CheckDefinition>, String> {
        of(Path::new("mainspring.toml"), text).map_err(|trouble| trouble.to_string())
    }

    #[test]
    fn a_check_is_read_with_its_defaults() {
        let all = checks("[[check]]\nname = \"tests\"\nrun = [\"cargo\", \"test\"]\n").unwrap();
        assert_eq!(all[0].run, ["cargo", "test"]);
        assert_eq!(all[0].when, Occasion::ALL);
        assert_eq!(all[0].timeout, Millis::seconds(600));
        assert_eq!(checks("[gate]\nenabled = true\n").unwrap(), []);
        let error = checks("[check]\nmax = 2\n").unwrap_err();
        assert!(
            error.contains("line 1, column 2: ") && error.contains("[checks]"),
            "{error}"
        );
    }

    #[test]
    fn every_field_is_read() {
        let text = "[[check]]\nname = \"t\"\nrun = [\"./ci.sh\"]\ninputs = [\"src/**\"]\n\
                    timeout = \"2m\"\nwhen = [\"handoff\"]\ncanary = { patch = \"c.patch\" }\n\
                    pins = [\"ci.sh\"]\nenv = [\"DB\"]\nretries = 1\n";
        let one = checks(text).unwrap().remove(0);
        assert_eq!(one.inputs, ["src/**"]);
        assert_eq!(one.timeout, Millis::seconds(120));
        assert_eq!(one.when, [Occasion::Handoff]);
        assert_eq!(one.canary.as_deref(), Some("c.patch"));
        assert_eq!(
            (one.pins, one.env, one.retries),
            (vec!["ci.sh".into()], vec!["DB".into()], 1)
        );
    }

    #[test]
    fn a_mistake_is_an_error_with_its_place() {
        let whole = "[[check]]\nname = \"t\"\nrun = [\"x\"]\n";
        for (text, said) in [
            ("[[check]]\nrun = [\"x\"]\n", "needs a `name`"),
            ("[[check]]\nname = \"t\"\n", "needs `run`"),
            (
                "[[check]]\nname = \"../t\"\nrun = [\"x\"]\n",
                "cannot name a check",
            ),
            (
                "[[check]]\nname = \"t\"\nrun = \"x\"\n",
                "line 3, column 7: a list of texts",
            ),
            (&format!("{whole}input = []\n"), "a check has no `input`"),
            (&format!("{whole}timeout = \"2h\"\n"), "from 1s to 48m"),
            (&format!("{whole}when = [\"never\"]\n"), "is none of stop"),
            (&format!("{whole}retries = 9\n"), "from 0 to 5"),
            (
                &format!("{whole}pins = [\"../x\"]\n"),
                "no path in the project",
            ),
            (&format!("{whole}{whole}"), "two checks `t`"),
        ] {
            let error = checks(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
