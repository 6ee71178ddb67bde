//! The shell of `loop`: where the stack is kept, and what the agent said.

pub(crate) mod commands;
pub(crate) mod doc;
pub(crate) mod jwz;
pub(crate) mod loop_store;
pub(crate) mod markdown;
pub(crate) mod prompt;
pub(crate) mod settings;
mod worktree;

use mainspring_kernel::data::Never;
use mainspring_kernel::effect::Intent;
use mainspring_kernel::event::Kind;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::looping::{
    Client, Ending, Facts, Loop, LoopOwner, LoopRules, Mode, OtherSessions, OuterGoesOn, OwnerLife,
    Past, Run, State,
};
use mainspring_kernel::machines::{InputOf, TransitionOf};
use mainspring_kernel::spoken_signal::SpokenSignal;
use mainspring_kernel::{Millis, SessionId};
use mainspring_store::Trouble;

use self::loop_store::{LoopStore, StoredLoop};
use super::{HandedOn, Loaded, MachineShell, final_message, other_sessions};
use crate::children::permit::Permit;
use crate::context::EventContext;
use crate::env::name;
use crate::signal::Signal;

#[derive(Debug)]
pub(crate) struct Shell;

impl MachineShell for Shell {
    type Machine = Loop;
    type Found = StoredLoop;

    const ABOUT: &'static str =
        "keeps the agent iterating until it gives a completion signal; loops can be nested";

    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble> {
        let listens = context.payload().is_some_and(|payload| {
            matches!(
                payload.event.kind,
                Kind::Stop { .. }
                    | Kind::SessionStart { .. }
                    | Kind::SessionEnd { .. }
                    | Kind::Prompt { .. }
                    | Kind::Expansion { .. }
            )
        });
        Ok(listens && !disabled(context) && loop_store::any(context))
    }

    fn load(context: &EventContext<'_>, _: Option<&str>) -> Result<Option<Loaded<Self>>, Trouble> {
        let found = loop_store::find(context)?;
        if context.payload().is_some() && matches!(found.state, State::Idle(_)) {
            return Ok(None);
        }
        if found.text().is_none() {
            return Ok(None);
        }
        let facts = facts(context, &found)?;
        let input = InputOf::new(found.state.clone(), facts);
        Ok(Some(Loaded { input, found }))
    }

    fn files(
        context: &EventContext<'_>,
        _: &InputOf<Loop>,
        found: &StoredLoop,
        transition: &TransitionOf<Loop>,
    ) -> Result<Vec<FileChange>, Trouble> {
        found.changes(&transition.state, context.env.now())
    }

    /// The message is already in the outbox: if it cannot be posted here, the next load posts
    /// it.
    fn after_commit(
        context: &EventContext<'_>,
        found: &StoredLoop,
        transition: &TransitionOf<Loop>,
    ) -> Result<(), Trouble> {
        match found.place {
            LoopStore::Own | LoopStore::Markdown => Ok(()),
            LoopStore::Jwz => {
                let message = found.written(&transition.state, context.env.now());
                jwz::post(context, &message)
            }
        }
    }

    fn run(_: &EventContext<'_>, _: Permit, intent: &Intent<Loop>, _: &mut HandedOn) -> Never {
        match intent.effect {}
    }

    fn waits_for_trust(context: &EventContext<'_>) -> Option<String> {
        jwz::is_left_alone(context).then(|| {
            "a loop in the store of `jwz` does not count: that program is started only in a project \
             that you have trusted. `mainspring trust` shows what that would allow"
                .into()
        })
    }

    fn works_for(input: &InputOf<Loop>, session: &SessionId) -> bool {
        running(&input.state).is_some_and(|run| run.owner.is(session))
    }

    fn summary(input: &InputOf<Loop>) -> String {
        describe(&input.state)
    }

    fn summary_here(context: &EventContext<'_>, input: &InputOf<Loop>) -> String {
        describe_here(context, &input.state)
    }
}

/// A loop without progress for longer is stale. If the settings cannot be read, the default counts.
fn ttl(context: &EventContext<'_>) -> Millis {
    let config = context.config();
    config.map_or(settings::LoopSettings::DEFAULT.ttl, |config| {
        config.looping.ttl
    })
}

/// The seed's switch, which is checked first.
fn disabled(context: &EventContext<'_>) -> bool {
    context.env.var(name::IDLE_DISABLE).as_deref() == Some("1")
}

