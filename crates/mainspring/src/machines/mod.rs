//! The machines' side of the shell: where their state is, what they observe, how their effects
//! run. A new machine adds a file and a line to `shells!` below; a machine of the kernel
//! without such a line does not compile.

pub(crate) mod at_work;
pub(crate) mod check;
pub(crate) mod claim;
pub(crate) mod effect_owner;
pub(crate) mod final_message;
pub(crate) mod gate;
pub(crate) mod json_state;
pub(crate) mod looping;
mod other_sessions;
pub(crate) mod pulse;
pub(crate) mod review;
pub(crate) mod tasks;
pub(crate) mod tree;

use std::fmt::Debug;
use std::path::PathBuf;

use mainspring_kernel::effect::{HasEffects, Intent};
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machine::Machine;
use mainspring_kernel::machines::check::Occasion;
use mainspring_kernel::machines::{
    Finished, InputOf, MachineInput, Moved, Name, Pending, Returned, TransitionOf,
};
use mainspring_kernel::{Answer, SessionId};
use mainspring_store::{Trouble, digest};

use crate::children::permit::Permit;
use crate::context::EventContext;
use crate::env::Environment;
use crate::hosts::Payload;

/// One machine in the shell. Its types lead from what it loads to the files that it changes.
pub(crate) trait MachineShell {
    type Machine: Machine;
    /// What the machine was loaded from, as its change needs it: the files by name, and locks
    /// of other programs, which are held until the change is made.
    type Found: Debug;

    /// What the machine does, in one sentence, for views.
    const ABOUT: &'static str;

    /// Can this event concern the machine? This is asked at every event, before the lock is
    /// taken, so it checks which files exist and does not read them.
    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble>;

    /// Loads state and facts; `None` if the event does not concern the machine after all.
    /// `subject` is what [`MachineShell::subject`] returned after an earlier load at the same
    /// event, or what a command named.
    fn load(
        context: &EventContext<'_>,
        subject: Option<&str>,
    ) -> Result<Option<Loaded<Self>>, Trouble>;

    /// The name of the one thing that was loaded, such as a plan, if the machine can have
    /// several.
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

    /// The files that change when the machine held the agent and the host's limit let it go. Its
    /// state stays as it was.
    fn files_at_cap(_: &EventContext<'_>, _: &Self::Found) -> Vec<FileChange> {
        Vec::new()
    }

    /// Publishes the committed files to other programs, once they are durable. A failure is
    /// told to the person, and the next load must make up for it.
    fn after_commit(
        _: &EventContext<'_>,
        _: &Self::Found,
        _: &TransitionOf<Self::Machine>,
    ) -> Result<(), Trouble> {
        Ok(())
    }

    /// Runs an effect, without the lock. `handed_on` is what earlier effects of this event left.
    fn run(
        context: &EventContext<'_>,
        permit: Permit,
        intent: &Intent<Self::Machine>,
        handed_on: &mut HandedOn,
    ) -> <Self::Machine as HasEffects>::Outcome;

    /// The state in one line, for a person.
    fn summary(input: &InputOf<Self::Machine>) -> String;

    /// The same, with what keeps it from starting here and now.
    fn summary_here(_: &EventContext<'_>, input: &InputOf<Self::Machine>) -> String {
        Self::summary(input)
    }

    /// What this stop leads to, if nothing holds it: what the checks must let through first.
    fn occasions(_: &EventContext<'_>) -> Vec<Occasion> {
        Vec::new()
    }

    /// What does not happen because nobody trusted the project, for the person at a stop.
    fn waits_for_trust(_: &EventContext<'_>) -> Option<String> {
        None
    }

    /// Is the machine at work for this session?
    fn works_for(_: &InputOf<Self::Machine>, _: &SessionId) -> bool {
        false
    }

    /// What to tell the agent and the person if we failed at an event of this machine that must
    /// not pass silently. The default lets the agent go.
    fn fail_closed(_: &Environment, _: &Payload, _: &Trouble) -> Option<Answer> {
        None
    }
}

/// A machine's input, and what it was loaded from.
#[derive(Debug)]
pub(crate) struct Loaded<S: MachineShell + ?Sized> {
    pub(crate) input: InputOf<S::Machine>,
    pub(crate) found: S::Found,
}

