//! The settings of `[review]`, and which of them a repository may not change.

use std::ffi::OsString;

use mainspring_kernel::machines::review::{OnFailure, Settings, StreakRule, plan};
use mainspring_kernel::{Millis, Name};
use mainspring_store::Trouble;

use crate::children::child_env::{self, NETWORK, PERSON};
use crate::config::{Key, Kind, Reach, Value};
use crate::context::EventContext;
use crate::hosts::reviewer::{self, Reviewer};

/// The longest deadline. The hook is registered with a longer timeout.
const LONGEST: Millis = Millis::seconds(600);

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "review.command",
        kind: Kind::Text,
        default: reviewer::DEFAULT.program,
        reach: Reach::User,
        variable: None,
        about: "the reviewer's program: a name on the PATH, or an absolute path",
    },
    Key {
        name: "review.env",
        kind: Kind::List,
        default: "",
        reach: Reach::User,
        variable: None,
        about: "names of additional variables for the reviewer: it gets those of the person, \
                the network and its own vendor, and no other",
    },
    Key {
        name: "review.models",
        kind: Kind::List,
        default: "opus,sonnet",
        reach: Reach::User,
        variable: None,
        about: "the models that take turns, the strongest first",
    },
    Key {
        name: "review.reviewers",
        kind: Kind::List,
        default: "",
        reach: Reach::User,
        variable: None,
        about: "the clients that take turns, each with a model if you like: claude:opus, codex, \
                gemini, qwen, copilot, opencode:provider/model. If it is set, review.models does not \
                count",
    },
    Key {
        name: "review.permissions",
        kind: Kind::Choice(&["skip", "scoped"]),
        default: "skip",
        reach: Reach::User,
        variable: None,
        about: "skip: the reviewer may do anything, also run commands; scoped: it may read \
                everything and write its review. As root it is always scoped",
    },
    Key {
        name: "review.deadline",
        kind: Kind::Span,
        default: "600s",
        reach: Reach::Anyone,
        variable: None,
        about: "how long one review may take, ten minutes at most",
    },
    Key {
        name: "review.on_failure",
        kind: Kind::Choice(&["approve", "retry", "park"]),
        default: "approve",
        reach: Reach::Anyone,
        variable: None,
        about: "what to do after a failed review: let the agent go, try twice more, or wait for \
                `mainspring plan review --now`",
    },
    Key {
        name: "review.streak",
        kind: Kind::Choice(&["subject", "any"]),
        default: "subject",
        reach: Reach::Anyone,
        variable: None,
        about: "when two clean reviews count as two in a row: if they saw the same files, or \
                always; the drop-in counts any",
    },
    Key {
        name: "review.max_cost_usd",
        kind: Kind::Amount,
        default: "0",
        reach: Reach::Anyone,
        variable: None,
        about: "a plan gets no more reviews once they have cost this many dollars; 0: no limit",
    },
];

pub(super) fn of(context: &EventContext<'_>) -> Result<Settings, Trouble> {
    let config = context.config()?;
    let named = |key: &str| {
        let list = config.get(key).and_then(Value::list);
        list.filter(|list| !list.is_empty())
    };
    let reviewers = named("review.reviewers");
    if let Some(unknown) = reviewers.into_iter().flatten().find(|name| !is_known(name)) {
        let known: Vec<&str> = reviewer::PROFILES.iter().map(|one| one.program).collect();
        return Err(Trouble::Other(format!(
            "[review] reviewers: there is no reviewer {unknown:?}; there are {}",
            known.join(", ")
        )));
    }
    let models = reviewers.or_else(|| named("review.models")).map_or_else(
        || plan::DEFAULT_MODELS.map(str::to_owned).into(),
        <[String]>::to_vec,
    );
    let on_failure = match config.get("review.on_failure").and_then(Value::text) {
        Some("retry") => OnFailure::Retry,
        Some("park") => OnFailure::Park,
        Some(_) | None => OnFailure::Approve,
    };
    let max_cost = config
        .get("review.max_cost_usd")
        .and_then(Value::amount)
        .filter(|most| *most > 0);
    let deadline = config.get("review.deadline").and_then(Value::span);
    Ok(Settings {
        models,
        on_failure,
        max_cost,
        deadline: deadline.unwrap_or(LONGEST).min(LONGEST),
        streak: match config.get("review.streak").and_then(Value::text) {
            Some("any") => StreakRule::Any,
            Some(_) | None if context.is_registered(Name::Review) => StreakRule::Any,
            Some(_) | None => StreakRule::Subject,
        },
    })
}

fn is_known(name: &str) -> bool {
    let program = name.split(':').next().unwrap_or_default();
    reviewer::PROFILES.iter().any(|one| one.program == program)
}

/// The program of this client. Another one can be given for the default client only.
pub(super) fn command(context: &EventContext<'_>, client: &Reviewer) -> Result<String, Trouble> {
    if client.program != reviewer::DEFAULT.program {
        return Ok(client.program.to_owned());
    }
    let config = context.config()?;
    let command = config.get("review.command").and_then(Value::text);
    Ok(command.unwrap_or(reviewer::DEFAULT.program).to_owned())
}

/// Every variable that the reviewer gets.
pub(super) fn environment(
    context: &EventContext<'_>,
    client: &Reviewer,
) -> Result<Vec<(OsString, OsString)>, Trouble> {
    let config = context.config()?;
    let more = config.get("review.env").and_then(Value::list);
    let vendor = client.env.lists(context.env);
    let mut listed = child_env::listed(context.env, &[&[PERSON, NETWORK], &vendor[..]].concat());
    let set = client.set.iter();
    listed.extend(set.map(|(name, value)| (name.into(), value.into())));
    for name in more.unwrap_or_default() {
        let value = context.env.var_os(name);
        listed.extend(value.map(|value| (name.into(), value)));
    }
    Ok(listed)
}

/// What the reviewer may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permissions {
    Skipped,
    Scoped,
}

pub(super) fn permissions(
    context: &EventContext<'_>,
    client: &Reviewer,
) -> Result<Permissions, Trouble> {
    let may_skip = (client.may_skip_permissions)(context.env);
    let wanted = context
        .config()?
        .get("review.permissions")
        .and_then(Value::text);
    Ok(match wanted {
        // The user's stricter setting always wins.
        Some("scoped") => Permissions::Scoped,
        // The drop-in passes its document's flag, whatever comes of it.
        _ if context.is_registered(Name::Review) => Permissions::Skipped,
        _ if !may_skip => Permissions::Scoped,
        Some(_) | None => Permissions::Skipped,
    })
}
