//! `mainspring claim done`: a person agrees that the issue is closed.

use std::time::{Duration, Instant};

use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::claim::consent::{self, Prompt};
use mainspring_kernel::machines::claim::memory::Consent;
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::machines::verbs::Actor;
use mainspring_kernel::{Decision, Event, Name, Note, SessionId, Voice};

use super::{CommandContext, Result};
use crate::drive::drive;
use crate::event_context::EventContext;
use crate::host::{self, Payload};
use crate::machine::claim;
use crate::transcript::Transcript;
use crate::verb::ask;

/// Close the issue, after its pull request was merged and the user said yes.
///
/// In an agent's shell, the user must have said yes since they were asked, in a message that
/// the client recorded. In a terminal, `--yes` confirms it.
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
    let prompts = match &actor {
        Actor::Agent(Some(session)) => awaited_prompts(cmd, session)?,
        Actor::Agent(None) | Actor::Person => Vec::new(),
    };
    let did = cmd.commit(Name::Claim, "claim done", |context| {
        let (state, found) = claim::state(context)?;
        let step = verbs::done(&state, &actor, args.yes, &prompts)?;
        let issue = verbs::claimed(&state)?.0.issue_number;
        let files = claim::changes(&found, &state, &step.state)?;
        Ok((files, format!("the user agreed to close issue #{issue}")))
    })?;
    match actor {
        Actor::Agent(_) => Ok(format!("{did}: Mainspring closes it when you stop\n")),
        Actor::Person => close_now(cmd),
    }
}

/// How long the client may take to write a prompt into its transcript.
const LAG: Duration = Duration::from_secs(3);

/// The user's messages. If an event has told of an answer that is not in the transcript yet,
/// it is waited for.
fn awaited_prompts(cmd: &CommandContext, session: &SessionId) -> Result<Vec<Prompt>> {
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
    let (claim, memory) = verbs::claimed(&claim::state(&context)?.0)?;
    let began = Instant::now();
    loop {
        let prompts = prompts(cmd, session);
        let shown = consent::is_shown(&memory, claim.issue_number, &prompts);
        if shown || memory.consent != Consent::Spoken || began.elapsed() >= LAG {
            return Ok(prompts);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What the user wrote in this session, by the host's own record. An event that somebody
/// gave to `mainspring hook` is none; and the record may lag behind the events.
fn prompts(cmd: &CommandContext, session: &SessionId) -> Vec<Prompt> {
    let format = &host::of_environment(&cmd.env).transcript;
    let found = (format.find)(&cmd.env, session);
    let transcript = found.and_then(|path| Transcript::open(&path).ok());
    let prompts = transcript.and_then(|transcript| transcript.prompts(format.prompt).ok());
    prompts
        .into_iter()
        .flatten()
        .filter_map(|prompt| {
            Some(Prompt {
                at: prompt.at?,
                text: prompt.text,
            })
        })
        .collect()
}

/// An issue is closed at a stop. No agent stops here, so this makes the stop.
fn close_now(cmd: &CommandContext) -> Result {
    let (project, store) = cmd.project()?;
    let stop = Event::stop(None, Chain::First);
    let payload = Payload::played(stop, project.worktree.clone(), cmd.env.now());
    // A person typed the command, which is their permission.
    let context = EventContext::new(&cmd.env, &project, &store, Some(&payload))
        .registered(Name::Claim)
        .by_command();
    let answer = drive(&context, &payload, &[Name::Claim]);
    let mut out = String::new();
    if let Decision::Stop { hold } = &answer.decision {
        out += &hold.text();
        out.push('\n');
    }
    // Other notes are about an agent, and there is none here.
    let ours = |note: &&Note| note.by == Voice::Machine(Name::Claim);
    for note in answer.notes.iter().filter(ours) {
        out += &format!("{}\n", note.text);
    }
    Ok(out)
}
