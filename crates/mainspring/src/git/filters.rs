//! Filters: programs that git runs over each file that it checks out.
//!
//! `.gitattributes`, which a clone brings, names a filter; the configuration says which program that
//! is. The person's own filters (Git LFS) may run anywhere. The repository's own configuration may
//! name one only if a person trusted the project: an unpacked archive can bring a whole `.git`.

use std::collections::{BTreeMap, BTreeSet};

use super::Git;

const FILTERS: &str = r"^filter\.";
/// What a filter's settings are called, and the value that makes it do nothing.
const NOTHING: [(&str, &str); 4] = [
    ("clean", ""),
    ("smudge", ""),
    ("process", ""),
    ("required", "false"),
];

impl Git {
    /// Variables that put the person's own filters, or none, in the place of the repository's. They
    /// are variables and not options, because a filter's name may contain what an option cannot.
    pub(super) fn own_filters(&self) -> Vec<(String, String)> {
        let args = [
            "config",
            "--includes",
            "--show-scope",
            "--null",
            "--get-regexp",
            FILTERS,
        ];
        let said = self.look(&args, &[]).map(|finished| finished.stdout);
        let settings = replaced(&String::from_utf8_lossy(&said.unwrap_or_default()));
        let each = settings.iter().enumerate().flat_map(|(at, (key, value))| {
            [
                (format!("GIT_CONFIG_KEY_{at}"), key.clone()),
                (format!("GIT_CONFIG_VALUE_{at}"), value.clone()),
            ]
        });
        let count = ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string());
        each.chain([count]).collect()
    }
}

/// The settings that count instead of those that git listed: of each filter that the repository
/// configures, the person's own.
fn replaced(listed: &str) -> BTreeMap<String, String> {
    let mut parts = listed.split('\0');
    let mut own = BTreeMap::new();
    let mut brought = BTreeSet::new();
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        let Some((name, _)) = key.rsplit_once('.') else {
            continue;
        };
        if matches!(scope, "system" | "global") {
            own.insert(key.to_owned(), value.to_owned());
        } else {
            brought.insert(name.to_owned());
        }
    }
    let mut settings = BTreeMap::new();
    for name in brought {
        for (field, nothing) in NOTHING {
            let key = format!("{name}.{field}");
            let value = own.get(&key).map_or(nothing, String::as_str).to_owned();
            settings.insert(key, value);
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_of_the_repository_gives_way_to_the_persons_own_or_to_none() {
        let listed = "global\0filter.lfs.smudge\ngit-lfs smudge\0global\0filter.lfs.required\ntrue\0\
                      global\0filter.mine.clean\nown\0local\0filter.lfs.smudge\nevil\0\
                      local\0filter.a=b.c.process\nevil\nmore\0worktree\0filter.w.clean\nevil\0";
        let settings = replaced(listed);
        let value = |key: &str| settings.get(key).map(String::as_str);
        assert_eq!(value("filter.lfs.smudge"), Some("git-lfs smudge"));
        assert_eq!(value("filter.lfs.required"), Some("true"));
        assert_eq!(value("filter.lfs.process"), Some(""));
        assert_eq!(value("filter.a=b.c.process"), Some(""));
        assert_eq!(value("filter.w.required"), Some("false"));
        assert_eq!(value("filter.mine.clean"), None, "it is left as it is");
        assert!(replaced("").is_empty());
    }
}
