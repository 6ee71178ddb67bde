//! What changes between two texts, line by line, as people know it from `diff -u`.

/// Lines of context around a change.
const CONTEXT: usize = 2;

/// One line each, with `+`, `-` or a space in front; changes far apart are separated by `…`.
/// Empty where nothing changes.
pub(crate) fn lines(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let all = edits(&old, &new);
    let changed = |at: usize| !matches!(all[at], Edit::Keep(_));
    let near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let to = (at + CONTEXT + 1).min(all.len());
        (from..to).any(changed)
    };
    let mut out = Vec::new();
    let mut gap = false;
    for (at, edit) in all.iter().enumerate() {
        if !near(at) {
            gap = true;
            continue;
        }
        if gap && !out.is_empty() {
            out.push("…".into());
        }
        gap = false;
        out.push(match edit {
            Edit::Keep(line) => format!("  {line}"),
            Edit::Remove(line) => format!("- {line}"),
            Edit::Add(line) => format!("+ {line}"),
        });
    }
    out
}

enum Edit<'a> {
    Keep(&'a str),
    Remove(&'a str),
    Add(&'a str),
}

/// Keeps the longest common subsequence of lines. Equal lines at both ends are set aside first,
/// so that the table is only as large as what changed.
fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Edit<'a>> {
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let head = same(&mut old.iter().zip(new));
    let tail = same(&mut old[head..].iter().rev().zip(new[head..].iter().rev()));
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut common = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let mut out: Vec<Edit<'a>> = old[..head].iter().map(|line| Edit::Keep(line)).collect();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            out.push(Edit::Keep(a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || (i < a.len() && common[i + 1][j] >= common[i][j + 1]) {
            out.push(Edit::Remove(a[i]));
            i += 1;
        } else {
            out.push(Edit::Add(b[j]));
            j += 1;
        }
    }
    out.extend(old[old.len() - tail..].iter().map(|line| Edit::Keep(line)));
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nB\nc\nd\ne\nf\ng\nh\ni\n";
        insta::assert_snapshot!(lines(old, new).join("\n"), @"
          a
        - b
        + B
          c
          d
        …
          g
          h
        + i
        ");
        assert!(lines(old, old).is_empty());
    }

    proptest! {
        #[test]
        fn what_is_kept_and_added_is_the_new_text(
            old in proptest::collection::vec("[abc]", 0..12),
            new in proptest::collection::vec("[abc]", 0..12),
        ) {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let (mut from, mut to) = (Vec::new(), Vec::new());
            for edit in edits(&old, &new) {
                match edit {
                    Edit::Keep(line) => { from.push(line); to.push(line); }
                    Edit::Remove(line) => from.push(line),
                    Edit::Add(line) => to.push(line),
                }
            }
            prop_assert_eq!(from, old);
            prop_assert_eq!(to, new);
        }
    }
}
