//! The permission to start a program. Every function that starts a child requires one, so
//! whoever starts a program has first checked a person's orders.

use mainspring_kernel::Name;
use mainspring_kernel::orders::Forbidden;
use mainspring_store::Trouble;

use crate::event_context::EventContext;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Permit(());

/// Why there is no permit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Denied {
    #[error("{0}")]
    Ordered(Forbidden),
    /// The orders could not be read.
    #[error("{0}")]
    Trouble(Trouble),
}

impl From<Denied> for Trouble {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Ordered(forbidden) => Self::Other(forbidden.to_string()),
            Denied::Trouble(trouble) => trouble,
        }
    }
}

impl Permit {
    /// A permit for a program that this machine needs.
    pub(crate) fn of(context: &EventContext<'_>, machine: Name) -> Result<Self, Denied> {
        context
            .orders()
            .map_err(Denied::Trouble)?
            .may_start(machine, context.env.later())
            .map(|()| Self(()))
            .map_err(Denied::Ordered)
    }

    /// A permit for the scenes of `demo`: they run in a project of their own, in which nobody
    /// gives orders.
    pub(crate) const fn for_demo() -> Self {
        Self(())
    }

    /// A permit for a program that shows a page to the person who typed the command. It works
    /// for no machine, so no order applies.
    pub(crate) const fn for_view() -> Self {
        Self(())
    }

    #[cfg(test)]
    pub(crate) const fn for_test() -> Self {
        Self(())
    }
}
