//! Text that goes to GitHub: titles, bodies, comments.

use alloc::format;
use alloc::string::String;

/// GitHub's own limit for a title.
pub const TITLE_MAX: usize = 256;
/// The longest body of a pull request has 65,536 characters; the checklist needs some of them.
pub const SUMMARY_MAX: usize = 60_000;

/// The title and the rest of a summary: the first line that is not blank, and what follows. A first
/// line that is too long is cut at a word, and repeated in full below.
pub fn title(summary: &str) -> (String, String) {
    let trimmed = summary.trim();
    let (first, rest) = trimmed.split_once('\n').unwrap_or((trimmed, ""));
    let first = first.trim();
    if first.chars().count() <= TITLE_MAX {
        return (first.into(), rest.trim().into());
    }
    let mut cut: String = first.chars().take(TITLE_MAX - 1).collect();
    if let Some((head, _)) = cut.rsplit_once(' ') {
        cut.truncate(head.len());
    }
    cut.push('…');
    (cut, trimmed.into())
}

/// The boxes in the body, if the repository has no template of its own. They are left open: a box
/// that the author ticks beforehand proves nothing.
pub const CHECKLIST: [&str; 5] = [
    "The change does what the issue asks, and nothing else",
    "Tests cover it, and fail without it",
    "Documentation says what is true after it",
    "No secrets, no private data, no new permissions",
    "A reader who was not here can follow it",
];

/// The pull request's body. It says `Refs`, not `Closes`: the person decides when the issue is
/// closed, not the merge.
pub fn body(summary: &str, issue: u64, template: &str) -> String {
    let mut body = String::from(summary.trim());
    if !body.is_empty() {
        body.push_str("\n\n");
    }
    body.push_str(&format!("Refs #{issue}\n\n"));
    let template = template.trim();
    if template.is_empty() {
        body.push_str("## Checklist\n\n");
        for item in CHECKLIST {
            body.push_str(&format!("- [ ] {item}\n"));
        }
    } else {
        body.push_str(&unticked(template));
        body.push('\n');
    }
    body
}

/// A template with every box open.
fn unticked(template: &str) -> String {
    template.replace("- [x]", "- [ ]").replace("- [X]", "- [ ]")
}

/// A cause that ends a clause of ours: without its own full stop.
pub fn unended(cause: &str) -> String {
    cause.trim_end().trim_end_matches('.').into()
}

/// Marks our closing comment, so that it is not posted twice. It names the pull request: an issue
/// that was reopened gets another comment for the next one.
pub fn marker(issue: u64, pr: Option<u64>) -> String {
    let pr = pr.map(|pr| format!(":{pr}")).unwrap_or_default();
    format!("<!-- mainspring:done:{issue}{pr} -->")
}

/// The comment that closes the issue.
pub fn farewell(issue: u64, pr: Option<u64>) -> String {
    let within = pr.map(|pr| format!(" in #{pr}")).unwrap_or_default();
    format!("Completed{within}\n\n{}", marker(issue, pr))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn a_summary_is_a_title_and_the_rest() {
        assert_eq!(title("Fix it"), ("Fix it".into(), String::new()));
        assert_eq!(
            title("\n  Fix it \n\nBecause.\nYes."),
            ("Fix it".into(), "Because.\nYes.".into())
        );
        let long = "word ".repeat(80);
        let (head, rest) = title(&long);
        assert!(
            head.chars().count() <= TITLE_MAX && head.ends_with("word…"),
            "{head}"
        );
        assert_eq!(rest, long.trim());
    }

    #[test]
    fn the_body_refers_to_the_issue_and_ticks_nothing() {
        insta::assert_snapshot!(body("Why and how.", 42, ""), @r"
        Why and how.

        Refs #42

        ## Checklist

        - [ ] The change does what the issue asks, and nothing else
        - [ ] Tests cover it, and fail without it
        - [ ] Documentation says what is true after it
        - [ ] No secrets, no private data, no new permissions
        - [ ] A reader who was not here can follow it
        ");
        insta::assert_snapshot!(body("", 7, "## Ours\n- [x] a\n- [X] b\n"), @r"
        Refs #7

        ## Ours
        - [ ] a
        - [ ] b
        ");
    }

    #[test]
    fn the_farewell_carries_its_marker() {
        assert_eq!(
            farewell(42, Some(107)),
            "Completed in #107\n\n<!-- mainspring:done:42:107 -->"
        );
        assert_eq!(
            farewell(42, None),
            "Completed\n\n<!-- mainspring:done:42 -->"
        );
        assert!(farewell(42, None).contains(&marker(42, None)));
    }

    proptest! {
        #[test]
        fn no_title_is_too_long_and_no_word_of_the_summary_is_lost(summary in "\\PC{0,600}(\n\\PC{0,50}){0,3}") {
            let (head, rest) = title(&summary);
            prop_assert!(head.chars().count() <= TITLE_MAX);
            prop_assert!(!head.contains('\n'));
            let whole = if rest.starts_with(summary.trim()) { rest } else { head + "\n" + &rest };
            let squeeze = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(squeeze(&whole), squeeze(&summary));
        }

        #[test]
        fn a_body_never_closes_an_issue_by_itself(number in any::<u64>()) {
            let text = body("", number, "");
            let refs = "Refs #".to_string() + &number.to_string();
            prop_assert!(text.contains(&refs));
            prop_assert!(!text.to_lowercase().contains("closes #"));
        }
    }
}
