//! All that a machine's loader may look at for one event or command.

use std::cell::{OnceCell, RefCell};
use std::path::Path;

use mainspring_kernel::SessionId;

use crate::config::Config;
use crate::env::World;
use crate::error::Trouble;
use crate::host::Payload;
use crate::machine::tasks::lock::Held;
use crate::project::Site;
use crate::store::ProjectStore;

#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) world: &'a World,
    pub(crate) site: &'a Site,
    pub(crate) store: &'a ProjectStore,
    /// The event, as the host sent it; `None` for a command or a view.
    pub(crate) payload: Option<&'a Payload>,
    config: OnceCell<Config>,
    /// Locks of the host's own, until all of it is over.
    held: RefCell<Option<Held>>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        world: &'a World,
        site: &'a Site,
        store: &'a ProjectStore,
        payload: Option<&'a Payload>,
    ) -> Self {
        Self {
            world,
            site,
            store,
            payload,
            config: OnceCell::new(),
            held: RefCell::new(None),
        }
    }

    /// Read at the first question, because most events ask none.
    pub(crate) fn config(&self) -> Result<&Config, Trouble> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = Config::load(self.world, &self.site.root)?;
        Ok(self.config.get_or_init(|| config))
    }

    /// Holds locks of the host's own for as long as the scene lasts.
    pub(crate) fn hold(&self, held: Held) {
        self.held.replace(Some(held));
    }

    /// Lets go of them before they are taken again.
    pub(crate) fn release(&self) {
        self.held.replace(None);
    }

    pub(crate) fn root(&self) -> &Path {
        &self.site.root
    }

    /// The session of the event, or of the agent whose shell runs the command.
    pub(crate) fn session(&self) -> Option<SessionId> {
        match self.payload {
            Some(payload) => payload.event.session.clone(),
            None => self.world.agent_session(),
        }
    }
}
