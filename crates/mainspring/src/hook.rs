//! `mainspring hook`: one event in, one decision out.
//!
//! Whatever goes wrong, the host gets an answer that asks nothing of it, and the person
//! gets the cause. Exit 1 is left for the one case in which not even that can be said.

pub(crate) mod client_queue;
pub(crate) mod drive;
pub(crate) mod input;
pub(crate) mod panic;
mod typed;

use std::path::Path;
use std::time::Duration;

use mainspring_kernel::{Answer, Decision, Kind, Name, Note, SessionId};
use mainspring_platform::stdin;
use mainspring_store::Trouble;

use crate::context::{Caller, EventContext};
use crate::env::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::drive::drive;
use crate::hook::input::Input;
use crate::hook::typed::Handled;
use crate::hosts::{self, CalledBy, DecodeAs, HostSpec, Payload, Wording};
use crate::limits;
use crate::machines;
use crate::output::{self, Paint};
use crate::people::sessions;
use crate::people::told;
use crate::project::{self, Bound};
use crate::retention;
use crate::show::notify;
use crate::store::{ProjectStore, StateDir};

/// Answer a host's hook: one event on stdin, one decision on stdout
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The host that sent the event, by its program's name, if the event does not show it
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
}

impl Args {
    /// What is wrong with a call that did not come to [`run`].
    pub(crate) fn refusal(&self) -> CliError {
        let known: Vec<&str> = hosts::HOSTS.iter().map(|host| host.program).collect();
        let problem = match &self.host {
            Some(name) if hosts::named(name).is_none() => format!("there is no host {name:?}"),
            Some(_) | None => "`mainspring hook` takes nothing but `--host NAME`".into(),
        };
        CliError::usage(problem).hint(format!("the hosts are {}", known.join(", ")))
    }
}

pub(crate) fn run(env: &Environment, by: CalledBy, host: Option<&'static HostSpec>) -> Exit {
    crate::hook::panic::answer_on_panic();
    // Read even where it does not matter: a host that writes into a closed pipe may take that for
    // an error of ours.
    answer_to(env, by, host, input::event())
}

/// The bare program: a host that dropped our arguments called it, if an event is on stdin.
/// `None` if there is none, and nothing was answered.
pub(crate) fn run_bare(env: &Environment) -> Option<Exit> {
    if !stdin::is_ready(BARE_WAIT) {
        return None;
    }
    crate::hook::panic::answer_on_panic();
    match input::event() {
        Input::Bytes(bytes) if !bytes.trim_ascii_start().starts_with(b"{") => None,
        input => Some(answer_to(env, CalledBy::Name, None, input)),
    }
}

/// How long the bare program waits for an event on a stdin that nobody closes.
const BARE_WAIT: Duration = Duration::from_secs(2);

/// `host` is the one that the registration names, if it does.
fn answer_to(
    env: &Environment,
    by: CalledBy,
    host: Option<&'static HostSpec>,
    input: Input,
) -> Exit {
    if env.silenced() {
        return Exit::Success;
    }
    let payload = match decode(env, host, input) {
        Ok(payload) if (payload.host.installation.outranked)(env, &payload, by) => {
            return Exit::Success;
        }
        Ok(payload) => payload,
        Err(fault) => return print(fault),
    };
    let (line, answer) = answer(env, &payload);
    let exit = print(line);
    // After the answer, which nothing must delay or prevent.
    if let Some(answer) = answer {
        notify::send(env, &payload.event.kind, &answer);
    }
    sessions::note(env, &payload);
    if let Kind::SessionStart { .. } = payload.event.kind {
        retention::session_starts(env, payload.event.session.as_ref());
    }
    exit
}

fn print(answer: Option<String>) -> Exit {
    let Some(text) = answer else {
        return Exit::Success;
    };
    match output::stdout(&text, Paint::Plain) {
        Ok(()) => Exit::Success,
        Err(error) => {
            output::stderr(&format!("mainspring: cannot answer the host: {error}"));
            Exit::Failure
        }
    }
}

