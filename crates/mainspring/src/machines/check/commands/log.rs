//! `mainspring check log`: what a check printed.

use std::path::Path;

use mainspring_kernel::machines::check::results::{Ended, EndedAs};
use mainspring_kernel::machines::check::verbs;

use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::machines::check;

/// Show what a check printed when it last ran
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The check; without it, the one that ran last, and of several one that did not pass
    name: Option<String>,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let context = cmd.context()?;
    let checks = super::trusted(&context)?;
    let defined: Vec<_> = checks.definitions.iter().map(check::defined).collect();
    verbs::wanted(&defined, args.name.as_deref())?;
    let results = check::results(&context)?;
    let last: Option<&Ended> = match &args.name {
        Some(name) => results.of(name).map(|kept| &kept.last),
        None => results
            .0
            .values()
            .map(|kept| &kept.last)
            .filter(|last| !last.log.is_empty())
            .max_by_key(|last| (last.at, last.result != EndedAs::Pass)),
    };
    let Some(last) = last.filter(|last| !last.log.is_empty()) else {
        return Err(CliError::not_found("it has printed nothing yet")
            .hint("`mainspring check run` runs the checks now"));
    };
    let text = check::log_text(Path::new(&last.log));
    if text.is_empty() {
        return Err(CliError::not_found(format!(
            "{} is empty or gone",
            last.log
        )));
    }
    Ok(text)
}
