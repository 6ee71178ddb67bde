//! The settings of `[review]`, and which of them a repository may not change.

use std::ffi::OsString;

use mainspring_kernel::Millis;
use mainspring_kernel::machines::review::{OnFailure, Request, Settings, plan};
use mainspring_store::Trouble;

use crate::children::child_env::{self, NETWORK, PERSON};
use crate::config::{self, Amount, Choice, List, Text, settings};
use crate::context::EventContext;
use crate::hosts::reviewer::{self, Reviewer};

/// The longest deadline. The hook is registered with a longer timeout.
const LONGEST: Millis = Millis::seconds(600);

const MODELS: &[Text] = &[
    Text::Borrowed(plan::DEFAULT_MODELS[0]),
    Text::Borrowed(plan::DEFAULT_MODELS[1]),
];

settings! {
    [review] ReviewSettings at review {
        /// the reviewer's program: a name on the PATH, or an absolute path
        command: Text = Text::Borrowed(reviewer::DEFAULT.program), User;
        /// names of additional variables for the reviewer: it gets those of the person, the network
        /// and its own vendor, and no other
        env: List = List::Borrowed(&[]), User;
        /// the models that take turns, the strongest first
        models: List = List::Borrowed(MODELS), User;
        /// the clients that take turns, each with a model if you like: claude:opus, codex, gemini,
        /// qwen, copilot, opencode:provider/model. If it is set, review.models does not count
        reviewers: List = List::Borrowed(&[]), User;
        /// skip: the reviewer may do anything, also run commands; scoped: it may read everything and
        /// write its review. As root it is always scoped
        permissions: Permissions = Permissions::Skipped, User;
        /// how long one review may take, ten minutes at most
        deadline: Millis = LONGEST, Anyone;
        /// what to do after a failed review: let the agent go, try twice more, or wait for
        /// `mainspring plan review --now`
        on_failure: OnFailure = OnFailure::Approve, Trusted;
        /// when two clean reviews count as two in a row: if they saw the same files, or always; the
        /// drop-in counts any
        streak: Streak = Streak::Subject, Trusted;
        /// a plan gets no more reviews once they have cost this many dollars; 0: no limit
        max_cost_usd: Amount = Amount(0), Trusted;
    }
}

impl Choice for OnFailure {
    const WORDS: &'static [&'static str] = &["approve", "retry", "park"];
    const VALUES: &'static [Self] = &[Self::Approve, Self::Retry, Self::Park];
}

/// When two clean reviews count as two in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streak {
    Subject,
    Any,
}

impl Choice for Streak {
    const WORDS: &'static [&'static str] = &["subject", "any"];
    const VALUES: &'static [Self] = &[Self::Subject, Self::Any];
}

/// What the reviewer may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permissions {
    Skipped,
    Scoped,
}

impl Choice for Permissions {
    const WORDS: &'static [&'static str] = &["skip", "scoped"];
    const VALUES: &'static [Self] = &[Self::Skipped, Self::Scoped];
}

pub(super) fn of(context: &EventContext<'_>) -> Result<Settings, Trouble> {
    let set = &context.config()?.review;
    if let Some(unknown) = set.reviewers.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = reviewer::PROFILES.iter().map(|one| one.program).collect();
        return Err(Trouble::Other(format!(
            "[review] reviewers: there is no reviewer {unknown:?}; there are {}",
            known.join(", ")
        )));
    }
    let lists = [&set.reviewers, &set.models, &ReviewSettings::DEFAULT.models];
    let models = lists.into_iter().find(|list| !list.is_empty());
    Ok(Settings {
        models: models.map(|list| config::owned(list)).unwrap_or_default(),
        on_failure: set.on_failure,
        max_cost: Some(set.max_cost_usd.0).filter(|most| *most > 0),
        deadline: set.deadline.min(LONGEST),
        findings: true,
    })
}

/// Are any two clean reviews two in a row, also if they saw different files?
pub(super) fn counts_any(context: &EventContext<'_>) -> bool {
    let config = context.config().ok();
    config.is_some_and(|config| config.review.streak == Streak::Any)
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
    Ok(context.config()?.review.command.clone().into_owned())
}

/// Every variable that the reviewer gets.
pub(super) fn environment(
    context: &EventContext<'_>,
    client: &Reviewer,
) -> Result<Vec<(OsString, OsString)>, Trouble> {
    let more = &context.config()?.review.env;
    let vendor = client.env.lists(context.env);
    let mut listed = child_env::listed(context.env, &[&[PERSON, NETWORK], &vendor[..]].concat());
    let set = client.set.iter();
    listed.extend(set.map(|(name, value)| (name.into(), value.into())));
    for name in &**more {
        let value = context.env.var_os(name);
        listed.extend(value.map(|value| (name.to_string().into(), value)));
    }
    Ok(listed)
}

pub(super) fn permissions(
    context: &EventContext<'_>,
    client: &Reviewer,
    asked: &Request,
) -> Result<Permissions, Trouble> {
    let may_skip = (client.may_skip_permissions)(context.env);
    Ok(match context.config()?.review.permissions {
        // The user's stricter setting always wins.
        Permissions::Scoped => Permissions::Scoped,
        // A reviewer that gives a verdict alone gets the flag of the document, whatever comes of it.
        Permissions::Skipped if asked.ledger.is_none() => Permissions::Skipped,
        _ if !may_skip => Permissions::Scoped,
        Permissions::Skipped => Permissions::Skipped,
    })
}
