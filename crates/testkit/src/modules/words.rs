//! What the product's source says about itself: nothing is decided by a sentence of ours, and a
//! name means one thing in a crate.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{self, Source};

/// Sentences of others. Nothing but their words tells what they mean.
const FOREIGN: &[(&str, &str)] = &[
    ("Process exited with code ", "Codex's transcript"),
    ("gh auth login", "gh"),
    ("rate limit", "GitHub"),
    ("ok  \\t", "go test"),
    (
        "[This is Mainspring, a stop hook, and not the user]",
        "our reason, as a client gives it back to us",
    ),
    ("! [", "git push: this branch was refused"),
    ("[remote rejected]", "git push"),
    ("already exists", "git push"),
    ("fetch first", "git push"),
    ("stale info", "git push"),
    ("not a git repository", "git"),
    ("ref: refs/heads/", "git's HEAD file"),
    ("Token scopes:", "gh auth status"),
    ("doesn't exist on type", "GitHub's GraphQL"),
    ("no test specified", "npm's package.json"),
    ("test result:", "cargo test"),
    ("0 failed", "cargo test"),
    ("0 errors", "linters"),
    ("no tests ran", "pytest"),
    ("OK (skipped=", "unittest"),
    ("[no test files]", "go test"),
    ("[no tests to run]", "go test"),
    ("Stop hook feedback:", "Claude Code's transcript"),
    ("Request cancelled.", "Gemini CLI's transcript"),
    ("Exit Code: ", "Gemini CLI's transcript"),
    ("Background task completed.", "Droid's transcript"),
    (
        "const LINE = ",
        "the line of a plugin's file that we write for another program",
    ),
    (
        "Mainspring's plugin for ",
        "a plugin's file, which only its first line marks as ours",
    ),
];

/// Sentences of ours that still decide something. Each waits for a type.
const OURS: &[&str] = &[
    "has taken it over",
    " are done without two clean ones",
    "not in the receipt",
    "Validation failed:",
    "was not laid out, and no task was changed.",
];

const COMPARE: &[&str] = &[
    ".ends_with(",
    ".starts_with(",
    ".contains(",
    ".strip_prefix(",
    ".strip_suffix(",
    ".split_once(",
    ".rsplit_once(",
    ".find(",
    "== ",
    "!= ",
];

/// Two words or more.
fn is_sentence(text: &str) -> bool {
    let words = text.split_whitespace();
    words
        .filter(|word| word.contains(char::is_alphabetic))
        .count()
        > 1
}

/// A text that begins here in the source, without its escapes undone.
fn literal(code: &str) -> Option<&str> {
    let inside = code.strip_prefix('"')?;
    let ends = |(at, _): &(usize, &str)| !inside[..*at].ends_with('\\');
    let (end, _) = inside.match_indices('"').find(ends)?;
    Some(&inside[..end])
}

/// The constants that are texts.
fn constants(code: &str) -> impl Iterator<Item = (&str, &str)> {
    code.match_indices(": &str =").filter_map(|(at, is)| {
        let name = code[..at]
            .rsplit(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next()?;
        Some((name, literal(code[at + is.len()..].trim_start())?))
    })
}

/// The sentences that something is compared with, by the constants' names or in place.
fn compared<'a>(code: &'a str, named: &BTreeMap<&'a str, &'a str>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for word in COMPARE {
        for (at, _) in code.match_indices(word) {
            let rest = code[at + word.len()..].trim_start();
            let rest = rest.trim_start_matches('&');
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            let name = rest[..end.unwrap_or(rest.len())].rsplit("::").next();
            let text = literal(rest).or_else(|| named.get(name?).copied());
            found.extend(text.filter(|text| is_sentence(text)));
        }
    }
    found
}

/// The types of a file that others may name, and those with a name that is easily taken twice.
fn types(code: &str) -> BTreeSet<&str> {
    const OFTEN: [&str; 5] = ["Found", "Kind", "Outcome", "Record", "State"];
    let defined = |line: &str| -> Option<(bool, usize)> {
        let item = line.strip_prefix("pub").map_or(line, |rest| {
            let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
            rest.map_or(&line["pub".len()..], |(_, rest)| rest)
                .trim_start()
        });
        let name = ["struct ", "enum "]
            .iter()
            .find_map(|word| item.strip_prefix(word))?;
        Some((line.starts_with("pub"), line.len() - name.len()))
    };
    code.lines()
        .filter_map(|line| {
            let (is_seen, at) = defined(line)?;
            let name = &line[at..];
            let end = name.find(|c: char| !c.is_alphanumeric());
            let name = &name[..end.unwrap_or(name.len())];
            (is_seen || OFTEN.contains(&name)).then_some(name)
        })
        .collect()
}