/// A file's path, and the bytes that a decision is based on.
#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Option<Vec<u8>>,
}

/// What an effect leaves for a later one of the same event.
#[derive(Debug, Default)]
pub(crate) struct HandedOn {
    /// What the checks have shown, for the pull request that the event opens.
    pub(crate) checks: Option<check::CheckReceipt>,
}

macro_rules! shells {
    ($($variant:ident => $module:ident,)*) => {
        /// What the machines of one event were loaded from.
        #[derive(Debug, Default)]
        pub(crate) struct Found {
            $($module: Option<<$module::Shell as MachineShell>::Found>,)*
        }

        impl Found {
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

            /// The name of the one thing that was loaded, if the machine can have several.
            pub(crate) fn subject(&self, name: Name) -> Option<&str> {
                match name {
                    $(Name::$variant => self.$module.as_ref().and_then($module::Shell::subject),)*
                }
            }

            /// The files that a machine's transition changes.
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

            /// The files that change when the host's limit let the agent go.
            pub(crate) fn files_at_cap(&self, context: &EventContext<'_>) -> Vec<FileChange> {
                let mut files = Vec::new();
                $(if let Some(found) = &self.$module {
                    files.extend($module::Shell::files_at_cap(context, found));
                })*
                files
            }

            /// What a machine does once its transition is durable.
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

        pub(crate) const fn about(name: Name) -> &'static str {
            match name { $(Name::$variant => <$module::Shell as MachineShell>::ABOUT,)* }
        }

        pub(crate) fn applies(name: Name, context: &EventContext<'_>) -> Result<bool, Trouble> {
            match name { $(Name::$variant => $module::Shell::applies(context),)* }
        }

        pub(crate) fn summary(input: &MachineInput) -> String {
            match input { $(MachineInput::$variant(input) => $module::Shell::summary(input),)* }
        }

        pub(crate) fn summary_here(context: &EventContext<'_>, input: &MachineInput) -> String {
            match input {
                $(MachineInput::$variant(input) => $module::Shell::summary_here(context, input),)*
            }
        }

        /// What this stop leads to, if nothing holds it.
        pub(crate) fn occasions(context: &EventContext<'_>) -> Vec<Occasion> {
            let mut all = Vec::new();
            $(all.extend($module::Shell::occasions(context));)*
            all.sort_unstable();
            all
        }

        /// What does not happen because nobody trusted the project.
        pub(crate) fn waits_for_trust(name: Name, context: &EventContext<'_>) -> Option<String> {
            match name { $(Name::$variant => $module::Shell::waits_for_trust(context),)* }
        }

        /// Is the machine at work for this session?
        pub(crate) fn works_for(input: &MachineInput, session: &SessionId) -> bool {
            match input {
                $(MachineInput::$variant(input) => $module::Shell::works_for(input, session),)*
            }
        }

        /// Runs an effect, without the lock.
        #[allow(unreachable_code, reason = "a machine without effects has none to run")]
        pub(crate) fn run(
            context: &EventContext<'_>,
            permit: Permit,
            pending: &Pending,
            handed_on: &mut HandedOn,
        ) -> Finished {
            match pending {
                $(Pending::$variant(intent) => Finished::$variant(Returned {
                    outcome: $module::Shell::run(context, permit, intent, handed_on),
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
    Check => check,
    Review => review,
    Claim => claim,
    Tasks => tasks,
    Pulse => pulse,
}

fn not_loaded(name: Name) -> Trouble {
    Trouble::Other(format!("internal: {name} was not loaded"))
}

/// A machine's input without an event, for a view that people may send to somebody: without the
/// texts of people and agents.
pub(crate) fn view(
    name: Name,
    context: &EventContext<'_>,
) -> Result<Option<MachineInput>, Trouble> {
    let mut input = Found::default().load(name, context, None)?;
    if let Some(input) = &mut input {
        input.reduce(digest::REDUCER);
    }
    Ok(input)
}

/// What to tell about a failure of ours: the first machine that must not be silent decides.
pub(crate) fn fail_closed(
    machines: &[Name],
    env: &Environment,
    payload: &Payload,
    trouble: &Trouble,
) -> Option<Answer> {
    let mut machines = machines.iter();
    machines.find_map(|name| fails_closed(*name, env, payload, trouble))
}
