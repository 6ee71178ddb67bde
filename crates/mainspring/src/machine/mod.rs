//! The shell's side of the machines: where their state is, what they see, what they have
//! done outside. A machine adds a file and a line to `shells!` below; one that the kernel
//! has and that has no line there does not compile.

pub(crate) mod claim;
mod final_message;
pub(crate) mod gate;
pub(crate) mod json_state;
pub(crate) mod looping;
pub(crate) mod pulse;
pub(crate) mod review;
pub(crate) mod tasks;

use std::fmt::Debug;
use std::path::PathBuf;

use mainspring_kernel::Answer;
use mainspring_kernel::effect::Intent;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machine::Machine;
use mainspring_kernel::machines::{
    Finished, InputOf, MachineInput, Moved, Name, Pending, Returned, TransitionOf,
};
use mainspring_store::Trouble;

use crate::config::{self, Key};
use crate::env::Environment;
use crate::event_context::EventContext;
use crate::host::Payload;
use crate::permit::Permit;

/// One machine in the shell, typed from what is loaded to the files that it changes.
pub(crate) trait MachineShell {
    type Machine: Machine;
    /// What the machine was read from, as its change must know it: the files by name, and
    /// locks of other programs, which are held until the change is made.
    type Found: Debug;

    const SPEC: Spec;

    /// Can this machine have anything to do with this event, here? Asked at every event
    /// before the lock is taken, so it looks and does not read.
    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble>;

    /// State and facts; `None` if there is nothing here for it after all. `subject` is what
    /// [`MachineShell::subject`] said of an earlier load at the same event, or what a
    /// command named.
    fn load(
        context: &EventContext<'_>,
        subject: Option<&str>,
    ) -> Result<Option<Loaded<Self>>, Trouble>;

    /// Which one of several of a kind this is, such as a plan; `None` where there is only one.
    fn subject(_: &Self::Found) -> Option<&str> {
        None
    }

    /// The files that a transition changes.
    fn files(
        context: &EventContext<'_>,
        input: &InputOf<Self::Machine>,
        found: &Self::Found,
        transition: &TransitionOf<Self::Machine>,
    ) -> Result<Vec<FileChange>, Trouble>;

    /// Passes on what those files say, once they are durable. What fails is told to the
    /// person and must be made up for by the next load.
    fn after_commit(
        _: &EventContext<'_>,
        _: &Self::Found,
        _: &TransitionOf<Self::Machine>,
    ) -> Result<(), Trouble> {
        Ok(())
    }

    /// Runs an effect, without the lock.
    fn run(
        context: &EventContext<'_>,
        permit: Permit,
        intent: &Intent<Self::Machine>,
    ) -> <Self::Machine as Machine>::Outcome;

    /// The state in a line, for a person.
    fn summary(input: &InputOf<Self::Machine>) -> String;

    /// What agent and person are told where we failed at an event that this machine must not
    /// be silent about. Other machines let go.
    fn fail_closed(_: &Environment, _: &Payload, _: &Trouble) -> Option<Answer> {
        None
    }
}

/// What is known of a machine before anything is loaded.
#[derive(Debug)]
pub(crate) struct Spec {
    /// In one sentence, for views.
    pub(crate) about: &'static str,
    /// Files that, where they exist below a folder, make it a project of ours.
    pub(crate) markers: &'static [&'static str],
    pub(crate) keys: &'static [Key],
}

/// A machine's part in a case, with what it was read from.
#[derive(Debug)]
pub(crate) struct Loaded<S: MachineShell + ?Sized> {
    pub(crate) input: InputOf<S::Machine>,
    pub(crate) found: S::Found,
}

/// A file's bytes as a decision is based on them.
#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Option<Vec<u8>>,
}