/// `machines::claim` of `machines::claim::work`.
fn room(source: &Source) -> &str {
    let mut ends = source.module.match_indices("::");
    ends.nth(1)
        .map_or(&source.module, |(end, _)| &source.module[..end])
}

/// The names that several types of a crate have, although not each is what a trait asks for.
fn shared(sources: &[Source]) -> BTreeMap<&str, Vec<&str>> {
    let mut named: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources {
        for name in types(&source.code) {
            named.entry(name).or_default().push(source);
        }
    }
    named.retain(|name, files| {
        let role = format!("type {name} = ");
        let plays_role = |file: &&Source| {
            let mut of_machine = sources.iter().filter(|one| room(one) == room(file));
            of_machine.any(|one| one.code.contains(&role))
        };
        files.len() > 1 && !files.iter().all(plays_role)
    });
    named
        .into_iter()
        .map(|(name, files)| {
            (
                name,
                files.iter().map(|file| file.module.as_str()).collect(),
            )
        })
        .collect()
}

/// What each command or each machine has under the same name.
const ROLES: &[&str] = &["Args", "Shell", "Refused"];

/// Names that still mean two things. None may join them.
const TWICE: &[(&str, &str)] = &[
    (
        "kernel",
        "Check Ending Entry Failure Fault How Item Kind Memory Mode Next Occasion Open Outcome \
         Phase Record Reply Request Review Route Row Run State Status Step Tasks Typed Verdict",
    ),
    (
        "mainspring",
        "Caller Change Check Checkout Contents Entry Filter Found Input Kind Permissions Reply \
         Request Said Setting Source Status Step Stored Taken Task Unreadable",
    ),
    ("platform", ""),
    ("store", ""),
    ("json", ""),
];

fn of_crate(name: &str) -> Vec<Source> {
    source::of_crate(&crate::clients::workspace().join("crates").join(name))
}

#[test]
fn nothing_is_decided_by_a_sentence_of_ours() {
    for (name, _) in TWICE {
        let sources = of_crate(name);
        let named = sources.iter().flat_map(|source| constants(&source.code));
        let named: BTreeMap<_, _> = named.collect();
        for source in &sources {
            let mut named = named.clone();
            named.extend(constants(&source.code));
            let mut ours = compared(&source.code, &named);
            let is_foreign = |text: &&str| FOREIGN.iter().any(|(foreign, _)| foreign == text);
            ours.retain(|text| !is_foreign(text) && !OURS.contains(text));
            let module = &source.module;
            assert!(
                ours.is_empty(),
                "{name}: {module} is decided by {ours:?}: make a type, and the text at the edge"
            );
        }
    }
}

#[test]
fn a_name_means_one_thing_in_a_crate() {
    for (name, twice) in TWICE.iter().filter(|(name, _)| *name != "platform") {
        let sources = of_crate(name);
        let mut shared = shared(&sources);
        shared.retain(|name, _| !ROLES.contains(name) && !twice.split(' ').any(|one| one == *name));
        assert!(shared.is_empty(), "{name}: {shared:#?}");
    }
}

#[test]
fn sentences_and_names_are_found() {
    let code = "const LEFT: &str = \"it was left\";\n\
                pub struct Found;\nenum Kind {}\nstruct Own;\npub(super) enum Seen {}\n\
                fn of(text: &str) -> bool { text.ends_with(words::LEFT) || text == \"a b\" \
                || text.contains(\"word\") || text.starts_with(WORD) }\n";
    let named = constants(code).collect();
    let found: Vec<&str> = compared(code, &named).into_iter().collect();
    assert_eq!(found, ["a b", "it was left"]);
    let found: Vec<&str> = types(code).into_iter().collect();
    assert_eq!(found, ["Found", "Kind", "Seen"]);
}
