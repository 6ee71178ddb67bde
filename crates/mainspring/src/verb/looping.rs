//! `mainspring loop`: keep the agent iterating until it gives a signal.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mainspring_kernel::SessionId;
use mainspring_kernel::machines::looping::{self, Frame, Mode, Owner, Past, Refused, State};

use super::{Desk, Result, session};
use crate::error::{CliError, Trouble};
use crate::limits;
use crate::machine::looping::place::{self, Kept, Place};
use crate::machine::looping::{client, describe, prompt, running};
use crate::scene::Scene;
use crate::store::atomic;

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
    /// Start an inner loop; the one around it goes on when it ends
    Push(Shape),
    /// The loop that runs here
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// End the loop, with every frame of it
    Abort {
        /// Why, for whoever reads it
        reason: Vec<String>,
    },
    /// The frames of the stack, outermost first
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Give the loop to a session
    Adopt {
        /// The session: its id, or `last`; the agent's own if it is not given
        #[arg(long, value_name = "ID|last")]
        session: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
struct Start {
    #[command(flatten)]
    shape: Shape,
    /// The session: its id, or `last`; the agent's own if it is not given
    #[arg(long, value_name = "ID|last")]
    session: Option<String>,
    /// Where it is kept: our own file, a topic of jwz, or .claude/idle-loop.local.md
    #[arg(long, value_enum)]
    store: Option<Store>,
}

#[derive(Debug, clap::Args)]
struct Shape {
    /// Which signals end it
    #[arg(long, value_parser = mode, default_value = "loop", value_name = "loop|issue|grind")]
    mode: Mode,
    /// How many iterations; 10 if it is not given, 100 for a grind
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max: Option<u32>,
    /// What to do
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    prompt: Option<String>,
    /// A file with what to do
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
    Mode::parse(text).ok_or_else(|| "loop, issue or grind is wanted".into())
}

pub(crate) fn run(args: &Args, desk: &Desk) -> Result {
    match &args.verb {
        Verb::Start(start) => begin(desk, start),
        Verb::Push(shape) => push(desk, shape),
        Verb::Status { json } => status(desk, *json),
        Verb::Abort { reason } => abort(desk, &reason.join(" ")),
        Verb::List { json } => list(desk, *json),
        Verb::Adopt { session } => adopt(desk, session.as_deref()),
    }
}

fn begin(desk: &Desk, start: &Start) -> Result {
    let (site, store) = desk.site()?;
    let owner = session::wanted(desk, &store, start.session.as_deref())?;
    let did = desk.commit("loop start", |scene| {
        let found = place::find(scene)?;
        let wanted = start.store.map(|store| match store {
            Store::Own => Place::Own,
            Store::Jwz => Place::Jwz,
            Store::Markdown => Place::Markdown,
        });
        // One that was aborted goes before the new one comes.
        let target = wanted.unwrap_or(match found.state {
            State::Idle(_) => place::preferred(scene),
            _ => found.place,
        });
        let id = new_id("loop", desk);
        let owned = owner_of(owner.clone(), scene);
        let frame = frame(&start.shape, desk);
        let state = looping::start(&found.state, id, frame, owned, desk.world.now())
            .map_err(|refused| explain(refused, &found))?;
        let mut files = Vec::new();
        let kept = if found.place == target {
            found
        } else {
            if !matches!(found.state, State::Idle(_)) {
                files.extend(found.changes(&State::Idle(Past::Aborted), desk.world.now())?);
            }
            place::read(scene, target)?
        };
        let text = prompted(&kept, &state, &start.shape, desk, &site.root)?;
        files.push(kept.change_to(Some(text))?);
        Ok((files, started(&state)))
    })?;
    Ok(format!("{did}\n"))
}

fn push(desk: &Desk, shape: &Shape) -> Result {
    let (site, _) = desk.site()?;
    let did = desk.commit("loop push", |scene| {
        let kept = place::find(scene)?;
        if kept.place == Place::Markdown {
            return Err(
                CliError::new(format!("{} holds one loop only", place::MARKDOWN))
                    .hint("abort it, and start the outer loop with `--store own`"),
            );
        }
        let state = looping::push(&kept.state, frame(shape, desk), desk.world.now())
            .map_err(|refused| explain(refused, &kept))?;
        let text = prompted(&kept, &state, shape, desk, &site.root)?;
        Ok((vec![kept.change_to(Some(text))?], started(&state)))
    })?;
    Ok(format!("{did}\n"))
}

fn abort(desk: &Desk, reason: &str) -> Result {
    let by = match desk.world.agent_session() {
        Some(_) => "by the agent",
        None => "by a person",
    };
    let cause = if reason.is_empty() {
        by.to_owned()
    } else {
        format!("{by}: {}", crate::host::text::excerpt(reason))
    };
    let did = desk.commit("loop abort", |scene| {
        let kept = place::find(scene)?;
        let aborted = looping::abort(&kept.state, cause.clone())
            .map_err(|refused| explain(refused, &kept))?;
        // Where nothing can be read there is nobody to tell, and nothing to keep but the
        // file itself.
        let state = match kept.state {
            State::Corrupt(_) => State::Idle(Past::Aborted),
            _ => aborted,
        };
        let frames = running(&kept.state).map_or(0, looping::Run::depth);
        let did = match frames {
            0 => "the loop is off; what could not be read is kept beside it".into(),
            1 => "the loop is over; its next stop passes".to_owned(),
            more => format!("the loop is over with all its {more} frames; its next stop passes"),
        };
        Ok((kept.changes(&state, desk.world.now())?, did))
    })?;
    Ok(format!("{did}\n"))
}

fn adopt(desk: &Desk, named: Option<&str>) -> Result {
    let (_, store) = desk.site()?;
    let Some(session) = session::wanted(desk, &store, named)? else {
        return Err(CliError::new(
            "this is not an agent's shell, so there is no session to give it to",
        )
        .hint("`mainspring loop adopt --session ID`, or `--session last`"));
    };
    let did = desk.commit(&format!("loop adopt --session {session}"), |scene| {
        let kept = place::find(scene)?;
        let own = desk.world.agent_session().as_ref() == Some(&session);
        let client = client(scene).filter(|_| own);
        let state = looping::adopt(&kept.state, session.clone(), client, desk.world.now())
            .map_err(|refused| explain(refused, &kept))?;
        let did = format!("the loop now belongs to session {session}");
        Ok((kept.changes(&state, desk.world.now())?, did))
    })?;
    Ok(format!("{did}\n"))
}

fn status(desk: &Desk, json: bool) -> Result {
    let kept = look(desk)?;
    if json {
        return super::json(&kept.state);
    }
    let place = match kept.place {
        Place::Jwz => "jwz, topic loop:current".into(),
        Place::Own | Place::Markdown => kept.file.path.display().to_string(),
    };
    let mut out = format!("{}\n", describe(&kept.state));
    if !matches!(kept.state, State::Idle(Past::Blank)) {
        let _ = writeln!(out, "kept in {place}");
    }
    if let Some(run) = running(&kept.state) {
        let _ = writeln!(out, "{}", how_to_end(run.top.mode));
    }
    Ok(out)
}

fn list(desk: &Desk, json: bool) -> Result {
    let kept = look(desk)?;
    if json {
        let frames = running(&kept.state).map(|run| run.outer.iter().chain([&run.top]));
        return super::json(&frames.into_iter().flatten().collect::<Vec<_>>());
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

fn look(desk: &Desk) -> Result<Kept> {
    let (site, store) = desk.site()?;
    let scene = Scene::new(&desk.world, &site, &store, None);
    Ok(place::find(&scene)?)
}

fn frame(shape: &Shape, desk: &Desk) -> Frame {
    Frame {
        id: new_id("frame", desk),
        mode: shape.mode,
        iter: 1,
        max: shape.max.unwrap_or(shape.mode.default_max()),
    }
}

/// `loop-<epoch>-<pid>`, as the seed names runs.
fn new_id(kind: &str, desk: &Desk) -> String {
    format!(
        "{kind}-{}-{}",
        desk.world.now().0 / 1_000,
        std::process::id()
    )
}

fn owner_of(session: Option<SessionId>, scene: &Scene<'_>) -> Owner {
    match session {
        None => Owner::Nobody,
        Some(id) => Owner::Session {
            client: client(scene).filter(|_| scene.world.agent_session().as_ref() == Some(&id)),
            id,
        },
    }
}

/// The store's text with the state and its prompt in it.
fn prompted(
    kept: &Kept,
    state: &State,
    shape: &Shape,
    desk: &Desk,
    root: &Path,
) -> std::result::Result<String, CliError> {
    let text = kept.written(state, desk.world.now());
    if let Some(words) = &shape.prompt {
        return Ok(prompt::put(kept.place, &text, words));
    }
    let Some(file) = &shape.prompt_file else {
        return Ok(text);
    };
    let path = desk.cwd.join(file);
    let contents = atomic::read_text(&path, limits::STATE_FILE)?
        .ok_or_else(|| Trouble::Other(format!("there is no file {}", path.display())))?;
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
        Owner::Session { id, .. } => format!("session {id} is kept going"),
        Owner::Nobody => "the session that is alone here, or starts next, is kept going".into(),
    };
    format!(
        "{whose} for {} iterations. {}",
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
        "To end it, the agent says one of these bare, on a line of its own: {}",
        signals.join(" ")
    )
}

fn explain(refused: Refused, kept: &Kept) -> CliError {
    let error = CliError::new(refused);
    match refused {
        Refused::Running => error
            .hint("`mainspring loop push` starts an inner one")
            .hint("`mainspring loop abort` ends it"),
        Refused::Corrupt => error.hint(describe(&kept.state)),
        Refused::NoLoop => error.hint("`mainspring loop start` begins one"),
        Refused::NoIterations | Refused::TooDeep => error,
    }
}
