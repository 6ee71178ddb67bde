//! One configuration file: TOML, with every problem at its line and column.

use std::path::Path;

use mainspring_platform::owner::Owner;
use mainspring_store::{Trouble, atomic};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::checks;
use super::setting::{Key, Notation, Reach, Setting, Value, Writer};
use crate::env::Environment;
use crate::hosts::text::excerpt;
use crate::people::own_files::{self, Check, OwnFile};
use crate::people::ownership::{self, Ignored};
use crate::{limits, project};

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) settings: Vec<(&'static Key, Value)>,
    /// Unknown keys, and keys that this file may not set.
    pub(super) warnings: Vec<String>,
    /// The file exists, and is ignored because of its owner.
    pub(super) ignored: Option<Ignored>,
}

/// No file is no settings. A file that cannot be parsed is an error.
pub(super) fn read(env: &Environment, path: &Path, writer: Writer) -> Result<Said, Trouble> {
    let found = match writer {
        Writer::Project => of_project(env, path)?,
        Writer::User => own_files::read(env, path, limits::CONFIG, Check::Always)?,
    };
    match found {
        OwnFile::Absent => Ok(Said::default()),
        OwnFile::Ignored(ignored) => Ok(Said {
            ignored: Some(ignored),
            ..Said::default()
        }),
        OwnFile::Read(bytes) => {
            let text = String::from_utf8(bytes)
                .map_err(|_| Trouble::corrupt(path, "it is not UTF-8 text"))?;
            said(path, &text, writer)
        }
    }
}

/// What a text says; the path is for messages.
pub(super) fn said(path: &Path, text: &str, writer: Writer) -> Result<Said, Trouble> {
    parse(text, writer).map_err(|wrong| Trouble::corrupt(path, wrong.shown(text)))
}

/// A repository's file comes with the repository. In any other folder the file must belong to
/// the person or to the folder's owner.
pub(super) fn of_project(env: &Environment, path: &Path) -> Result<OwnFile, Trouble> {
    let Some(file) = atomic::look(path, limits::CONFIG)? else {
        return Ok(OwnFile::Absent);
    };
    let folder = path.parent().unwrap_or(path);
    let doubt = ownership::doubt(Owner::of(path, &file.meta), env, Some(folder));
    Ok(match doubt {
        Some(doubt) if !project::is_in_own_repository(folder, env) => OwnFile::Ignored(Ignored {
            path: path.into(),
            doubt,
        }),
        Some(_) | None => OwnFile::Read(file.bytes),
    })
}

/// A problem, and where it is.
#[derive(Debug)]
pub(super) struct Wrong {
    offset: usize,
    problem: String,
}

pub(super) fn wrong(offset: usize, problem: impl Into<String>) -> Wrong {
    let problem = problem.into();
    Wrong { offset, problem }
}

impl Wrong {
    /// With line and column, as editors count.
    pub(super) fn shown(&self, text: &str) -> String {
        let before = text.get(..self.offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        format!("line {line}, column {column}: {}", self.problem)
    }
}

pub(super) fn table(text: &str) -> Result<Spanned<DeTable<'_>>, Wrong> {
    DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        wrong(offset, error.message())
    })
}

/// How many problems of one file are named.
const MOST_WARNINGS: usize = 10;

fn parse(text: &str, writer: Writer) -> Result<Said, Wrong> {
    let table = table(text)?;
    let mut said = Said::default();
    let mut more = 0_usize;
    // A file may be nothing but mistakes. To find the place of one takes a walk through all
    // of it, so only the first are looked up; the rest is counted.
    let mut warn = |offset: usize, problem: &dyn Fn() -> String| {
        if said.warnings.len() < MOST_WARNINGS {
            said.warnings.push(wrong(offset, problem()).shown(text));
        } else {
            more += 1;
        }
    };
    for (section, body) in table.get_ref() {
        let start = section.span().start;
        match (section.get_ref().as_ref(), body.get_ref()) {
            (checks::SECTION, body) if writer == Writer::Project => {
                checks::section_of(start, body)?;
            }
            (checks::SECTION, DeValue::Array(_)) => warn(start, &|| {
                "a [[check]] belongs into a project's mainspring.toml and is ignored".into()
            }),
            (checks::SECTION, _) => warn(start, &|| {
                "the settings of all checks are in [checks]; this is ignored".into()
            }),
            (section, DeValue::Table(body)) => {
                for (name, value) in body {
                    let full = format!("{section}.{}", name.get_ref());
                    match settable(&full, writer) {
                        Ok(key) => said.settings.push((key, setting(key, value)?)),
                        Err(problem) => warn(name.span().start, &|| problem(&full)),
                    }
                }
            }
            (name, _) => warn(start, &|| {
                let name = excerpt(name);
                format!("{name:?} stands outside a [section] and is ignored")
            }),
        }
    }
    if more > 0 {
        let rest = format!("{more} more problems of this kind");
        said.warnings.push(rest);
    }
    Ok(said)
}

/// The setting of this name, if this file may set it; else what to say about it.
fn settable(full: &str, writer: Writer) -> Result<&'static Key, fn(&str) -> String> {
    let key = super::keys()
        .find(|key| key.name == full)
        .ok_or(unknown as fn(&str) -> _)?;
    if key.reach == Reach::User && writer == Writer::Project {
        return Err(|full| {
            format!("{full} decides what is executed, so only your own config.toml may set it")
        });
    }
    Ok(key)
}

