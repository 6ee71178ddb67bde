//! What a project's file defines, what a check prints, and what a receipt says.

use mainspring::formats::check;
use mainspring_kernel::Millis;

/// The lines that an agent reads of a check's output, at most, and the characters of each.
const MOST_LINES: usize = 31;
const MOST_CHARS: usize = 241;

/// A check's name is a plain name of a folder, and its pins are in the project; what is quoted is
/// bounded and moves no terminal; a receipt that is read and written again is the same receipt; a
/// pattern matches what a slow and simple reading of it matches.
pub(crate) fn run(bytes: &[u8]) {
    let shown = check::output(bytes);
    assert!(shown.lines().count() <= MOST_LINES, "{shown}");
    for line in shown.lines() {
        assert!(line.chars().count() <= MOST_CHARS, "{line}");
        assert!(
            !line.chars().any(|c| c.is_control() && c != '\t'),
            "{line:?}"
        );
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    definitions(text);
    if let Ok(receipt) = check::receipt(text)
        && !receipt.is_empty()
    {
        assert_eq!(check::receipt(&receipt).as_ref(), Ok(&receipt));
    }
    if let Some((pattern, path)) = text.split_once('\n') {
        patterns(pattern, path);
    }
}

fn definitions(text: &str) {
    let all = match check::definitions(text) {
        Ok(all) => all,
        Err(problem) => {
            assert!(!problem.is_empty());
            return;
        }
    };
    assert!(all.len() <= 32);
    for (name, timeout, pins) in &all {
        assert!(!name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']));
        assert_eq!(all.iter().filter(|(other, ..)| other == name).count(), 1);
        assert!(*timeout >= Millis::seconds(1) && *timeout <= Millis::seconds(2_900));
        for pin in pins {
            assert!(!pin.starts_with('/') && pin.split('/').all(|part| part != ".."));
        }
    }
}

fn patterns(pattern: &str, path: &str) {
    let found = check::is_input(pattern, path.as_bytes());
    let parts: Vec<&str> = pattern.split('/').collect();
    let names: Vec<&str> = path.split('/').collect();
    // The simple reading takes long for long ones.
    if pattern.len() + path.len() <= 24 {
        assert_eq!(found, folders(&parts, &names), "{pattern:?} {path:?}");
    }
}

fn folders(parts: &[&str], names: &[&str]) -> bool {
    match parts {
        [] => names.is_empty(),
        ["**"] => !names.is_empty(),
        ["**", rest @ ..] => (0..=names.len()).any(|skip| folders(rest, &names[skip..])),
        [part, rest @ ..] => names.split_first().is_some_and(|(name, below)| {
            one(part.as_bytes(), name.as_bytes()) && folders(rest, below)
        }),
    }
}

fn one(part: &[u8], name: &[u8]) -> bool {
    match part {
        [] => name.is_empty(),
        [b'*', rest @ ..] => (0..=name.len()).any(|skip| one(rest, &name[skip..])),
        [b'?', rest @ ..] => name
            .split_first()
            .is_some_and(|(_, below)| one(rest, below)),
        [byte, rest @ ..] => name
            .split_first()
            .is_some_and(|(first, below)| first == byte && one(rest, below)),
    }
}
