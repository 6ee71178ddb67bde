//! Branch names: which ones work in git and on a command line, and which one a claim gets.

use alloc::format;
use alloc::string::String;

use crate::hidden::is_hidden;

/// Why a name cannot be a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum BadBranch {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than 200 bytes")]
    Long,
    #[error("it begins with a dash, which a command would take for an option")]
    Dash,
    #[error("it has a space or a character that cannot be seen")]
    Invisible,
    #[error("git allows none of `~ ^ : ? * [ \\ @{{ ..` in a branch")]
    Reserved,
    #[error("a part of it is empty, begins with a dot, or ends with a dot or `.lock`")]
    Part,
    #[error("it is a name that git keeps for itself")]
    Kept,
}

const LONGEST: usize = 200;

/// Git's own rules (`git check-ref-format --branch`), and those of a command line.
pub fn check(name: &str) -> Result<(), BadBranch> {
    if name.is_empty() {
        return Err(BadBranch::Empty);
    }
    if name.len() > LONGEST {
        return Err(BadBranch::Long);
    }
    if name.starts_with('-') {
        return Err(BadBranch::Dash);
    }
    if name
        .chars()
        .any(|char| char.is_whitespace() || is_hidden(char))
    {
        return Err(BadBranch::Invisible);
    }
    if name.contains(['~', '^', ':', '?', '*', '[', '\\'])
        || name.contains("..")
        || name.contains("@{")
    {
        return Err(BadBranch::Reserved);
    }
    let bad_part = |part: &str| {
        let lock =
            part.len() >= 5 && part.as_bytes()[part.len() - 5..].eq_ignore_ascii_case(b".lock");
        part.is_empty() || part.starts_with('.') || part.ends_with('.') || lock
    };
    if name.split('/').any(bad_part) {
        return Err(BadBranch::Part);
    }
    if matches!(name, "@" | "HEAD") || name.starts_with("refs/") {
        return Err(BadBranch::Kept);
    }
    Ok(())
}

/// Is this a name that default branches usually have?
pub fn is_usual_default(name: &str) -> bool {
    matches!(name, "main" | "master" | "trunk" | "develop")
}

/// The branch of a claim. The same issue always gets the same branch, because by the branch we find
/// a pull request that already exists.
pub fn for_issue(issue: u64, title: &str) -> String {
    let mut slug = String::new();
    for char in title.chars() {
        if slug.len() >= 40 {
            break;
        }
        if char.is_ascii_alphanumeric() {
            slug.push(char.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        format!("claude/issue-{issue}")
    } else {
        format!("claude/{slug}-{issue}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_a_branch_may_have() {
        for name in [
            "main",
            "claude/fix-thing-42",
            "a/b.c/d_e",
            "ünï/cödé",
            "x@y",
            "a$(id)b",
            "it's",
        ] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_it_may_not() {
        let cases = [
            ("", BadBranch::Empty),
            ("-rf", BadBranch::Dash),
            ("--upload-pack=evil", BadBranch::Dash),
            ("a b", BadBranch::Invisible),
            ("a\u{a0}b", BadBranch::Invisible),
            ("a\u{2003}b", BadBranch::Invisible),
            ("a\u{200b}b", BadBranch::Invisible),
            ("a\nb", BadBranch::Invisible),
            ("a\0b", BadBranch::Invisible),
            ("a\u{7f}b", BadBranch::Invisible),
            ("a..b", BadBranch::Reserved),
            ("a@{1}", BadBranch::Reserved),
            ("a:b", BadBranch::Reserved),
            ("a^", BadBranch::Reserved),
            ("a~1", BadBranch::Reserved),
            ("a?", BadBranch::Reserved),
            ("a*", BadBranch::Reserved),
            ("a[b", BadBranch::Reserved),
            ("a\\b", BadBranch::Reserved),
            ("/a", BadBranch::Part),
            ("a/", BadBranch::Part),
            ("a//b", BadBranch::Part),
            (".a", BadBranch::Part),
            ("a/.b", BadBranch::Part),
            ("a.", BadBranch::Part),
            ("a.lock", BadBranch::Part),
            ("a.LOCK/b", BadBranch::Part),
            ("@", BadBranch::Kept),
            ("HEAD", BadBranch::Kept),
            ("refs/heads/a", BadBranch::Kept),
        ];
        for (name, why) in cases {
            assert_eq!(check(name), Err(why), "{name:?}");
        }
        assert_eq!(check(&"a".repeat(201)), Err(BadBranch::Long));
    }

    #[test]
    fn a_claims_branch_says_what_it_is_for() {
        let cases = [
            (
                "Fix the race in start-up",
                "claude/fix-the-race-in-start-up-42",
            ),
            ("  $(rm -rf /) `x`; \u{202e}", "claude/rm-rf-x-42"),
            ("修复", "claude/issue-42"),
            ("", "claude/issue-42"),
        ];
        for (title, branch) in cases {
            assert_eq!(for_issue(42, title), branch, "{title:?}");
        }
    }

    proptest! {
        #[test]
        fn every_title_gives_a_branch_that_git_takes(issue in any::<u64>(), title in any::<String>()) {
            prop_assert_eq!(check(&for_issue(issue, &title)), Ok(()));
        }

        #[test]
        fn no_accepted_name_can_be_taken_for_an_option_or_split(name in any::<String>()) {
            if check(&name).is_ok() {
                prop_assert!(!name.starts_with('-') && !name.contains(char::is_whitespace));
            }
        }
    }
}
