//! `mainspring loop`: keep the agent iterating until it gives a signal.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::looping::verbs::{self, Refused};
use mainspring_kernel::machines::looping::{Frame, LoopOwner, Mode, Past, Run, State};
use mainspring_kernel::{Name, SessionId};
use mainspring_store::{ShownPath as _, Trouble, atomic};

use super::{Change, CommandContext, Result, Then, session};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::limits;
use crate::machine::looping::loop_store::{self, LoopStore, StoredLoop};
use crate::machine::looping::{client, describe, jwz, prompt, running};
use crate::markers;

/// Keep the agent iterating until it gives a completion signal.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring loop start --max 20 --prompt \"Make every test pass\"\n  mainspring loop status\n  mainspring loop abort enough for today"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Start a loop
    Start(Start),
    /// Start an inner loop; the outer one goes on when it ends
    Push(Shape),
    /// Show the loop that runs here
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// End the loop, with all loops inside it
    Abort {
        /// The reason, which goes into the journal
        reason: Vec<String>,
    },
    /// List the nested loops, outermost first
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Give the loop to a session
    Adopt {
        /// Which session: its id, the beginning of it, or `last` for the live one here; default:
        /// the agent's own
        #[arg(long, value_name = session::VALUE)]
        session: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
struct Start {
    #[command(flatten)]
    shape: Shape,
    /// Which session: its id, the beginning of it, or `last` for the live one here; default:
    /// the agent's own
    #[arg(long, value_name = session::VALUE)]
    session: Option<String>,
    /// Where its state is kept: a file of Mainspring's, a topic of jwz, or
    /// .claude/idle-loop.local.md
    #[arg(long, value_enum)]
    store: Option<Store>,
}

#[derive(Debug, clap::Args)]
struct Shape {
    /// Which signals end it
    #[arg(long, value_parser = mode, default_value = "loop", value_name = "loop|issue|grind")]
    mode: Mode,
    /// The maximum number of iterations; default: 10, or 100 for `grind`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max: Option<u32>,
    /// What the agent should do
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    prompt: Option<String>,
    /// A file that says what the agent should do
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Store {
    Own,
    Jwz,
    Markdown,
}

fn mode(text: &str) -> std::result::Result<Mode, String> {
    Mode::parse(text).ok_or_else(|| "use loop, issue or grind".into())
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        Verb::Start(start) => begin(cmd, start),
        Verb::Push(shape) => push(cmd, shape),
        Verb::Status { json } => status(cmd, *json),
        Verb::Abort { reason } => abort(cmd, &reason.join(" ")),
        Verb::List { json } => list(cmd, *json),
        Verb::Adopt { session } => adopt(cmd, session.as_deref()),
    }
}

fn begin(cmd: &CommandContext, start: &Start) -> Result {
    let named = session::wanted(cmd, start.session.as_deref())?;
    let place = match &named {
        Some(named) => session::project_of(cmd, &named.id)?,
        None => cmd.project()?,
    };
    let owner = named.map(|named| named.id);
    let did = cmd.commit_in(&place, Name::Loop, "loop start", |context| {
        let found = loop_store::find(context)?;
        let wanted = start.store.map(|store| match store {
            Store::Own => LoopStore::Own,
            Store::Jwz => LoopStore::Jwz,
            Store::Markdown => LoopStore::Markdown,
        });
        // An aborted loop is removed before the new one is written.
        let target = wanted.unwrap_or(match found.state {
            State::Idle(_) => loop_store::preferred(context),
            _ => found.place,
        });
        let id = new_id("loop", cmd);
        let owned = owner_of(owner.clone(), context);
        let frame = frame(&start.shape, cmd);
        let state = verbs::start(&found.state, id, frame, owned, cmd.env.now())?.state;
        let mut files = Vec::new();
        let mut message = None;
        let kept = if found.place == target {
            found
        } else {
            if !matches!(found.state, State::Idle(_)) {
                let gone = State::Idle(Past::Aborted);
                files.extend(found.changes(&gone, cmd.env.now())?);
                message = posted(&found, || found.written(&gone, cmd.env.now()));
            }
            loop_store::read(context, target)?
        };
        let text = prompted(&kept, &state, &start.shape, cmd, context.root())?;
        let message = posted(&kept, || text.clone()).or(message);
        files.push(kept.change_to(Some(text))?);
        Ok(change(files, started(&state), message))
    })?;
    Ok(format!("{did}\n"))
}

fn push(cmd: &CommandContext, shape: &Shape) -> Result {
    let (project, _) = cmd.project()?;
    let did = cmd.commit(Name::Loop, "loop push", |context| {
        let kept = loop_store::find(context)?;
        if kept.place == LoopStore::Markdown {
            return Err(
                CliError::new(format!("{} can hold only one loop", markers::LOOP_PAGE))
                    .hint("`mainspring loop abort`, then start the outer loop with `mainspring loop start --store own`"),
            );
        }
        cmd.may("loop push", grounds(&kept.state))?;
        let state = verbs::push(&kept.state, frame(shape, cmd), cmd.env.now())?.state;
        let text = prompted(&kept, &state, shape, cmd, &project.root)?;
        let message = posted(&kept, || text.clone());
        let files = vec![kept.change_to(Some(text))?];
        Ok(change(files, started(&state), message))
    })?;
    Ok(format!("{did}\n"))
}

fn abort(cmd: &CommandContext, reason: &str) -> Result {
    let reason = crate::host::text::excerpt(reason);
    let did = cmd.commit(Name::Loop, "loop abort", |context| {
        let kept = loop_store::find(context)?;
        cmd.may("loop abort", grounds(&kept.state))?;
        let state = verbs::abort(&kept.state, &cmd.actor(), &reason)?.state;
        let frames = running(&kept.state).map_or(0, Run::depth);
        let did = match frames {
            0 => "the loop is off; its unreadable state is kept in a file beside it".into(),
            1 => "the loop is over; the agent may stop".to_owned(),
            more => format!("all {more} nested loops are over; the agent may stop"),
        };
        let message = posted(&kept, || kept.written(&state, cmd.env.now()));
        Ok(change(kept.changes(&state, cmd.env.now())?, did, message))
    })?;
    Ok(format!("{did}\n"))
}

fn adopt(cmd: &CommandContext, named: Option<&str>) -> Result {
    let named = session::wanted(cmd, named)?.ok_or(Refused::NoSession)?;
    let session = named.id.clone();
    let command = format!("loop adopt --session {session}");
    let did = cmd.commit(Name::Loop, &command, |context| {
        let kept = loop_store::find(context)?;
        cmd.may(&command, grounds(&kept.state))?;
        cmd.may(&command, Grounds::BegunBy(&session))?;
        let own = cmd.env.agent_session().as_ref() == Some(&session);
        let client = client(context).filter(|_| own);
        let state = verbs::adopt(&kept.state, session.clone(), client, cmd.env.now())?.state;
        let did = format!("the loop now belongs to {named}");
        let message = posted(&kept, || kept.written(&state, cmd.env.now()));
        Ok(change(kept.changes(&state, cmd.env.now())?, did, message))
    })?;
    Ok(format!("{did}\n"))
}

/// Whose loop it is. One that cannot be read holds nobody.
fn grounds(state: &State) -> Grounds<'_> {
    match running(state).map(|run| &run.owner) {
        Some(LoopOwner::Session { id, .. }) => Grounds::BegunBy(id),
        Some(LoopOwner::Nobody) | None => Grounds::Nobodys,
    }
}