fn setting(key: &Key, value: &Spanned<DeValue<'_>>) -> Result<Value, Wrong> {
    self::value(key.notation, value)
        .map_err(|bad| wrong(bad.offset, format!("{}: {}", key.name, bad.problem)))
}

/// A value of this type.
pub(super) fn typed<T: Setting>(value: &Spanned<DeValue<'_>>) -> Result<T, Wrong> {
    let read = self::value(T::NOTATION, value)?;
    T::of(read).ok_or_else(|| wrong(value.span().start, "it is too large"))
}

fn value(notation: Notation, value: &Spanned<DeValue<'_>>) -> Result<Value, Wrong> {
    let start = value.span().start;
    let parse = |text: &str| {
        notation
            .parse(text)
            .map_err(|problem| wrong(start, problem))
    };
    match (notation, value.get_ref()) {
        (Notation::Switch, DeValue::Boolean(on)) => Ok(Value::Switch(*on)),
        (Notation::Number { .. } | Notation::Amount, DeValue::Integer(number)) => {
            parse(number.as_str())
        }
        (Notation::Amount, DeValue::Float(number)) => parse(number.as_str()),
        (Notation::Text | Notation::Choice(_) | Notation::Span, DeValue::String(text)) => {
            parse(text)
        }
        (Notation::List, DeValue::Array(items)) => {
            let items = items.iter().map(|item| match item.get_ref() {
                DeValue::String(text) => Ok(text.clone().into_owned().into()),
                _ => Err(wrong(item.span().start, "a text in quotes is wanted")),
            });
            items.collect::<Result<_, _>>().map(Value::List)
        }
        (notation, _) => Err(wrong(start, format!("{} is wanted", wanted(notation)))),
    }
}

fn wanted(notation: Notation) -> &'static str {
    match notation {
        Notation::Switch => "true or false",
        Notation::Number { .. } => "a whole number",
        Notation::Text | Notation::Choice(_) => "a text in quotes",
        Notation::Span => "a time span in quotes, like \"2h\",",
        Notation::List => "a list of texts",
        Notation::Amount => "an amount, like 5 or 0.50,",
    }
}

/// What to say about a setting that does not exist.
pub(crate) fn unknown(full: &str) -> String {
    let nearest = super::keys()
        .filter(|_| full.len() <= LONGEST_NAME)
        .map(|key| (distance(key.name, full), key.name))
        .min()
        .filter(|(distance, _)| *distance <= 4);
    let full = excerpt(full);
    if let Some((_, name)) = nearest {
        return format!("there is no setting {full}; did you mean {name}?");
    }
    format!("there is no setting {full}; `mainspring config` lists them")
}

/// A longer word is no misspelt setting.
const LONGEST_NAME: usize = 64;

/// The edit distance between two names.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let change = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> String {
        parse(text, Writer::User).unwrap_err().shown(text)
    }

    #[test]
    fn a_syntax_error_is_named_with_its_place() {
        let error = mistake("[pulse]\nbeats = = 2\n");
        assert!(error.starts_with("line 2, column 9: "), "{error}");
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_an_error_with_its_place() {
        let error = mistake("[pulse]\nbeats = \"two\"");
        assert_eq!(
            error,
            "line 2, column 9: pulse.beats: a whole number is wanted"
        );
        let error = mistake("[pulse]\nbeats = 1000");
        assert!(error.contains("from 0 to 100"), "{error}");
    }

    #[test]
    fn an_unknown_key_is_a_warning_with_the_nearest_known_one() {
        let said = parse("top = 1\n[pulse]\nbeets = 2\n", Writer::User).unwrap();
        assert!(said.settings.is_empty());
        assert_eq!(
            said.warnings,
            [
                "line 3, column 1: there is no setting pulse.beets; did you mean pulse.beats?",
                "line 1, column 1: \"top\" stands outside a [section] and is ignored",
            ]
        );
    }

    #[test]
    fn of_many_problems_the_first_are_named_and_the_rest_is_counted() {
        for (count, named) in [(1, 1), (10, 10), (11, 11), (30_000, 11)] {
            let keys: Vec<String> = (0..count).map(|n| format!("k{n} = 1\n")).collect();
            let keys = keys.concat();
            for text in [format!("[pulse]\n{keys}"), keys] {
                let warnings = parse(&text, Writer::User).unwrap().warnings;
                assert_eq!(warnings.len(), named, "{count}");
                if count > 10 {
                    let rest = format!("{} more problems of this kind", count - 10);
                    assert_eq!(warnings[10], rest);
                }
            }
        }
        let long = format!("[pulse]\n{} = 1\n", "x".repeat(200_000));
        let warnings = parse(&long, Writer::User).unwrap().warnings;
        assert!(warnings[0].len() < 400, "{}", warnings[0].len());
    }

    #[test]
    fn a_distance_counts_edits() {
        for (one, other, edits) in [
            ("", "", 0),
            ("loop", "loop", 0),
            ("lop", "loop", 1),
            ("gate", "loop", 4),
        ] {
            assert_eq!(distance(one, other), edits, "{one} {other}");
        }
    }
}
