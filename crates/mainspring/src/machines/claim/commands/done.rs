//! `mainspring claim done`: a person agrees that the issue is closed.

use std::time::{Duration, Instant};

use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::claim::consent::{self, LastWord};
use mainspring_kernel::machines::claim::memory::Consent;
use mainspring_kernel::machines::claim::pull::PullState;
use mainspring_kernel::machines::claim::{State, verbs};
use mainspring_kernel::verbs::Actor;
use mainspring_kernel::{Decision, Event, Name, Note, SessionId, Voice};

use super::{CommandContext, Result, commit};
use crate::context::{Caller, EventContext};
use crate::error::CliError;
use crate::hook::drive::drive_by_command;
use crate::hosts::Payload;
use crate::machines::claim::{self, open, poll};
use crate::people::{ask, last_word};

/// Close the issue, after its pull request was merged and the user said yes.
///
/// In an agent's shell, the user's last message must let it be closed, as the client recorded it:
/// `yes` right after the agent's question, `close #N` or `close it`. In a terminal, `--yes`
/// confirms it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Close it now, whatever the phase; refused to agents
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.permit(Name::Claim)?;
    let actor = cmd.actor();
    // Whatever has no terminal may be a process that an agent cut off from itself.
    if actor == Actor::Person {
        ask::require_terminal()?;
    }
    let context = cmd.context()?;
    let phrases = claim::phrases(context.config()?);
    let last = match &actor {
        Actor::Agent(Some(session)) => last_word(cmd, &context, session, &phrases)?,
        Actor::Agent(None) | Actor::Person => None,
    };
    if let Actor::Agent(_) = actor {
        look(cmd, &context, &phrases)?;
    }
    commit(cmd, "claim done", |state| {
        let step = verbs::done(state, &actor, args.yes, (last.as_ref(), &phrases))?;
        let issue = verbs::claimed(state)?.0.issue_number;
        Ok((
            step.state,
            format!("the user agreed to close issue #{issue}"),
        ))
    })?;
    close_now(cmd, &actor)
}

/// Looks whether the work is merged, if that is not known yet, and records what was seen.
fn look(cmd: &CommandContext, context: &EventContext<'_>, phrases: &[String]) -> Result<()> {
    let (claim, memory) = verbs::claimed(&claim::state(context)?.0)?;
    if verbs::merged_at(&memory).is_some() {
        return Ok(());
    }
    let github = super::github_context(context)?;
    if let Some(pr) = claim.pr_number {
        let pull = poll::poll(&github, pr, memory.known_failure().as_deref())?;
        super::take_in(cmd, "claim done", &pull, phrases)?;
        return Ok(());
    }
    let push = github.push(&claim.branch, &memory.route.push);
    let push = push.map_err(CliError::new)?;
    let found = github.find_branch(claim.issue_number, &claim.branch, &push.repository)?;
    let local = open::local_head(&github, &claim.branch);
    let Some(head) = found.head.clone().or(local) else {
        return Ok(());
    };
    let merged = found
        .pulls
        .iter()
        .any(|pull| pull.state == PullState::Merged && pull.head == head);
    if !merged && !open::is_integrated(&github, &claim.branch, &found, &head) {
        return Ok(());
    }
    commit(cmd, "claim done", |state| {
        let step = verbs::integrate(state, &cmd.actor(), cmd.env.later())?;
        Ok((step.state, format!("{} is merged", claim.branch)))
    })?;
    Ok(())
}

/// The user's last message. If an event has told of one that is not in the transcript yet, it is
/// waited for.
fn last_word(
    cmd: &CommandContext,
    context: &EventContext<'_>,
    session: &SessionId,
    phrases: &[String],
) -> Result<Option<LastWord>> {
    let (claim, memory) = verbs::claimed(&claim::state(context)?.0)?;
    let began = Instant::now();
    loop {
        let last = last_word::in_transcript(cmd, session);
        let since = verbs::merged_at(&memory).unwrap_or_default();
        let given = last
            .as_ref()
            .is_some_and(|last| consent::is_given(last, claim.issue_number, since, phrases));
        if given || memory.consent != Consent::Spoken || began.elapsed() >= last_word::LAG {
            return Ok(last);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// An issue is closed at a stop. No agent stops here, so this makes the stop. If it fails, it is
/// tried again later, and the output says so.
fn close_now(cmd: &CommandContext, actor: &Actor) -> Result {
    let context = cmd.context()?;
    let stop = Event::stop(actor.session().cloned(), Chain::First);
    let payload = Payload::played(stop, context.project.worktree.clone(), cmd.env.now());
    let context = context.seen_by(Caller::making(&payload));
    let (answer, _) = drive_by_command(&context, &payload, Name::Claim);
    let is_closed = matches!(claim::state(&context)?.0, State::Unclaimed(_));
    let mut out = String::new();
    if let Decision::Stop { hold } = &answer.decision
        && !hold.is_empty()
    {
        out += &hold.text();
        out.push('\n');
    }
    // Other notes are about an agent, and there is none here, or say why it failed.
    let matters = |note: &&Note| !is_closed || note.by == Voice::Machine(Name::Claim);
    for note in answer.notes.iter().filter(matters) {
        out += &format!("{}\n", note.text);
    }
    if is_closed {
        return Ok(out);
    }
    Err(CliError::undone("the issue was not closed", &out)
        .hint("`mainspring claim status` says what it waits for"))
}
