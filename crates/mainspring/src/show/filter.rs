//! Which records a view is asked for.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::Name;

use super::model::journal::Row;
use crate::command::{CommandContext, Result};
use crate::people::which_session;

/// Which records a person wants to see.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Filter {
    /// Only what this machine said or did
    #[arg(long, value_parser = crate::people::orders::machine)]
    pub(crate) machine: Option<Name>,
    /// Only this session: its id, the beginning of it, or `last` for the latest one here
    #[arg(long, value_name = which_session::VALUE)]
    pub(crate) session: Option<String>,
    /// Only what happened in this span until now: 90s, 30m, 2h
    #[arg(long, value_name = "SPAN", value_parser = crate::timestamp::span)]
    pub(crate) since: Option<Millis>,
}

impl Filter {
    /// With the id that `last` stands for. A journal is about sessions that ended, too.
    pub(crate) fn resolved(&self, cmd: &CommandContext) -> Result<Self> {
        let (_, store) = cmd.project()?;
        let session = match self.session.as_deref() {
            Some("last") => which_session::latest(&cmd.env, &store).map(|(id, _)| id.to_string()),
            Some(_) | None => self.session.clone(),
        };
        Ok(Self {
            session,
            ..self.clone()
        })
    }

    pub(crate) fn takes(&self, row: &Row, now: Millis) -> bool {
        self.session.as_deref().is_none_or(|id| row.is_of(id))
            && self.since.is_none_or(|span| now.since(row.at) <= span)
            && self.machine.is_none_or(|name| row.is_about(name))
    }
}
