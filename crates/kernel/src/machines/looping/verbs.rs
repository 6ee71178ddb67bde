//! The commands of the loop.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Client, Frame, Loop, LoopOwner, MOST_FRAMES, OwnerLife, Past, Run, State};
use crate::ids::{Millis, SessionId};
use crate::machine::{Nothing, Step};
use crate::reduce::Reducer;
use crate::verbs::{Actor, Refusal, VerbStep};

#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    #[error("a loop runs here already: push an inner one, or abort it first")]
    Running,
    /// It is nobody's. This session was to get another one, if one was named.
    #[error("a loop that belongs to no session waits here")]
    Unowned(Option<SessionId>),
    /// Only whoever takes it over moves it.
    #[error("the loop here belongs to session {0}, and its session is gone")]
    Gone(SessionId),
    /// An agent cannot put another loop in the place of one whose end nobody has read of.
    #[error("your user has not read yet that the loop was aborted: {0}")]
    Untold(String),
    #[error("no loop runs here")]
    NoLoop,
    #[error("the loop's state here cannot be read: {0}")]
    Corrupt(String),
    #[error("a loop needs at least one iteration")]
    NoIterations,
    #[error("the stack is full: {MOST_FRAMES} frames")]
    TooDeep,
    #[error("no session is live here that it could be given to")]
    NoSession,
    #[error("{} sessions are live here", .0.len())]
    SeveralSessions(Vec<SessionId>),
    #[error("no loop of session {0} runs here")]
    NoLoopOf(SessionId),
    #[error("several loops run here")]
    Several(Vec<SessionId>),
    #[error("session {0} has a loop already")]
    HasOne(SessionId),
    /// What it says holds nobody before a person trusts it.
    #[error("a loop in {store} would hold nobody: this project is not trusted")]
    Untrusted { store: &'static str },
    /// The store can hold only one.
    #[error("{store} holds {by}")]
    Taken { store: &'static str, by: String },
}

const ENDS: &str = "`mainspring loop abort` ends it";

fn named(sessions: &[SessionId]) -> impl Iterator<Item = String> {
    let first = sessions.iter().take(5);
    first.map(|id| format!("`--session {id}`"))
}

impl Refusal for Refused {
    fn next(&self) -> Vec<String> {
        match self {
            Self::Several(sessions) => {
                let named = named(sessions);
                return named.chain(["`--all` means all of them".into()]).collect();
            }
            Self::SeveralSessions(sessions) => {
                let last = "`--session last` means the one with the latest event".into();
                return named(sessions).chain([last]).collect();
            }
            Self::Unowned(Some(session)) => {
                let adopt =
                    format!("`mainspring loop adopt --session {session}` gives it to that one");
                return Vec::from([adopt, ENDS.into()]);
            }
            _ => {}
        }
        let lines: &[&str] = match self {
            Self::Running => &[
                "`mainspring loop push` starts an inner one",
                ENDS,
                "`mainspring loop start --session ID` starts one for another session",
            ],
            Self::Gone(_) | Self::Unowned(_) => &[
                "`mainspring loop adopt` gives it to the session that is live here",
                ENDS,
            ],
            Self::Untold(_) => &["stop first: your user is told then, and may want another loop"],
            Self::NoLoop => &["`mainspring loop start` begins one"],
            Self::Corrupt(_) => &["repair it, or `mainspring loop abort` moves it aside"],
            Self::NoIterations => &["`--max N` says how many"],
            Self::TooDeep => &["`mainspring loop abort` ends all of them"],
            Self::NoSession => &[
                "start the agent here: a loop that is nobody's goes to the next session that you attend",
                "`mainspring loop adopt --session ID` gives it to a session that is not live",
                ENDS,
            ],
            Self::NoLoopOf(_) => &["`mainspring loop status --all` shows the loops here"],
            Self::Several(_) | Self::SeveralSessions(_) => &[],
            Self::HasOne(_) => &["`mainspring loop abort --session ID` ends it"],
            Self::Untrusted { .. } => &[
                "`mainspring trust` makes the files of this project count",
                "`mainspring loop start --store own` keeps the loop in Mainspring's own store, which needs no trust",
            ],
            Self::Taken { .. } => &["`--store own` keeps the loop in Mainspring's own store"],
        };
        lines.iter().copied().map(Into::into).collect()
    }
}

pub fn start(
    state: &State,
    id: String,
    frame: Frame,
    (owner, actor): (LoopOwner, &Actor),
    now: Millis,
) -> Result<VerbStep<Loop>, Refused> {
    match (state, actor) {
        (State::Aborted { cause, .. }, Actor::Agent(_)) => {
            return Err(Refused::Untold(cause.clone()));
        }
        (_, Actor::Agent(_) | Actor::Person) => {}
    }
    match state {
        State::Idle(_) | State::Aborted { .. } => {
            let run = Run {
                id,
                updated: now,
                owner,
                outer: Vec::new(),
                top: runnable(frame)?,
                adopted: false,
            };
            Ok(Step::take("start", State::Active(run), Nothing))
        }
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => {
            Err(match run.owner.session() {
                Some(_) => Refused::Running,
                None => Refused::Unowned(owner.session().cloned()),
            })
        }
        State::Corrupt(cause) => Err(Refused::Corrupt(cause.clone())),
    }
}

/// Puts an inner loop on the stack. The outer ones wait until it ends. A signal that was given for
/// the frame below is forgotten, because there is more to do.
pub fn push(state: &State, frame: Frame, now: Millis) -> Result<VerbStep<Loop>, Refused> {
    let mut run = running(state)?.clone();
    if run.depth() >= MOST_FRAMES {
        return Err(Refused::TooDeep);
    }
    let below = core::mem::replace(&mut run.top, runnable(frame)?);
    run.outer.push(below);
    run.updated = now;
    Ok(Step::take("push", State::Active(run), Nothing))
}

/// Gives the loop to a session. That counts as progress: a stale loop is no longer stale, because
/// somebody wants it.
pub fn adopt(
    state: &State,
    session: SessionId,
    client: Option<Client>,
    now: Millis,
) -> Result<VerbStep<Loop>, Refused> {
    let mut run = running(state)?.clone();
    run.owner = LoopOwner::Session {
        id: session,
        client,
    };
    run.updated = now;
    run.adopted = true;
    Ok(Step::take("adopt", State::Active(run), Nothing))
}

const BY_AGENT: &str = "by the agent";
const BY_PERSON: &str = "by a person";

/// Reduces the reason that somebody gave. Who aborted it is in our own words.
pub(super) fn reduce_cause(cause: &mut String, reducer: Reducer) {
    for by in [BY_AGENT, BY_PERSON] {
        let Some(rest) = cause.strip_prefix(by) else {
            continue;
        };
        if rest.is_empty() {
            return;
        }
        if let Some(reason) = rest.strip_prefix(": ") {
            let mut reason = reason.to_owned();
            reducer.text(&mut reason);
            *cause = format!("{by}: {reason}");
            return;
        }
    }
    // Another program wrote it.
    reducer.text(cause);
}

/// Ends every frame. The owner's next stop passes, and its person is told why; so is a person whose
/// agent ended nobody's loop. If a person ends what holds no session that is there, or if the state
/// cannot be read, there is nobody else to tell.
pub fn abort(
    state: &State,
    actor: &Actor,
    owner: OwnerLife,
    reason: &str,
) -> Result<VerbStep<Loop>, Refused> {
    let over = |rule| Step::take(rule, State::Idle(Past::Aborted), Nothing);
    let run = match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => run,
        State::Corrupt(_) => return Ok(over("abort")),
        State::Idle(_) | State::Aborted { .. } => return Err(Refused::NoLoop),
    };
    let by = match actor {
        Actor::Agent(_) => BY_AGENT,
        Actor::Person if run.owner.session().is_none() || owner == OwnerLife::Gone => {
            return Ok(over("end"));
        }
        Actor::Person => BY_PERSON,
    };
    let aborted = State::Aborted {
        cause: match reason {
            "" => by.into(),
            reason => format!("{by}: {reason}"),
        },
        owner: run.owner.clone(),
    };
    Ok(Step::take("abort", aborted, Nothing))
}

fn running(state: &State) -> Result<&Run, Refused> {
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => Ok(run),
        State::Idle(_) | State::Aborted { .. } => Err(Refused::NoLoop),
        State::Corrupt(cause) => Err(Refused::Corrupt(cause.clone())),
    }
}

fn runnable(frame: Frame) -> Result<Frame, Refused> {
    if frame.max == 0 {
        return Err(Refused::NoIterations);
    }
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Digest;

    #[test]
    fn who_aborted_a_loop_is_not_reduced_and_what_they_wrote_is() {
        for (cause, kept) in [
            ("by a person", "by a person"),
            ("by the agent", "by the agent"),
            (
                "by a person: enough",
                "by a person: [text of 6 bytes, digest d]",
            ),
            ("by a personal friend", "[text of 20 bytes, digest d]"),
            ("enough", "[text of 6 bytes, digest d]"),
        ] {
            let mut cause = String::from(cause);
            reduce_cause(&mut cause, Reducer::new(|_| Digest("d".into())));
            assert_eq!(cause, kept);
        }
    }
}