/// The event; or the line for the host that says why there is none.
fn decode(
    env: &Environment,
    named: Option<&'static HostSpec>,
    input: Input,
) -> Result<Payload, Option<String>> {
    let unknown = Kind::Other {
        name: String::new(),
    };
    let fault = |cause: String| hosts::fault_line(&Answer::fault(&unknown, cause));
    let bytes = match input {
        Input::Bytes(bytes) => bytes,
        Input::TooLarge => {
            return Err(fault(format!(
                "the hook's input is larger than {} bytes: nothing was checked",
                limits::STDIN
            )));
        }
        Input::Unreadable(error) => {
            return Err(fault(format!(
                "cannot read the hook's input: {error}: nothing was checked"
            )));
        }
    };
    hosts::decode(env, bytes, DecodeAs::Named, named)
        .map_err(|error| fault(format!("{error}: nothing was checked")))
}

/// The line for the host, `None` where there is nothing to say; and what was decided.
fn answer(env: &Environment, payload: &Payload) -> (Option<String>, Option<Answer>) {
    match typed::carry_out(env, payload) {
        Some(Handled::Now(line)) => return (Some(line), None),
        Some(Handled::Next) => return (None, None),
        None => {}
    }
    let Spoken { answer, wording } = spoken(env, payload);
    (payload.encode(&answer, wording), Some(answer))
}

/// The answer to an event that the demo plays.
pub(super) fn played(env: &Environment, payload: &Payload) -> Answer {
    spoken(env, payload).answer
}

fn spoken(env: &Environment, payload: &Payload) -> Spoken {
    decide_by(
        Caller::Host(payload),
        env,
        payload,
        payload.event.session.as_ref(),
    )
    .unwrap_or_else(|trouble| Spoken::plainly(let_go(env, payload, &trouble)))
}

/// An answer, and the words that this host is to be given it in.
struct Spoken {
    answer: Answer,
    wording: Wording,
}

impl Spoken {
    /// For an answer that holds nobody: the wording makes no difference.
    fn plainly(answer: Answer) -> Self {
        Self {
            answer,
            wording: Wording::Block,
        }
    }
}

/// How a hold is worded to this host, by the person's choice or by what the host is.
pub(super) fn wording(context: &EventContext<'_>) -> Wording {
    let config = context.config().ok();
    let chosen = config.and_then(|config| config.host.continue_as);
    chosen.unwrap_or_else(|| {
        context
            .host()
            .wording(context.env, context.session().as_ref())
    })
}

/// The answer of this machine alone, for a drop-in. `named` is the session that the host named.
pub(super) fn decide_among(
    machine: Name,
    env: &Environment,
    payload: &Payload,
    named: Option<&SessionId>,
) -> Result<Answer, Trouble> {
    let spoken = decide_by(Caller::drop_in(machine, payload), env, payload, named);
    if named.is_some() {
        sessions::note(env, payload);
    }
    spoken.map(|spoken| spoken.answer.without_optional_notes())
}

/// The answer to an event that does not come from a host.
pub(super) fn decide_all(env: &Environment, payload: &Payload) -> Result<Answer, Trouble> {
    let session = payload.event.session.as_ref();
    decide_by(Caller::Host(payload), env, payload, session).map(|spoken| spoken.answer)
}

/// The session's project is looked up, and bound, by `session`.
fn decide_by(
    caller: Caller<'_>,
    env: &Environment,
    payload: &Payload,
    session: Option<&SessionId>,
) -> Result<Spoken, Trouble> {
    let nothing = || Ok(Spoken::plainly(Answer::nothing(&payload.event.kind)));
    if let Kind::Other { .. } = payload.event.kind {
        return nothing();
    }
    let Some(state) = StateDir::of(env) else {
        return Err(Trouble::Other(
            "there is no place for mainspring's state: set HOME or XDG_STATE_HOME".into(),
        ));
    };
    let project = project::of_event(env, &state, session, payload)?;
    let store = ProjectStore::new(state, &project.root);
    let context = EventContext::new(env, (project, store), caller);
    let mut machines = Vec::new();
    for name in context.machines() {
        if machines::applies(*name, &context)? {
            machines.push(*name);
        }
    }
    if machines.is_empty() {
        if begins_in_trusted(&context) {
            bind(&context, session)?;
        }
        // Nobody else may come for a while to finish what a crashed process left.
        let mut answer = Answer::nothing(&payload.event.kind);
        if !context.is_vacant() && context.store.unfinished() {
            let news = context.store.lock()?.news().to_vec();
            answer.notes.extend(news.into_iter().map(Note::ours));
        }
        let answer = with_trust_notice(&context, with_ignored(&context, answer));
        return Ok(Spoken::plainly(answer));
    }
    bind(&context, session)?;
    let answer = with_ignored(&context, drive(&context, payload, &machines));
    let answer = with_trust_notice(&context, answer);
    let holds = matches!(&answer.decision, Decision::Stop { hold } if !hold.is_empty());
    Ok(if holds {
        let wording = wording(&context);
        Spoken { answer, wording }
    } else {
        Spoken::plainly(answer)
    })
}