fn facts(context: &EventContext<'_>, kept: &StoredLoop) -> Result<Facts, Trouble> {
    let config = context.config()?;
    let run = running(&kept.state);
    let heard = match (run, context.at_stop()) {
        (Some(run), true) => heard(context, run.top.mode),
        (Some(_) | None, _) => SpokenSignal::Nothing,
    };
    let facts = Facts {
        heard,
        ttl: ttl(context),
        company: OtherSessions::Alone,
        client: client(context),
        prompt: None,
        outer_prompt: None,
        outer: config.looping.outer,
        owner: OwnerLife::Live,
        waits: run.is_some_and(|run| waits(context, run)),
        rules: LoopRules::default(),
        worktree: None,
    };
    let unattended = || other_sessions::unattended(context);
    let not_own = run.filter(|run| !context.session().is_some_and(|here| run.owner.is(&here)));
    if context.is_drop_in() {
        return Ok(Facts {
            company: not_own.and_then(|_| unattended()).unwrap_or(facts.company),
            outer: OuterGoesOn::NextStop,
            rules: LoopRules::OF_SCRIPT,
            worktree: worktree::text(kept),
            ..facts
        });
    }
    let repeat =
        config.looping.repeat_prompt || run.is_some_and(|run| is_unheard(context, kept, run));
    let nested = run.is_some_and(|run| !run.outer.is_empty()) && context.at_stop();
    let left = loop_store::left_for(context, kept).is_some();
    // Other sessions matter only to a loop that is nobody's yet or was left behind, and to find
    // them means a look at every live session.
    let company = not_own.and_then(|run| match run.owner {
        LoopOwner::Nobody => unattended().or_else(|| Some(other_sessions::of(context))),
        LoopOwner::Session { .. } if !left => None,
        LoopOwner::Session { .. } | LoopOwner::Next => unattended(),
    });
    Ok(Facts {
        company: company.unwrap_or(facts.company),
        prompt: repeat.then(|| prompt::text(context, kept, 0)).flatten(),
        outer_prompt: nested.then(|| prompt::text(context, kept, 1)).flatten(),
        owner: if left {
            OwnerLife::Gone
        } else {
            OwnerLife::Live
        },
        ..facts
    })
}

/// Was the owner's agent let go, so that it waits for its person, who prompts now?
fn waits(context: &EventContext<'_>, run: &Run) -> bool {
    let kind = context.payload().map(|payload| &payload.event.kind);
    let prompted = matches!(kind, Some(Kind::Prompt { .. } | Kind::Expansion { .. }));
    let owner = run.owner.session().filter(|_| prompted);
    let ledger = owner.and_then(|owner| context.store.ledger(owner).ok()?.value);
    ledger.is_some_and(|ledger| ledger.let_go)
}

/// May the agent not know the prompt? Somebody else may have started the loop, or the session has
/// just begun, or forgotten what was before. A loop of another program's begins at 1.
fn is_unheard(context: &EventContext<'_>, kept: &StoredLoop, run: &Run) -> bool {
    let first = match kept.place {
        LoopStore::Own => 0,
        LoopStore::Jwz | LoopStore::Markdown => 1,
    };
    let starts = context
        .payload()
        .is_some_and(|payload| matches!(payload.event.kind, Kind::SessionStart { .. }));
    run.owner.session().is_none() || run.is_unheard() || run.top.iter <= first || starts
}

fn heard(context: &EventContext<'_>, mode: Mode) -> SpokenSignal<Ending> {
    let signals: Vec<Signal> = mode
        .signals()
        .iter()
        .map(|(element, ending)| Signal::element(element, ending.as_str()))
        .map(|signal| {
            if context.is_drop_in() {
                signal.at_margin()
            } else {
                signal
            }
        })
        .collect();
    final_message::heard(context, &signals, |signal| mode.signals()[signal].1)
}

/// The host's process, if the host tells its id.
pub(crate) fn client(context: &EventContext<'_>) -> Option<Client> {
    context.client().map(Client)
}

pub(crate) fn running(state: &State) -> Option<&Run> {
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => Some(run),
        State::Idle(_) | State::Aborted { .. } | State::Corrupt(_) => None,
    }
}

/// The same, with what to type if nobody is there to go on with it.
pub(crate) fn describe_here(context: &EventContext<'_>, state: &State) -> String {
    let said = describe(state);
    if running(state).is_some_and(|run| loop_store::is_stale(context, run)) {
        return format!(
            "{said}; it made no progress for longer than `loop.ttl`, so it is over and holds nobody"
        );
    }
    match loop_store::gone_owner(context, state) {
        Some(_) => format!(
            "{said}; its session is gone: `mainspring loop adopt` or `mainspring loop abort`"
        ),
        None => said,
    }
}

/// The state in a line.
pub(crate) fn describe(state: &State) -> String {
    match state {
        State::Idle(Past::Blank) => "no loop".into(),
        State::Idle(Past::Done(ending)) => {
            format!("no loop; the last one ended: {}", ending.as_str())
        }
        State::Idle(Past::Aborted) => "no loop; the last one was aborted".into(),
        State::Aborted { .. } => "ended early; `mainspring loop status` says why".into(),
        State::Corrupt(cause) => format!("cannot be read: {cause}"),
        State::Completing { run, ending } => {
            format!("{}; {} was said", frame_line(run), ending.as_str())
        }
        State::Active(run) | State::Stuck(run) => frame_line(run),
    }
}

fn frame_line(run: &Run) -> String {
    let whose = match &run.owner {
        LoopOwner::Nobody => "bound to no session".to_owned(),
        LoopOwner::Next => "for the next session that starts".to_owned(),
        LoopOwner::Session { id, .. } => format!("session {}", id.short()),
    };
    let outer = match run.outer.len() {
        0 => String::new(),
        depth => format!(", nested {depth} deep"),
    };
    format!(
        "{} iteration {} of {}{outer}, {whose}",
        run.top.mode.as_str(),
        run.top.iter,
        run.top.max
    )
}
