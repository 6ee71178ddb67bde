//! Who has an issue, where everybody can see it: a ref on the git server.
//!
//! `refs/mainspring/claims/N` points at a commit of the empty tree whose message names the
//! owner. It is created with a lease on its absence, so of any number of machines that try
//! at once exactly one succeeds, and the server alone decides which.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::text::quote;

use super::file::iso;
use super::programs::{Programs, said};

/// After this an issue may be taken over from somebody who went away.
pub(crate) const TIME_TO_LIVE: Millis = Millis::seconds(24 * 60 * 60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    /// The person and machine.
    pub(crate) owner: String,
    pub(crate) agent: String,
    /// Tells this checkout from another of the same person's.
    pub(crate) place: String,
    pub(crate) at: Millis,
    pub(crate) generation: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Taken {
    /// By us, now or earlier: the commit that says so.
    Ours(String),
    /// By somebody else.
    Theirs { holder: Holder, commit: String },
    /// This server has no room for such refs; the claim goes on without.
    Refused(String),
}

pub(crate) fn reference(issue: u64) -> String {
    format!("refs/mainspring/claims/{issue}")
}

/// Takes the issue, if nobody has it.
pub(crate) fn take(
    programs: &Programs,
    remote: &str,
    issue: u64,
    me: &Holder,
) -> Result<Taken, String> {
    let commit = record(programs, issue, me)?;
    match push(programs, remote, issue, &commit, "")? {
        Pushed::Done => Ok(Taken::Ours(commit)),
        Pushed::Refused(why) => Ok(Taken::Refused(why)),
        Pushed::Stale => {
            let (commit, holder) = read(programs, remote, issue)?
                .ok_or("the claim on the git server went away while it was looked at: try again")?;
            // The same checkout: a claim whose process died before it wrote the file.
            if holder.owner == me.owner && holder.place == me.place {
                return Ok(Taken::Ours(commit));
            }
            Ok(Taken::Theirs { holder, commit })
        }
    }
}

/// Takes it over from somebody who had it, if they still have it by that very commit.
pub(crate) fn steal(
    programs: &Programs,
    remote: &str,
    issue: u64,
    me: &Holder,
    from: &str,
) -> Result<Taken, String> {
    let commit = record(programs, issue, me)?;
    match push(programs, remote, issue, &commit, from)? {
        Pushed::Done => Ok(Taken::Ours(commit)),
        Pushed::Refused(why) => Ok(Taken::Refused(why)),
        Pushed::Stale => {
            let (commit, holder) = read(programs, remote, issue)?
                .ok_or("the claim on the git server went away while it was looked at: try again")?;
            Ok(Taken::Theirs { holder, commit })
        }
    }
}

/// Lets go of it, if it still is ours.
pub(crate) fn release(
    programs: &Programs,
    remote: &str,
    issue: u64,
    commit: &str,
) -> Result<(), String> {
    let reference = reference(issue);
    let lease = format!("--force-with-lease={reference}:{commit}");
    let gone = format!(":{reference}");
    let pushed = programs
        .git(&["push", "--porcelain", &lease, remote, &gone])
        .map_err(|failure| failure.to_string())?;
    if pushed.code == Some(0) {
        return Ok(());
    }
    // Gone already is as good as let go of.
    match read(programs, remote, issue)? {
        None => Ok(()),
        Some((now, _)) if now == commit => said(&pushed).map(drop),
        Some((_, holder)) => Err(format!("{} has taken it over", quote(&holder.owner, 80))),
    }
}

enum Pushed {
    Done,
    /// The ref is not what the lease says.
    Stale,
    Refused(String),
}

fn push(
    programs: &Programs,
    remote: &str,
    issue: u64,
    commit: &str,
    expected: &str,
) -> Result<Pushed, String> {
    let reference = reference(issue);
    let lease = format!("--force-with-lease={reference}:{expected}");
    let refspec = format!("{commit}:{reference}");
    let finished = programs
        .git(&["push", "--porcelain", &lease, remote, &refspec])
        .map_err(|failure| failure.to_string())?;
    if finished.code == Some(0) {
        return Ok(Pushed::Done);
    }
    let told = String::from_utf8_lossy(&finished.stdout);
    // `!<tab>from:to<tab>[rejected] (stale info)`: git's format for programs.
    let line = told
        .lines()
        .find(|line| line.starts_with('!'))
        .unwrap_or_default();
    let verdict = line.rsplit('\t').next().unwrap_or_default();
    if verdict.contains("stale info") || verdict.contains("already exists") {
        return Ok(Pushed::Stale);
    }
    if verdict.starts_with("[remote rejected]") {
        // Two pushes at once: the server locked the ref for the other one, or made it first.
        let race = [
            "cannot lock ref",
            "failed to update ref",
            "reference already exists",
        ];
        if race.iter().any(|words| verdict.contains(words)) {
            return Ok(Pushed::Stale);
        }
        return Ok(Pushed::Refused(quote(verdict, 200)));
    }
    said(&finished).map(|_| Pushed::Done)
}

/// A commit of the empty tree that says who has the issue.
fn record(programs: &Programs, issue: u64, me: &Holder) -> Result<String, String> {
    let tree = programs.ask_git(&["hash-object", "-t", "tree", "-w", "/dev/null"])?;
    let message = format!(
        "mainspring claim\n\nissue: {issue}\nowner: {}\nagent: {}\nplace: {}\nat: {}\ngeneration: {}\n",
        me.owner,
        me.agent,
        me.place,
        iso(me.at),
        me.generation
    );
    let identity = [
        ("GIT_AUTHOR_NAME", "mainspring"),
        ("GIT_AUTHOR_EMAIL", "mainspring@localhost"),
        ("GIT_COMMITTER_NAME", "mainspring"),
        ("GIT_COMMITTER_EMAIL", "mainspring@localhost"),
    ];
    let args = ["commit-tree", &tree, "-m", &message];
    let finished = programs
        .git_with(&args, super::programs::Hooks::Off, &identity)
        .map_err(|failure| failure.to_string())?;
    said(&finished).map_err(|cause| format!("git commit-tree: {cause}"))
}

/// Who has it, by which commit.
pub(crate) fn read(
    programs: &Programs,
    remote: &str,
    issue: u64,
) -> Result<Option<(String, Holder)>, String> {
    let reference = reference(issue);
    let listed = programs.ask_git(&["ls-remote", remote, &reference])?;
    let Some(commit) = listed.split_whitespace().next().map(str::to_owned) else {
        return Ok(None);
    };
    programs.ask_git(&[
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        remote,
        &reference,
    ])?;
    let message = programs.ask_git(&["cat-file", "commit", &commit])?;
    Ok(Some((commit, holder(&message))))
}

/// What a claim's commit says; what it does not say is unknown, and very old.
fn holder(message: &str) -> Holder {
    let field = |name: &str| {
        message
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            .unwrap_or_default()
    };
    let at = field("at").parse::<jiff::Timestamp>().ok();
    Holder {
        owner: quote(field("owner"), 120),
        agent: quote(field("agent"), 120),
        place: field("place").to_owned(),
        at: at
            .and_then(|at| u64::try_from(at.as_millisecond()).ok())
            .map_or(Millis(0), Millis),
        generation: field("generation").parse().unwrap_or(0),
    }
}

impl Holder {
    /// Has it been held for so long that somebody else may have it?
    pub(crate) fn is_expired(&self, now: Millis) -> bool {
        now.since(self.at) >= TIME_TO_LIVE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claims_commit_is_read_back_and_garbage_is_nobody() {
        let message = "tree 4b825dc\nauthor x <x> 1 +0000\n\nmainspring claim\n\nissue: 42\nowner: alice@box\nagent: alice-1\nplace: abc\nat: 2026-01-05T08:00:00Z\ngeneration: 3\n";
        let read = holder(message);
        assert_eq!(
            read,
            Holder {
                owner: "alice@box".into(),
                agent: "alice-1".into(),
                place: "abc".into(),
                at: Millis(1_767_600_000_000),
                generation: 3,
            }
        );
        assert!(!read.is_expired(Millis(1_767_600_000_000 + 86_399_999)));
        assert!(read.is_expired(Millis(1_767_600_000_000 + 86_400_000)));
        let nobody = holder("tree x\n\nowner:\u{1b}[31m\n");
        assert_eq!((nobody.owner.as_str(), nobody.generation), ("", 0));
        assert!(nobody.is_expired(Millis(1_767_600_000_000)));
    }
}
