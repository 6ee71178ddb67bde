//! Leave to start a program. There is no other way to a child than with one, so whatever
//! starts a program has asked first what a person ordered.

use mainspring_kernel::Name;
use mainspring_kernel::orders::Forbidden;
use mainspring_store::Trouble;

use crate::event_context::EventContext;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Permit(());

/// Why there is none.
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
    /// For a program that this machine needs, for whoever asks here.
    pub(crate) fn of(context: &EventContext<'_>, machine: Name) -> Result<Self, Denied> {
        context
            .orders()
            .map_err(Denied::Trouble)?
            .may_start(machine, context.env.later())
            .map(|()| Self(()))
            .map_err(Denied::Ordered)
    }

    /// For the scenes of `demo`, in a project of their own that nobody gives orders in.
    pub(crate) const fn for_demo() -> Self {
        Self(())
    }

    /// For a program that shows a page to the person who typed the command: no machine's work,
    /// so no order is about it.
    pub(crate) const fn for_view() -> Self {
        Self(())
    }

    #[cfg(test)]
    pub(crate) const fn for_test() -> Self {
        Self(())
    }
}
