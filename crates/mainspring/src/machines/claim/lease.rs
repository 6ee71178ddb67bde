//! Records on the git server who has an issue, so that everybody sees it.
//!
//! `refs/mainspring/claims/N` points at a commit of the empty tree whose message says who has the
//! issue, since when, how far it is and when that was last heard. The ref is created only if it
//! does not exist (`--force-with-lease`), so if several machines try at once, exactly one
//! succeeds, and the server decides which.

use std::path::Path;

use mainspring_kernel::Millis;
use mainspring_kernel::hidden::quote;
use mainspring_kernel::machines::claim::verbs::{Lease, Refused};
use mainspring_kernel::machines::claim::work::{Beaten, HeartBeat, Release};

use mainspring_store::digest;

use super::file::iso;
use crate::env::Environment;
use crate::git::{Git, said};

/// If nothing is heard of a claim for this time, somebody else may take the issue over.
pub(crate) const TIME_TO_LIVE: Millis = Millis::seconds(24 * 60 * 60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    /// The person and their computer.
    pub(crate) owner: String,
    pub(crate) agent: String,
    /// Their address in git's configuration, by which they are known on another computer, too.
    pub(crate) email: String,
    /// Distinguishes this checkout from others of the same person.
    pub(crate) place: String,
    pub(crate) at: Millis,
    /// When the claim was last written.
    pub(crate) heard: Millis,
    pub(crate) phase: String,
    pub(crate) branch: String,
    pub(crate) generation: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Taken {
    /// We have it, from now or from before; with the commit that records it.
    Ours(String),
    /// Somebody else has it.
    Theirs { holder: Holder, commit: String },
    /// This server refuses such refs; the claim goes on without one.
    Refused(String),
}

const PREFIX: &str = "refs/mainspring/claims/";

pub(crate) fn reference(issue: u64) -> String {
    format!("{PREFIX}{issue}")
}

/// The most claims that are listed.
const MOST_CLAIMS: usize = 1_000;

/// Every claim on the server, by issue. git alone is asked.
pub(crate) fn list(git: &Git, remote: &str) -> Result<Vec<(u64, Holder)>, String> {
    let mut refs = git.list(remote, PREFIX)?;
    refs.truncate(MOST_CLAIMS);
    if refs.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<&str> = refs.iter().map(|(_, name)| name.as_str()).collect();
    git.fetch_all(remote, &names)?;
    let commits: Vec<&str> = refs.iter().map(|(commit, _)| commit.as_str()).collect();
    let messages = git.messages(&commits)?;
    let mut claims: Vec<(u64, Holder)> = refs
        .iter()
        .filter_map(|(commit, name)| {
            let issue = name.strip_prefix(PREFIX)?.parse().ok()?;
            let message = messages.iter().find(|(known, _)| known == commit);
            let message = message.map_or("", |(_, message)| message);
            Some((issue, holder(message)))
        })
        .collect();
    claims.sort_by_key(|(issue, _)| *issue);
    Ok(claims)
}

/// Writes the claim again, with its new phase, if it is still ours.
pub(crate) fn beat(git: &Git, beat: &HeartBeat, now: Millis) -> Result<Beaten, String> {
    let HeartBeat {
        issue,
        branch,
        phase,
        lease,
        remote,
    } = beat;
    let ours = holder(&git.commit_text(lease)?);
    let next = Holder {
        heard: now,
        phase: phase.clone(),
        branch: branch.clone(),
        ..ours
    };
    match steal(git, remote, *issue, &next, lease)? {
        Taken::Ours(commit) => Ok(Beaten::Kept(commit)),
        Taken::Refused(_) => Ok(Beaten::Kept(lease.clone())),
        // Our own push may have arrived although its reply was lost.
        Taken::Theirs { holder, commit } if holder.is_in(&next.owner, &next.place) => {
            Ok(Beaten::Kept(commit))
        }
        Taken::Theirs { holder, .. } => Ok(Beaten::Lost(holder.owner)),
    }
}

/// Takes the issue, if nobody has it.
pub(crate) fn take(git: &Git, remote: &str, issue: u64, me: &Holder) -> Result<Taken, String> {
    Ok(match steal(git, remote, issue, me, "")? {
        // Our own checkout has it: the process died before it wrote the claim file.
        Taken::Theirs { holder, commit } if holder.is_in(&me.owner, &me.place) => {
            Taken::Ours(commit)
        }
        taken => taken,
    })
}

/// Takes the issue over, if it is still held by this commit; none means that nobody has it.
pub(crate) fn steal(
    git: &Git,
    remote: &str,
    issue: u64,
    me: &Holder,
    from: &str,
) -> Result<Taken, String> {
    let commit = record(git, issue, me)?;
    match push(git, remote, issue, &commit, from)? {
        Pushed::Done => Ok(Taken::Ours(commit)),
        Pushed::Refused(why) => Ok(Taken::Refused(why)),
        Pushed::Stale => {
            let (commit, holder) = read(git, remote, issue)?.ok_or(
                "the claim on the git server disappeared while we were reading it: try again",
            )?;
            Ok(Taken::Theirs { holder, commit })
        }
    }
}

/// Who has taken the issue over, if somebody has. A claim that is gone is nobody's.
pub(crate) fn taken_by(
    git: &Git,
    remote: &str,
    issue: u64,
    lease: &str,
) -> Result<Option<String>, String> {
    let listed = git.listed(remote, &reference(issue))?;
    if listed.is_none_or(|commit| commit == lease) {
        return Ok(None);
    }
    let ours = holder(&git.commit_text(lease)?);
    let now = read(git, remote, issue)?.map(|(_, holder)| holder);
    // Our own push may have arrived although its reply was lost.
    let theirs = now.filter(|now| !now.is_in(&ours.owner, &ours.place));
    Ok(theirs.map(|holder| holder.owner))
}

/// Gives the issue back, if we still have it.
pub(crate) fn release(
    git: &Git,
    remote: &str,
    issue: u64,
    commit: &str,
) -> Result<Release, String> {
    let reference = reference(issue);
    let lease = format!("{reference}:{commit}");
    let pushed = git.push(remote, &lease, &format!(":{reference}"))?;
    if pushed.code == Some(0) {
        return Ok(Release::Released);
    }
    // If the ref is already gone, there is nothing to give back.
    match read(git, remote, issue)? {
        None => Ok(Release::Released),
        Some((now, _)) if now == commit => said(&pushed).map(|_| Release::Released),
        Some((_, holder)) => Ok(Release::Theirs(holder.owner)),
    }
}

enum Pushed {
    Done,
    /// The ref is not what the lease expects.
    Stale,
    Refused(String),
}

fn push(
    git: &Git,
    remote: &str,
    issue: u64,
    commit: &str,
    expected: &str,
) -> Result<Pushed, String> {
    let reference = reference(issue);
    let lease = format!("{reference}:{expected}");
    let finished = git.push(remote, &lease, &format!("{commit}:{reference}"))?;
    if finished.code == Some(0) {
        return Ok(Pushed::Done);
    }
    let told = String::from_utf8_lossy(&finished.stdout);
    // `!<tab>from:to<tab>[rejected] (stale info)`: git's format for scripts.
    let line = told
        .lines()
        .find(|line| line.starts_with('!'))
        .unwrap_or_default();
    let verdict = line.rsplit('\t').next().unwrap_or_default();
    if verdict.contains("stale info") || verdict.contains("already exists") {
        return Ok(Pushed::Stale);
    }
    if verdict.starts_with("[remote rejected]") {
        // Two pushes at once: the server locked the ref for the other push, or the other
        // created it first.
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

/// Creates the commit of the empty tree that records who has the issue.
fn record(git: &Git, issue: u64, me: &Holder) -> Result<String, String> {
    let message = format!(
        "mainspring claim\n\nissue: {issue}\nowner: {}\nagent: {}\nemail: {}\nplace: {}\nat: {}\n\
         heard: {}\nphase: {}\nbranch: {}\ngeneration: {}\n",
        me.owner,
        me.agent,
        me.email,
        me.place,
        iso(me.at),
        iso(me.heard),
        me.phase,
        me.branch,
        me.generation
    );
    git.store_note(&message)
}

/// Who has the issue, and the commit that records it.
pub(crate) fn read(
    git: &Git,
    remote: &str,
    issue: u64,
) -> Result<Option<(String, Holder)>, String> {
    let reference = reference(issue);
    let Some(commit) = git.listed(remote, &reference)? else {
        return Ok(None);
    };
    git.fetch(remote, &reference)?;
    let message = git.commit_text(&commit)?;
    Ok(Some((commit, holder(&message))))
}

/// Parses a claim's commit. A missing field is unknown, and a missing date is very old.
fn holder(message: &str) -> Holder {
    let field = |name: &str| {
        message
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            .unwrap_or_default()
    };
    let time = |name: &str| {
        let at = field(name).parse::<jiff::Timestamp>().ok()?;
        u64::try_from(at.as_millisecond()).ok().map(Millis)
    };
    let at = time("at").unwrap_or(Millis(0));
    Holder {
        owner: quote(field("owner"), 120),
        agent: quote(field("agent"), 120),
        email: quote(field("email"), 120),
        place: field("place").to_owned(),
        at,
        // Claims of earlier versions were written once.
        heard: time("heard").unwrap_or(at).max(at),
        phase: quote(field("phase"), 40),
        branch: quote(field("branch"), 200),
        generation: field("generation").parse().unwrap_or(0),
    }
}

/// The person's name on this computer.
pub(crate) fn user(env: &Environment) -> String {
    let name = env.var("USER").or_else(|| env.var("LOGNAME"));
    quote(&name.unwrap_or_else(|| "agent".into()), 60)
}

impl Holder {
    /// Whoever works in this checkout.
    pub(crate) fn here(env: &Environment, git: &Git, place: &Path) -> Self {
        let user = user(env);
        let computer = mainspring_platform::host::name();
        let computer = computer.map_or_else(|| "unknown".into(), |text| quote(&text, 80));
        Self {
            owner: format!("{user}@{computer}"),
            agent: format!("{user}-{}", env.now().0 / 1_000),
            email: quote(&git.setting("user.email").unwrap_or_default(), 120),
            place: digest::of(&[place.as_os_str().as_encoded_bytes()]).0,
            at: env.now(),
            heard: env.now(),
            phase: String::new(),
            branch: String::new(),
            generation: 1,
        }
    }

    /// The refusal of an issue that this one has.
    pub(crate) fn refuses(&self, issue: u64, me: &Self) -> Refused {
        let now = me.at;
        let owner = match self.owner.as_str() {
            "" => "somebody",
            owner => owner,
        };
        let hours = now.since(self.at).0 / 3_600_000;
        let since = iso(self.at);
        Refused::Held {
            issue,
            holder: format!("{owner} ({}), since {since} ({hours} h ago)", self.agent),
            lease: if self.is_same_person(me) {
                Lease::OwnClone
            } else if self.is_expired(now) {
                Lease::Expired
            } else {
                Lease::Live
            },
        }
    }

    /// Is the claim so old that somebody else may take it over? So is one that was last heard of
    /// in a future that no clock is wrong by: it would be held for good.
    pub(crate) fn is_expired(&self, now: Millis) -> bool {
        now.since(self.heard) >= TIME_TO_LIVE || self.heard > now.plus(TIME_TO_LIVE)
    }

    /// Is it the claim of this checkout?
    fn is_in(&self, owner: &str, place: &str) -> bool {
        self.owner == owner && self.place == place
    }

    /// Is it a claim of the same person, here or in another clone?
    pub(crate) fn is_same_person(&self, me: &Self) -> bool {
        let known = !me.email.is_empty() && self.email == me.email;
        self.owner == me.owner || known
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
                email: String::new(),
                place: "abc".into(),
                at: Millis(1_767_600_000_000),
                heard: Millis(1_767_600_000_000),
                phase: String::new(),
                branch: String::new(),
                generation: 3,
            }
        );
        assert!(!read.is_expired(Millis(1_767_600_000_000 + 86_399_999)));
        assert!(read.is_expired(Millis(1_767_600_000_000 + 86_400_000)));
        let beating = holder(&format!("{message}heard: 2026-01-06T08:00:00Z\n"));
        assert!(!beating.is_expired(Millis(1_767_600_000_000 + 86_400_000)));
        let elsewhere = |owner: &str, email: &str| Holder {
            owner: owner.into(),
            email: email.into(),
            ..read.clone()
        };
        let me = elsewhere("alice@laptop", "alice@example.com");
        assert!(elsewhere("al@desk", "alice@example.com").is_same_person(&me));
        assert!(elsewhere("alice@laptop", "").is_same_person(&me));
        assert!(!elsewhere("bob@laptop", "").is_same_person(&elsewhere("al@desk", "")));
        let nobody = holder("tree x\n\nowner:\u{1b}[31m\n");
        assert_eq!((nobody.owner.as_str(), nobody.generation), ("", 0));
        assert!(nobody.is_expired(Millis(1_767_600_000_000)));
        let day = 86_400_000;
        assert!(
            !read.is_expired(Millis(1_767_600_000_000 - day)),
            "a wrong clock"
        );
        assert!(
            read.is_expired(Millis(1_767_600_000_000 - day - 1)),
            "no clock is"
        );
    }
}
