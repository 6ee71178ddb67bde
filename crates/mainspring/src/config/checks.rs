//! `[[check]]` in a project's `mainspring.toml`: the commands that must pass before the agent may
//! stop. They count only as a person trusted them (`crate::people::trust`).

use std::path::{Component, Path};

use mainspring_kernel::Millis;
use mainspring_kernel::machines::check::Occasion;
use mainspring_store::Trouble;
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{self, Wrong, wrong};
use super::{List, Text, owned};

pub(crate) const SECTION: &str = "check";

const MOST_CHECKS: usize = 32;
const MOST_WORDS: usize = 256;
const MOST_RETRIES: u32 = 5;
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

type Read<T> = Result<T, Wrong>;

/// The checks of this text; the path is for messages.
pub(crate) fn of(path: &Path, text: &str) -> Result<Vec<CheckDefinition>, Trouble> {
    let all = file::table(text).and_then(|table| {
        let section = table.get_ref().get_key_value(SECTION);
        section.map_or(Ok(Vec::new()), |(name, body)| {
            section_of(name.span().start, body.get_ref())
        })
    });
    all.map_err(|wrong| Trouble::corrupt(path, wrong.shown(text)))
}

/// The same for a text that may be no TOML at all. Whoever reads its settings is told of that.
pub(crate) fn of_any(path: &Path, text: &str) -> Result<Vec<CheckDefinition>, Trouble> {
    match file::table(text) {
        Ok(_) => of(path, text),
        Err(_) => Ok(Vec::new()),
    }
}

/// The checks that stand under this name.
pub(super) fn section_of(offset: usize, body: &DeValue<'_>) -> Read<Vec<CheckDefinition>> {
    let DeValue::Array(all) = body else {
        let what = "a check is written as [[check]], and the settings of all checks as [checks]";
        return Err(wrong(offset, what));
    };
    let mut checks: Vec<CheckDefinition> = Vec::new();
    for item in all {
        let offset = item.span().start;
        let DeValue::Table(body) = item.get_ref() else {
            return Err(wrong(offset, "a check is written as [[check]]"));
        };
        let check = one(offset, body)?;
        if checks.iter().any(|other| other.name == check.name) {
            let what = format!("there are two checks `{}`", check.name);
            return Err(wrong(offset, what));
        }
        if checks.len() == MOST_CHECKS {
            let what = format!("there are more than {MOST_CHECKS} checks");
            return Err(wrong(offset, what));
        }
        checks.push(check);
    }
    Ok(checks)
}

fn one(offset: usize, body: &DeTable<'_>) -> Read<CheckDefinition> {
    let mut check = CheckDefinition {
        name: String::new(),
        run: Vec::new(),
        inputs: Vec::new(),
        timeout: TIMEOUT,
        when: Occasion::ALL.into(),
        canary: None,
        pins: Vec::new(),
        env: Vec::new(),
        retries: 0,
    };
    if let Some(name) = body.get("name") {
        check.name = text(name)?;
    }
    if let Some(run) = body.get("run") {
        check.run = texts(run)?;
    }
    complete(&check).map_err(|what| wrong(offset, what))?;
    for (field, value) in body {
        match field.get_ref().as_ref() {
            "name" | "run" => {}
            "inputs" => check.inputs = texts(value)?,
            "pins" => check.pins = paths(value)?,
            "env" => check.env = texts(value)?,
            "when" => check.when = occasions(value)?,
            "timeout" => check.timeout = timeout(value)?,
            "retries" => check.retries = retries(value)?,
            "canary" => check.canary = Some(canary(value)?),
            other => {
                let what = format!(
                    "a check has no `{other}`; it has name, run, inputs, timeout, when, canary, \
                     pins, env and retries"
                );
                return Err(wrong(value.span().start, what));
            }
        }
    }
    Ok(check)
}

/// A check has a name, and something to run.
fn complete(CheckDefinition { name, run, .. }: &CheckDefinition) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() {
        return Err("a check needs a `name`".into());
    }
    if name.len() > 40 || !name.chars().all(plain) || name.starts_with('.') {
        return Err(format!(
            "{name:?} cannot name a check: use up to 40 letters, digits, `-`, `_`, `.`"
        ));
    }
    if run.first().is_none_or(String::is_empty) || run.len() > MOST_WORDS {
        return Err(format!(
            "check `{name}` needs `run`: the program and its arguments as a list"
        ));
    }
    Ok(())
}

fn text(value: &Spanned<DeValue<'_>>) -> Read<String> {
    file::typed::<Text>(value).map(Text::into_owned)
}

fn texts(value: &Spanned<DeValue<'_>>) -> Read<Vec<String>> {
    file::typed::<List>(value).map(|list| owned(&list))
}

/// Names of files in the project.
fn paths(value: &Spanned<DeValue<'_>>) -> Read<Vec<String>> {
    let names = texts(value)?;
    let inside = |name: &String| {
        let mut parts = Path::new(name).components();
        !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    match names.iter().find(|name| !inside(name)) {
        None => Ok(names),
        Some(name) => {
            let what = format!("{name:?} is no path in the project");
            Err(wrong(value.span().start, what))
        }
    }
}

fn occasions(value: &Spanned<DeValue<'_>>) -> Read<Vec<Occasion>> {
    let known = |name: &String| {
        let known = Occasion::ALL.into_iter().find(|one| one.as_str() == name);
        let what = || format!("{name:?} is none of stop, review, complete and handoff");
        known.ok_or_else(|| wrong(value.span().start, what()))
    };
    texts(value)?.iter().map(known).collect()
}

fn timeout(value: &Spanned<DeValue<'_>>) -> Read<Millis> {
    let span = file::typed::<Millis>(value)?;
    if span < Millis::seconds(1) || span > LONGEST {
        return Err(wrong(value.span().start, "a timeout is from 1s to 48m"));
    }
    Ok(span)
}

fn retries(value: &Spanned<DeValue<'_>>) -> Read<u32> {
    let number = file::typed::<u32>(value).ok();
    let number = number.filter(|number| *number <= MOST_RETRIES);
    let what = || format!("`retries` is a whole number from 0 to {MOST_RETRIES}");
    number.ok_or_else(|| wrong(value.span().start, what()))
}

fn canary(value: &Spanned<DeValue<'_>>) -> Read<String> {
    let start = value.span().start;
    let DeValue::Table(body) = value.get_ref() else {
        return Err(wrong(start, "a canary is written { patch = \"…\" }"));
    };
    match (body.get("patch"), body.len()) {
        (Some(patch), 1) => text(patch),
        _ => Err(wrong(start, "a canary has a `patch` and nothing else")),
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