/// Does a session, or a prompt of one, begin in a project that a person trusted? Its checks hold
/// the session's stops, whatever folder its agent goes to before the first one.
fn begins_in_trusted(context: &EventContext<'_>) -> bool {
    let kind = context.payload().map(|payload| &payload.event.kind);
    let begins = matches!(kind, Some(Kind::SessionStart { .. } | Kind::Prompt { .. }));
    begins && !context.is_vacant() && context.is_trusted()
}

/// Binds the session to the project, unless it is bound already.
fn bind(context: &EventContext<'_>, session: Option<&SessionId>) -> Result<(), Trouble> {
    match (context.project.bound, session) {
        (Bound::NotYet, Some(session)) => {
            project::bind(context.store.state(), session, &context.project.root)
        }
        (Bound::NotYet | Bound::Yes, _) => Ok(()),
    }
}

/// A file that does not count because of whose it is: the person hears of it at a stop, once
/// in a session. A drop-in says what its script would.
fn with_ignored(context: &EventContext<'_>, mut answer: Answer) -> Answer {
    if context.at_stop() && !context.is_drop_in() {
        let news = context
            .ignored()
            .filter(|ignored| is_news(context, &ignored.path));
        answer.notes.extend(news.map(|ignored| {
            Note::ours(format!(
                "{ignored}. `mainspring doctor` has the command that changes that"
            ))
        }));
    }
    answer
}

/// What waits for the person to trust it, and what does not happen until then: said at a stop,
/// once in a session. The agent hears nothing of it. A drop-in says only what its machine waits for.
fn with_trust_notice(context: &EventContext<'_>, mut answer: Answer) -> Answer {
    if !context.at_stop() || context.is_subagents() {
        return answer;
    }
    let is_news = |about: &str| is_news(context, &context.root().join(about));
    if !context.is_drop_in() {
        let Ok(Some(notice)) = context.trust_notice() else {
            return answer;
        };
        if notice.is_urgent() || is_news(notice.name()) {
            answer.notes.push(Note::ours(notice.to_string()));
        }
    }
    if !context.is_trusted() {
        for name in context.machines() {
            let waits = machines::waits_for_trust(*name, context);
            let news = waits.filter(|_| is_news(&format!("untrusted {name}")));
            answer.notes.extend(news.map(Note::ours));
        }
    }
    answer
}

fn is_news(context: &EventContext<'_>, about: &Path) -> bool {
    let session = context.session();
    let id = session.as_ref().map_or("", SessionId::as_str);
    told::is_news(context.store.state(), about, id)
}

/// Our own failure. At a stop the person hears of it, and where a machine fails closed the
/// agent does too; elsewhere it would only be noise about events that we have nothing to
/// say to.
fn let_go(env: &Environment, payload: &Payload, trouble: &Trouble) -> Answer {
    if let Some(answer) = machines::fail_closed(Name::ALL, env, payload, trouble) {
        return answer;
    }
    match payload.event.kind {
        Kind::Stop { .. } => Answer::fault(
            &payload.event.kind,
            format!("{trouble}. Nothing was checked, and the agent was let go"),
        ),
        _ => Answer::nothing(&payload.event.kind),
    }
}
