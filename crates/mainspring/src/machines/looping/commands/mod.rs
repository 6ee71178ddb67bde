//! `mainspring loop`: keep the agent iterating until it gives a signal.

mod start;
mod whose;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::looping::verbs::{self, Refused};
use mainspring_kernel::machines::looping::{Frame, Mode, Past, Run, State};
use mainspring_kernel::{Name, SessionId};
use mainspring_store::{ShownPath as _, Trouble, atomic};

use self::whose::{grounds, is_of, only};
use crate::command::{Change, CommandContext, Result, Then};
use crate::context::{Caller, EventContext};
use crate::error::CliError;
use crate::limits;
use crate::machines::looping::loop_store::{self, LoopStore, StoredLoop};
use crate::machines::looping::{client, describe, describe_here, jwz, prompt, running};
use crate::markers;
use crate::people::{brake, which_session};
use crate::project::Project;
use crate::store::ProjectStore;

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
    Push(Push),
    /// Show the loop that runs here
    Status {
        #[command(flatten)]
        which: Which,
        /// Show every loop of this project
        #[arg(long, conflicts_with = "session")]
        all: bool,
        /// As JSON; with `--all` a list, under `loops`
        #[arg(long)]
        json: bool,
    },
    /// End the loop, with all loops inside it
    Abort {
        #[command(flatten)]
        which: Which,
        /// End every loop of this project
        #[arg(long, conflicts_with = "session")]
        all: bool,
        /// The reason, which goes into the journal
        reason: Vec<String>,
    },
    /// List the nested loops, outermost first
    List {
        #[command(flatten)]
        which: Which,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Give the loop to a session
    Adopt {
        /// Which session: its id, the beginning of it, or `last` for the live one here; default:
        /// the agent's own; in your terminal the only one that is live here
        #[arg(long, value_name = which_session::VALUE)]
        session: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
struct Which {
    /// The loop of this session: its id, the beginning of it, or `last` for the live one here;
    /// default: the agent's own, or the only one here
    #[arg(long, value_name = which_session::VALUE)]
    session: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Push {
    #[command(flatten)]
    shape: Shape,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, clap::Args)]
struct Start {
    #[command(flatten)]
    shape: Shape,
    /// Which session: its id, the beginning of it, `last` for the live one here, or `next` for the
    /// next one that starts, also a headless run; default: the agent's own; in your terminal the
    /// only one here that you attend, or the next one
    #[arg(long, value_name = "last|next|PREFIX|ID")]
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
        Verb::Start(start) => start::run(cmd, start),
        Verb::Push(args) => push(cmd, args),
        Verb::Status { which, all, json } => status(cmd, which, *all, *json),
        Verb::Abort { which, all, reason } => abort(cmd, which, *all, &reason.join(" ")),
        Verb::List { which, json } => list(cmd, which, *json),
        Verb::Adopt { session } => adopt(cmd, session.as_deref()),
    }
}

fn push(cmd: &CommandContext, args: &Push) -> Result {
    let shape = &args.shape;
    let (place, meant) = meant(cmd, &args.which)?;
    let did = cmd.commit_in(&place, Name::Loop, "loop push", |context| {
        let kept = one(cmd, context, meant.as_ref())?;
        if kept.place == LoopStore::Markdown {
            return Err(
                CliError::refused(format!("{} can hold only one loop", markers::LOOP_PAGE))
                    .hint("`mainspring loop abort`, then start the outer loop with `mainspring loop start --store own`"),
            );
        }
        cmd.may("loop push", grounds(&kept.state))?;
        if let Some(gone) = loop_store::gone_owner(context, &kept.state) {
            return Err(Refused::Gone(gone).into());
        }
        let state = verbs::push(&kept.state, frame(shape, cmd), cmd.env.now())?.state;
        let text = prompted(&kept, &state, shape, cmd, context.root())?;
        let message = posted(&kept, || text.clone());
        let files = vec![kept.change_to(Some(text))?];
        Ok(change(files, whose::started(context, &state), message))
    })?;
    let but = brake::but_ordered(cmd, &place, Name::Loop)?;
    Ok(format!("{did}\n{but}"))
}

fn abort(cmd: &CommandContext, which: &Which, all: bool, reason: &str) -> Result {
    let reason = crate::hosts::text::excerpt(reason);
    let (place, meant) = meant(cmd, which)?;
    let did = cmd.commit_in(&place, Name::Loop, "loop abort", |context| {
        let loops = if all {
            loop_store::all(context)?
        } else {
            vec![one(cmd, context, meant.as_ref())?]
        };
        let (mut files, mut did, mut message) = (Vec::new(), Vec::new(), None);
        for kept in &loops {
            cmd.may("loop abort", grounds(&kept.state))?;
            let life = loop_store::owner_life(context, &kept.state);
            let state = match verbs::abort(&kept.state, &cmd.actor(), life, &reason) {
                Ok(step) => step.state,
                Err(Refused::NoLoop) => continue,
                Err(refused) => return Err(refused.into()),
            };
            did.push(match running(&kept.state).map_or(0, Run::depth) {
                0 => "the loop is off; its unreadable state is kept in a file beside it".into(),
                1 => "the loop is over; the agent may stop".to_owned(),
                more => format!("all {more} nested loops are over; the agent may stop"),
            });
            message = posted(kept, || kept.written(&state, cmd.env.now())).or(message);
            files.extend(kept.changes(&state, cmd.env.now())?);
        }
        if did.is_empty() {
            did.push(format!("nothing changed: {}", Refused::NoLoop));
        }
        Ok(change(files, did.join("\n"), message))
    })?;
    Ok(format!("{did}\n"))
}

fn adopt(cmd: &CommandContext, named: Option<&str>) -> Result {
    let named = match which_session::wanted(cmd, named)? {
        Some(named) => named,
        None => whose::only_session(cmd)?,
    };
    let session = named.id.clone();
    let command = format!("loop adopt --session {session}");
    let place = cmd.project()?;
    let did = cmd.commit_in(&place, Name::Loop, &command, |context| {
        let (own, others): (Vec<_>, Vec<_>) = loop_store::all(context)?
            .into_iter()
            .partition(|kept| is_of(&kept.state, &session));
        if !own.is_empty() {
            return Err(Refused::HasOne(session.clone()).into());
        }
        let nobodys = |kept: &StoredLoop| grounds(&kept.state) == Grounds::Nobodys;
        let left = |kept: &StoredLoop| loop_store::gone_owner(context, &kept.state).is_some();
        let (nobodys, others): (Vec<_>, Vec<_>) = others.into_iter().partition(nobodys);
        let (left, others): (Vec<_>, Vec<_>) = others.into_iter().partition(left);
        let mut meant = [nobodys, left, others].into_iter();
        let kept = only(meant.find(|loops| !loops.is_empty()).unwrap_or_default())?;
        cmd.may(&command, grounds(&kept.state))?;
        cmd.may(&command, Grounds::BegunBy(&session))?;
        start::heeded(context, kept.place)?;
        let own = cmd.env.agent_session().as_ref() == Some(&session);
        let client = client(context).filter(|_| own);
        let client = client.or_else(|| whose::client_of(context, &session));
        let state = verbs::adopt(&kept.state, session.clone(), client, cmd.env.now())?.state;
        let did = format!("the loop now belongs to {named}");
        let message = posted(&kept, || kept.written(&state, cmd.env.now()));
        Ok(change(kept.changes(&state, cmd.env.now())?, did, message))
    })?;
    let but = brake::but_ordered(cmd, &place, Name::Loop)?;
    Ok(format!("{did}\n{but}"))
}

type Place = (Project, ProjectStore);

/// The session whose loop is meant, if one was named, and its project.
fn meant(cmd: &CommandContext, which: &Which) -> Result<(Place, Option<SessionId>)> {
    match &which.session {
        None => Ok((cmd.project()?, None)),
        Some(text) => {
            let named = which_session::wanted(cmd, Some(text))?;
            let id = named.map(|named| named.id);
            let place = match &id {
                Some(id) => which_session::project_of(cmd, id)?,
                None => cmd.project()?,
            };
            Ok((place, id))
        }
    }
}

/// The loop that a command means: the named session's; or the agent's own, else nobody's; or, for a
/// person, the only one here.
fn one(
    cmd: &CommandContext,
    context: &EventContext<'_>,
    session: Option<&SessionId>,
) -> Result<StoredLoop> {
    let loops = loop_store::all(context)?;
    if let Some(session) = session {
        let mut own = loops.into_iter().filter(|kept| is_of(&kept.state, session));
        return own
            .next()
            .ok_or_else(|| Refused::NoLoopOf(session.clone()).into());
    }
    if cmd.env.agent_session().is_some() {
        return Ok(loop_store::find(context)?);
    }
    // What a command has ended is over; its session's person only has to hear of it.
    let (mut over, running): (Vec<_>, Vec<_>) = loops.into_iter().partition(is_aborted);
    match (running.is_empty(), over.is_empty()) {
        (false, _) => only(running),
        (true, false) => Ok(over.remove(0)),
        (true, true) => Ok(loop_store::find(context)?),
    }
}

fn is_aborted(kept: &StoredLoop) -> bool {
    matches!(kept.state, State::Aborted { .. })
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

fn status(cmd: &CommandContext, which: &Which, all: bool, json: bool) -> Result {
    let (place, meant) = meant(cmd, which)?;
    let context = EventContext::new(&cmd.env, place, Caller::COMMAND);
    let loops = look(cmd, &context, meant.as_ref(), all)?;
    if json {
        let states: Vec<&State> = loops.iter().map(|kept| &kept.state).collect();
        return match states.as_slice() {
            [state] if !all => crate::command::json(state),
            states => crate::command::json_list("loops", states),
        };
    }
    if loops.is_empty() {
        return Ok("no loop\n".into());
    }
    let texts = loops.iter().map(|kept| status_text(&context, kept));
    let texts: Vec<String> = texts.collect();
    Ok(cmd.fitted(&texts.join("\n")))
}

fn status_text(context: &EventContext<'_>, kept: &StoredLoop) -> String {
    let place = match kept.place {
        LoopStore::Jwz => "jwz, topic loop:current".into(),
        LoopStore::Own | LoopStore::Markdown => kept.file.path.shown(),
    };
    let mut out = match &kept.state {
        State::Aborted { cause, .. } => {
            format!("ended early: it was aborted {}\n", escape_name(cause))
        }
        state => format!("{}\n", describe_here(context, state)),
    };
    if !matches!(kept.state, State::Idle(Past::Blank)) {
        let _ = writeln!(out, "its state is in {place}");
    }
    if let Some(run) = running(&kept.state) {
        let _ = writeln!(out, "{}", how_to_end(run.top.mode));
    }
    out
}

fn list(cmd: &CommandContext, which: &Which, json: bool) -> Result {
    let (place, meant) = meant(cmd, which)?;
    let context = EventContext::new(&cmd.env, place, Caller::COMMAND);
    let loops = look(cmd, &context, meant.as_ref(), false)?;
    let [kept] = loops.as_slice() else {
        return Err(Refused::NoLoop.into());
    };
    if json {
        let frames = running(&kept.state).map(|run| run.outer.iter().chain([&run.top]));
        return crate::command::json_list(
            "frames",
            &frames.into_iter().flatten().collect::<Vec<_>>(),
        );
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

/// The loop that is meant; all of them, if all are wanted.
fn look(
    cmd: &CommandContext,
    context: &EventContext<'_>,
    meant: Option<&SessionId>,
    all: bool,
) -> Result<Vec<StoredLoop>> {
    if all {
        return Ok(loop_store::all(context)?);
    }
    Ok(vec![one(cmd, context, meant)?])
}

fn frame(shape: &Shape, cmd: &CommandContext) -> Frame {
    Frame {
        id: new_id("frame", cmd),
        mode: shape.mode,
        iter: 0,
        max: shape.max.unwrap_or(shape.mode.default_max()),
    }
}

/// `loop-<epoch>-<pid>`: the public script names its runs like this.
fn new_id(kind: &str, cmd: &CommandContext) -> String {
    format!("{kind}-{}-{}", cmd.env.now().0 / 1_000, std::process::id())
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
