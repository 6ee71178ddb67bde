//! `mainspring debug simulate`: what would happen at an event, without doing it.

use std::path::{Path, PathBuf};

use mainspring_kernel::deliberate;
use mainspring_kernel::journal::{Entry, FORMAT, Record};
use mainspring_kernel::{Kind, Name, Ruling, SessionId};
use mainspring_store::{ShownPath as _, atomic, digest};
use serde::Serialize;
use serde_json::Value;

use crate::command::{CommandContext, Result};
use crate::context::{Caller, EventContext};
use crate::error::CliError;
use crate::hook::drive;
use crate::hook::{self, input};
use crate::hosts::{self, DecodeAs, Payload};
use crate::limits;
use crate::machines;
use crate::people::which_session;
use crate::project;
use crate::show::model::decision::SIMULATED;
use crate::show::why;
use crate::store::ProjectStore;

/// Show what would happen at an event, and change nothing.
///
/// The event is the JSON that a host sends to a hook. Fields may be missing: without a name it
/// is a stop, without a directory it happens here. No effect is started; if one would be, the
/// answer says so.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  echo '{\"last_assistant_message\":\"I am done.\"}' | mainspring debug simulate -\n  mainspring debug simulate event.json --json"
)]
pub(super) struct Args {
    /// A file with the event, or `-` for stdin
    #[arg(value_name = "EVENT.json")]
    event: PathBuf,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct View<'a> {
    /// What the host would be told; `null` if nothing.
    answer: Value,
    ruling: &'a Ruling,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let payload = event(&args.event, cmd)?;
    let state = cmd.state()?;
    let session = payload.event.session.as_ref();
    let project = project::of_event(&cmd.env, &state, session, &payload)?;
    let store = ProjectStore::new(state, &project.root);
    let context = EventContext::new(&cmd.env, (project, store), Caller::Simulation(&payload));
    let mut machines = Vec::new();
    for name in Name::ALL {
        if machines::applies(*name, &context)? {
            machines.push(*name);
        }
    }
    // The answer may be sent to somebody, so it has no texts of people and agents, either.
    let case = drive::look(&context, &payload, &machines)?.reduced(digest::REDUCER);
    let ruling = deliberate(&case);
    let answer = match &ruling {
        Ruling::Repeated(answer) => Some(answer),
        Ruling::Settled(settlement) => Some(&settlement.answer),
        Ruling::Intends(_) => None,
    };
    let answer = answer.and_then(|answer| payload.encode(answer, hook::wording(&context)));
    if args.json {
        let answer = answer.as_deref().unwrap_or("null");
        return crate::command::json(&View {
            answer: serde_json::from_str(answer)?,
            ruling: &ruling,
        });
    }
    let record = Record {
        v: FORMAT,
        seq: SIMULATED,
        at: case.now,
        entry: Entry::Turn {
            case: Box::new(case),
            ruling: Box::new(ruling),
        },
        files: Vec::new(),
    };
    let answer = answer.unwrap_or_else(|| "nothing\n".into());
    Ok(cmd.fitted(&format!(
        "{}\n{} {answer}",
        why::plainly(cmd, &record),
        cmd.paint.bold("the host would be told:"),
    )))
}

const AN_EVENT: &str = "an event is the JSON that a host sends to a hook; `{}` is a stop";

fn event(path: &Path, cmd: &CommandContext) -> Result<Payload> {
    let bytes = if path.as_os_str() == "-" {
        input::whole()?
    } else {
        atomic::read(path, limits::STDIN)?.ok_or_else(|| {
            CliError::no_file(path)
                .hint("`mainspring debug simulate -` reads the event from stdin; `{}` is a stop")
        })?
    };
    let source = match path.shown() {
        stdin if stdin == "-" => "stdin".into(),
        file => file,
    };
    let event: Value = mainspring_json::read(&bytes).map_err(|error| {
        CliError::damaged(format!("{source} is not JSON: {error}")).hint(AN_EVENT)
    })?;
    if !event.is_object() {
        return Err(CliError::damaged(format!("{source} is not a JSON object")).hint(AN_EVENT));
    }
    let mut payload =
        hosts::decode(&cmd.env, bytes, DecodeAs::StopUnlessNamed, None).map_err(CliError::new)?;
    let session = cmd.env.agent_session().or_else(|| {
        let (_, store) = cmd.project().ok()?;
        Some(which_session::latest(&cmd.env, &store)?.0)
    });
    let session = session.or_else(|| SessionId::parse("simulated"));
    payload.event.session = payload.event.session.or(session);
    payload.cwd.get_or_insert_with(|| cmd.cwd.clone());
    match &payload.event.kind {
        Kind::Other { name } => Err(
            CliError::not_found(format!("no machine listens to {name:?}"))
                .hint("`mainspring graph` shows the events of each machine"),
        ),
        _ => Ok(payload),
    }
}
