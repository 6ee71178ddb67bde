//! Patterns of paths: `*` and `?` within a name, `**` for any folders.

/// Does the pattern match this path? Both are relative, with `/` between names.
pub fn matches(pattern: &str, path: &[u8]) -> bool {
    let mut parts: Vec<&[u8]> = pattern.as_bytes().split(|byte| *byte == b'/').collect();
    if parts.last() == Some(&ANY_FOLDERS) {
        // At the end it stands for everything below, and that is at least one name.
        parts.push(b"*");
    }
    let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    folders(&parts, &names)
}

const ANY_FOLDERS: &[u8] = b"**";

/// Does it name one file? Such a pattern also means a file that git ignores.
pub(crate) fn is_plain(pattern: &str) -> bool {
    !pattern.contains(['*', '?'])
}

/// All names. At each `**` it remembers where to go on, as [`one`] does at a star.
fn folders(parts: &[&[u8]], names: &[&[u8]]) -> bool {
    let (mut at, mut on) = (0, 0);
    let mut any: Option<(usize, usize)> = None;
    while on < names.len() {
        match parts.get(at) {
            Some(&ANY_FOLDERS) => {
                any = Some((at, on));
                at += 1;
            }
            Some(part) if one(part, names[on]) => {
                at += 1;
                on += 1;
            }
            Some(_) | None => {
                let Some((back, from)) = any else {
                    return false;
                };
                any = Some((back, from + 1));
                at = back + 1;
                on = from + 1;
            }
        }
    }
    parts[at..].iter().all(|part| *part == ANY_FOLDERS)
}

/// One name. At each star it remembers where to go on, so a name is walked at most once for each
/// of its bytes.
fn one(part: &[u8], name: &[u8]) -> bool {
    let (mut at, mut on) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while on < name.len() {
        match part.get(at) {
            Some(b'*') => {
                star = Some((at, on));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[on] => {
                at += 1;
                on += 1;
            }
            Some(_) | None => {
                let Some((back, from)) = star else {
                    return false;
                };
                star = Some((back, from + 1));
                at = back + 1;
                on = from + 1;
            }
        }
    }
    part[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_people_expect() {
        for (pattern, path, fits) in [
            ("src/**", "src/lib.rs", true),
            ("src/**", "src/a/b/c.rs", true),
            ("src/**", "src", false),
            ("src/**", "tests/src/x", false),
            ("**/*.rs", "lib.rs", true),
            ("**/*.rs", "a/b/lib.rs", true),
            ("**/*.rs", "a/b/lib.rs.txt", false),
            ("Cargo.*", "Cargo.toml", true),
            ("Cargo.*", "a/Cargo.toml", false),
            ("a/**/z", "a/z", true),
            ("a/**/z", "a/b/c/z", true),
            ("?.c", "x.c", true),
            ("?.c", "xy.c", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            (".env", ".env", true),
            ("**", "anything/at/all", true),
            ("**/**", "one", true),
            ("a/**/b/**/c", "a/x/b/y/b/z/c", true),
            ("a/**/b/**/c", "a/x/c/y/b", false),
            ("a/**/b/c", "a/b/b/c", true),
        ] {
            assert_eq!(matches(pattern, path.as_bytes()), fits, "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_does_not_take_long() {
        let pattern = "*a".repeat(30);
        assert!(!one(pattern.as_bytes(), "a".repeat(29).as_bytes()));
        assert!(!one(
            format!("{pattern}b").as_bytes(),
            "a".repeat(3_000).as_bytes()
        ));
        let folders = format!("{}b", "**/a/".repeat(60));
        assert!(!matches(&folders, "a/".repeat(1_500).as_bytes()));
    }
}
