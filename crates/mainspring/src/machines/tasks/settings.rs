//! What can be set for `tasks`.

use mainspring_kernel::machines::tasks::task_list::Reset;

use crate::config::{Choice, settings};

settings! {
    [tasks] TaskSettings at tasks {
        /// whose tasks are deleted when a skill lays out its list: those of all skills, or only its
        /// own
        reset: Reset = Reset::All, Anyone;
        /// refuse to delete tasks that are in progress
        guard_active: bool = false, Trusted;
        /// do not let the agent read fsm.json and SKILL.md; `FSM_BYPASS=1` allows it
        guard_files: bool = false, Trusted;
    }
}

impl Choice for Reset {
    const WORDS: &'static [&'static str] = &["all", "skill"];
    const VALUES: &'static [Self] = &[Self::All, Self::Skill];
}
