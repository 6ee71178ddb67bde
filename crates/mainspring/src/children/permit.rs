//! The permission to start a program. Every function that starts a child requires one, so
//! whoever starts a program has first checked a person's orders. While the child runs, the
//! permission is asked again: an order that came meanwhile ends the child.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mainspring_kernel::Name;
use mainspring_kernel::orders::{Forbidden, Until};
use mainspring_kernel::verbs::Actor;
use mainspring_store::Trouble;

use crate::env::Environment;
use crate::people::orders;
use crate::project::Project;
use crate::store::ProjectStore;

/// How often a child that runs is checked against the orders.
pub(crate) const GLANCE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub(crate) struct Permit(Option<Arc<Watch>>);

/// What a permit was given for, and the orders at that time.
#[derive(Debug)]
struct Watch {
    machine: Name,
    env: Environment,
    project: Project,
    store: ProjectStore,
    /// A person may start a program in spite of an order, so only a new order ends it.
    before: Option<Until>,
    /// A child was ended, or not started, because of an order that came later.
    used: AtomicBool,
}

/// Why there is no permit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Denied {
    #[error("{0}")]
    Ordered(Forbidden),
    /// The orders could not be read.
    #[error("{0}")]
    Trouble(Trouble),
}

/// A person stopped or paused the machine after it got its permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Revoked;

impl From<Denied> for Trouble {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Ordered(forbidden) => Self::Other(forbidden.to_string()),
            Denied::Trouble(trouble) => trouble,
        }
    }
}

impl Permit {
    /// A permit for a program that this machine needs, unless an order forbids it to whoever
    /// asks.
    pub(crate) fn new(
        machine: Name,
        env: &Environment,
        project: &Project,
        store: &ProjectStore,
        actor: &Actor,
    ) -> Result<Self, Denied> {
        let now = env.later();
        let orders = orders::in_force(project, store).map_err(Denied::Trouble)?;
        let before = orders.suspension(machine, now);
        let binding = orders.binding(actor);
        binding.may_start(machine, now).map_err(Denied::Ordered)?;
        Ok(Self(Some(Arc::new(Watch {
            machine,
            env: env.clone(),
            project: project.clone(),
            store: store.clone(),
            before,
            used: AtomicBool::new(false),
        }))))
    }

    /// Looks whether a person stopped or paused the machine since. Orders that cannot be read
    /// end nothing.
    pub(crate) fn check(&self) -> Result<(), Revoked> {
        let Some(watch) = &self.0 else {
            return Ok(());
        };
        let Ok(orders) = orders::in_force(&watch.project, &watch.store) else {
            return Ok(());
        };
        let suspended = orders.suspension(watch.machine, watch.env.later());
        if suspended.is_none() || suspended == watch.before {
            return Ok(());
        }
        watch.used.store(true, Ordering::SeqCst);
        Err(Revoked)
    }

    /// Did somebody who held this permit find it revoked?
    pub(crate) fn was_revoked(&self) -> bool {
        let used = |watch: &Arc<Watch>| watch.used.load(Ordering::SeqCst);
        self.0.as_ref().is_some_and(used)
    }

    /// Waits, unless the permit is revoked meanwhile.
    pub(crate) fn sleep(&self, span: Duration) -> Result<(), Revoked> {
        let until = Instant::now() + span;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(GLANCE));
            self.check()?;
        }
    }

    /// A permit for the scenes of `demo`: they run in a project of their own, in which nobody
    /// gives orders.
    pub(crate) const fn for_demo() -> Self {
        Self(None)
    }

    /// A permit for a program that shows something to the person: a page, an editor, a notice. It
    /// works for no machine, so no order applies.
    pub(crate) const fn for_view() -> Self {
        Self(None)
    }

    /// A permit for what a person's `install` or `uninstall` starts. It works for no machine, so
    /// no order applies.
    pub(crate) const fn for_trial() -> Self {
        Self(None)
    }

    #[cfg(test)]
    pub(crate) const fn for_test() -> Self {
        Self(None)
    }
}
