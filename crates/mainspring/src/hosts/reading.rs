//! How a host's events are to be read, as data.

use super::answers::is_our_reason;
use super::wire::Wire;

/// What a host's events mean.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The host's names of the events that we handle.
    pub(crate) events: &'static [(&'static str, Means)],
    /// Who wrote a prompt.
    pub(crate) prompt: fn(&Wire<'_>) -> PromptBy,
    /// Is this a stop of the agent's own? Some hosts send the event when a person interrupts.
    pub(crate) is_stop: fn(&Wire<'_>) -> bool,
    pub(crate) chain: ChainFrom,
    /// The agent's last message, if the event has it.
    pub(crate) last_words: fn(&Wire<'_>) -> Option<String>,
    pub(crate) skill: Option<SkillTool>,
    pub(crate) subagents: Subagents,
}

/// What an event means to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    Start,
    End,
    Prompt,
    /// A typed command.
    Expansion,
    BeforeTool,
    AfterTool,
    Stop,
    /// It may say that the agent has been waiting for a while.
    Notification,
}

/// Who wrote a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptBy {
    Person,
    /// The host, in a person's place: it begins a new turn.
    Host,
    /// It is no prompt: our own reason, or a tool's result.
    Nobody,
}

/// Where it stands whether a hook has continued the agent since the person's last prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChainFrom {
    /// In the event.
    Payload,
    /// In the transcript, because the event is wrong about it.
    Transcript,
}

/// The tool by which a model uses a skill.
#[derive(Debug)]
pub(crate) struct SkillTool {
    pub(crate) tool: &'static str,
    /// The field of its input that has the skill's name.
    pub(crate) field: &'static str,
}

/// How the events of a sub-agent are told from the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subagents {
    /// By `agent_id`.
    Marked,
    /// They have a session of their own, and a mark in their events or in its transcript.
    InOwnSession,
    /// Not at all. They have no stops.
    Unmarked,
    /// We are not told of them.
    Untold,
}

impl Reading {
    /// As most hosts do it, with the names that Claude Code gave the events.
    pub(super) const USUAL: Self = Self {
        events: &[
            ("SessionStart", Means::Start),
            ("UserPromptSubmit", Means::Prompt),
            ("PreToolUse", Means::BeforeTool),
            ("PostToolUse", Means::AfterTool),
            ("Stop", Means::Stop),
            ("SessionEnd", Means::End),
        ],
        prompt: |_| PromptBy::Person,
        is_stop: |_| true,
        chain: ChainFrom::Payload,
        last_words: |wire| wire.last_assistant_message.words(),
        skill: None,
        subagents: Subagents::Marked,
    };

    pub(crate) fn means(&self, event: &str) -> Option<Means> {
        let known = self.events.iter().find(|(name, _)| *name == event);
        known.map(|(_, means)| *means)
    }

    /// The host's name of such an event; empty if it has none.
    pub(crate) fn name_of(&self, wanted: Means) -> &'static str {
        let known = self.events.iter().find(|(_, means)| *means == wanted);
        known.map_or("", |(name, _)| *name)
    }
}

/// For a host that sends our own reason back as a prompt.
pub(super) fn not_our_reason(wire: &Wire<'_>) -> PromptBy {
    let prompt = wire.prompt.text().unwrap_or_default();
    if is_our_reason(&prompt) {
        PromptBy::Nobody
    } else {
        PromptBy::Person
    }
}