macro_rules! shells {
    ($($variant:ident => $module:ident,)*) => {
        /// What the machines of one event were read from.
        #[derive(Debug, Default)]
        pub(crate) struct Found {
            $($module: Option<<$module::Shell as MachineShell>::Found>,)*
        }

        impl Found {
            /// Loads a machine, and keeps what it was read from.
            pub(crate) fn load(
                &mut self,
                name: Name,
                context: &EventContext<'_>,
                subject: Option<&str>,
            ) -> Result<Option<MachineInput>, Trouble> {
                match name {
                    $(Name::$variant => {
                        let loaded = $module::Shell::load(context, subject)?;
                        Ok(loaded.map(|Loaded { input, found }| {
                            self.$module = Some(found);
                            MachineInput::$variant(input)
                        }))
                    })*
                }
            }

            /// Which one of several of a kind was loaded; `None` where there is only one.
            pub(crate) fn subject(&self, name: Name) -> Option<&str> {
                match name {
                    $(Name::$variant => self.$module.as_ref().and_then($module::Shell::subject),)*
                }
            }

            /// The files that a machine's move changes.
            pub(crate) fn files(
                &self,
                context: &EventContext<'_>,
                moved: Moved<'_>,
            ) -> Result<Vec<FileChange>, Trouble> {
                match moved {
                    $(Moved::$variant(input, transition) => {
                        let found = self.$module.as_ref().ok_or_else(|| not_loaded(Name::$variant))?;
                        $module::Shell::files(context, input, found, transition)
                    })*
                }
            }

            /// What a machine does once its move is durable.
            pub(crate) fn after_commit(
                &self,
                context: &EventContext<'_>,
                moved: Moved<'_>,
            ) -> Result<(), Trouble> {
                match moved {
                    $(Moved::$variant(_, transition) => {
                        let found = self.$module.as_ref().ok_or_else(|| not_loaded(Name::$variant))?;
                        $module::Shell::after_commit(context, found, transition)
                    })*
                }
            }
        }

        pub(crate) const fn spec(name: Name) -> &'static Spec {
            match name { $(Name::$variant => &<$module::Shell as MachineShell>::SPEC,)* }
        }

        pub(crate) fn applies(name: Name, context: &EventContext<'_>) -> Result<bool, Trouble> {
            match name { $(Name::$variant => $module::Shell::applies(context),)* }
        }

        pub(crate) fn summary(input: &MachineInput) -> String {
            match input { $(MachineInput::$variant(input) => $module::Shell::summary(input),)* }
        }

        /// Runs an effect, without the lock.
        #[allow(unreachable_code, reason = "a machine without effects has none to run")]
        pub(crate) fn run(
            context: &EventContext<'_>,
            permit: Permit,
            pending: &Pending,
        ) -> Finished {
            match pending {
                $(Pending::$variant(intent) => Finished::$variant(Returned {
                    outcome: $module::Shell::run(context, permit, intent),
                    intent: intent.clone(),
                }),)*
            }
        }

        fn fails_closed(
            name: Name,
            env: &Environment,
            payload: &Payload,
            trouble: &Trouble,
        ) -> Option<Answer> {
            match name { $(Name::$variant => $module::Shell::fail_closed(env, payload, trouble),)* }
        }
    };
}

shells! {
    Gate => gate,
    Loop => looping,
    Review => review,
    Claim => claim,
    Tasks => tasks,
    Pulse => pulse,
}

fn not_loaded(name: Name) -> Trouble {
    Trouble::Other(format!("internal: {name} was not loaded"))
}

/// A machine's part without an event, for a view.
pub(crate) fn view(
    name: Name,
    context: &EventContext<'_>,
) -> Result<Option<MachineInput>, Trouble> {
    Found::default().load(name, context, None)
}

/// What must be said of a failure of ours, by the first machine that must not be silent.
pub(crate) fn fail_closed(
    machines: &[Name],
    env: &Environment,
    payload: &Payload,
    trouble: &Trouble,
) -> Option<Answer> {
    let mut machines = machines.iter();
    machines.find_map(|name| fails_closed(*name, env, payload, trouble))
}

/// Every setting there is.
pub(crate) fn keys() -> impl Iterator<Item = &'static Key> {
    let machines = Name::ALL.iter().flat_map(|name| spec(*name).keys);
    config::KEYS.iter().chain(machines)
}

/// Whatever makes a folder a project of ours.
pub(crate) fn markers() -> impl Iterator<Item = &'static str> {
    let machines = Name::ALL.iter().flat_map(|name| spec(*name).markers);
    [config::PROJECT_FILE].into_iter().chain(machines.copied())
}