/// The message for `jwz`, if it keeps this loop.
fn posted(kept: &StoredLoop, text: impl FnOnce() -> String) -> Option<String> {
    (kept.place == LoopStore::Jwz).then(text)
}

fn change(files: Vec<FileChange>, did: String, message: Option<String>) -> Change {
    let then = message.map(|message| -> Then {
        Box::new(move |context: &EventContext<'_>| jwz::post(context, &message))
    });
    Change { files, did, then }
}

fn status(cmd: &CommandContext, json: bool) -> Result {
    let kept = look(cmd)?;
    if json {
        return super::json(&kept.state);
    }
    let place = match kept.place {
        LoopStore::Jwz => "jwz, topic loop:current".into(),
        LoopStore::Own | LoopStore::Markdown => kept.file.path.shown(),
    };
    let mut out = format!("{}\n", describe(&kept.state));
    if !matches!(kept.state, State::Idle(Past::Blank)) {
        let _ = writeln!(out, "its state is in {place}");
    }
    if let Some(run) = running(&kept.state) {
        let _ = writeln!(out, "{}", how_to_end(run.top.mode));
    }
    Ok(out)
}

fn list(cmd: &CommandContext, json: bool) -> Result {
    let kept = look(cmd)?;
    if json {
        let frames = running(&kept.state).map(|run| run.outer.iter().chain([&run.top]));
        return super::json_list("frames", &frames.into_iter().flatten().collect::<Vec<_>>());
    }
    let Some(run) = running(&kept.state) else {
        return Ok(format!("{}\n", describe(&kept.state)));
    };
    let mut out = String::new();
    for (depth, frame) in run.outer.iter().chain([&run.top]).enumerate() {
        let _ = writeln!(
            out,
            "{:indent$}{} iteration {} of {}  {}",
            "",
            frame.mode.as_str(),
            frame.iter,
            frame.max,
            frame.id,
            indent = depth * 2
        );
    }
    Ok(out)
}

fn look(cmd: &CommandContext) -> Result<StoredLoop> {
    let (project, store) = cmd.project()?;
    let context = EventContext::new(&cmd.env, &project, &store, None);
    Ok(loop_store::find(&context)?)
}

fn frame(shape: &Shape, cmd: &CommandContext) -> Frame {
    Frame {
        id: new_id("frame", cmd),
        mode: shape.mode,
        iter: 1,
        max: shape.max.unwrap_or(shape.mode.default_max()),
    }
}

/// `loop-<epoch>-<pid>`: the public script names its runs like this.
fn new_id(kind: &str, cmd: &CommandContext) -> String {
    format!("{kind}-{}-{}", cmd.env.now().0 / 1_000, std::process::id())
}

fn owner_of(session: Option<SessionId>, context: &EventContext<'_>) -> LoopOwner {
    match session {
        None => LoopOwner::Nobody,
        Some(id) => LoopOwner::Session {
            client: client(context).filter(|_| context.env.agent_session().as_ref() == Some(&id)),
            id,
        },
    }
}

/// The text to store: the state with its prompt.
fn prompted(
    kept: &StoredLoop,
    state: &State,
    shape: &Shape,
    cmd: &CommandContext,
    root: &Path,
) -> std::result::Result<String, CliError> {
    let text = kept.written(state, cmd.env.now());
    if let Some(words) = &shape.prompt {
        return Ok(prompt::put(kept.place, &text, words));
    }
    let Some(file) = &shape.prompt_file else {
        return Ok(text);
    };
    let path = cmd.cwd.join(file);
    let contents = atomic::read_text(&path, limits::STATE_FILE)?
        .ok_or_else(|| Trouble::Other(format!("there is no file {}", path.shown())))?;
    Ok(match path.strip_prefix(root) {
        Ok(inside) => prompt::put_file(kept.place, &text, inside, &contents),
        Err(_) => prompt::put(kept.place, &text, &contents),
    })
}

fn started(state: &State) -> String {
    let Some(run) = running(state) else {
        return String::new();
    };
    let whose = match &run.owner {
        LoopOwner::Session { id, .. } => format!("session {id}"),
        LoopOwner::Nobody => "the only session here, or else the next one that starts,".into(),
    };
    format!(
        "the loop keeps {whose} going for up to {} iterations. {}",
        run.top.max,
        how_to_end(run.top.mode)
    )
}

fn how_to_end(mode: Mode) -> String {
    let signals: Vec<String> = mode
        .signals()
        .iter()
        .map(|(element, ending)| format!("<{element}>{}</{element}>", ending.as_str()))
        .collect();
    format!(
        "It ends when the agent says one of these, unquoted and on a line of its own: {}",
        signals.join(" ")
    )
}
