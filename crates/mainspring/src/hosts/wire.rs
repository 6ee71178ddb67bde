//! What hosts write to a hook's stdin. They all copied Claude Code's fields and added some of
//! their own, so one structure has them all. Unknown fields are skipped, and a field of an
//! unexpected type counts as missing, because a newer client must not switch us off.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript::repair;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wire<'a> {
    #[serde(borrow, default)]
    pub(super) session_id: Field<'a>,
    #[serde(borrow, default)]
    pub(super) transcript_path: Field<'a>,
    #[serde(borrow, default)]
    pub(super) cwd: Field<'a>,
    #[serde(borrow, default)]
    pub(super) hook_event_name: Field<'a>,
    #[serde(borrow, default)]
    pub(super) agent_id: Field<'a>,
    /// Grok Build has it in a sub-agent's events.
    #[serde(borrow, default, rename = "subagentType")]
    pub(super) subagent_type: Field<'a>,
    #[serde(borrow, default, rename = "promptId")]
    pub(super) prompt_id_camel: Field<'a>,
    #[serde(borrow, default)]
    pub(super) prompt_id: Field<'a>,
    #[serde(borrow, default)]
    pub(super) team_name: Field<'a>,
    /// The host's time of the event.
    #[serde(borrow, default)]
    pub(super) timestamp: Field<'a>,
    #[serde(borrow, default)]
    pub(super) turn_id: Field<'a>,
    #[serde(borrow, default)]
    pub(super) permission_mode: Field<'a>,
    // Stop
    #[serde(borrow, default)]
    pub(super) stop_hook_active: Field<'a>,
    #[serde(borrow, default)]
    pub(super) last_assistant_message: Field<'a>,
    /// Every text of the turn, joined.
    #[serde(borrow, default)]
    pub(super) prompt_response: Field<'a>,
    #[serde(borrow, default)]
    pub(super) background_tasks: Field<'a>,
    /// The same three, as Grok Build names them.
    #[serde(borrow, default, rename = "stopHookActive")]
    pub(super) stop_hook_active_camel: Field<'a>,
    #[serde(borrow, default, rename = "lastAssistantMessage")]
    pub(super) last_assistant_message_camel: Field<'a>,
    #[serde(borrow, default, rename = "backgroundTasks")]
    pub(super) background_tasks_camel: Field<'a>,
    // SessionStart, SessionEnd
    #[serde(borrow, default)]
    pub(super) source: Field<'a>,
    #[serde(borrow, default)]
    pub(super) reason: Field<'a>,
    // UserPromptSubmit, UserPromptExpansion
    #[serde(borrow, default)]
    pub(super) prompt: Field<'a>,
    /// What a person typed, before the host added to it.
    #[serde(borrow, default)]
    pub(super) submitted_prompt: Field<'a>,
    #[serde(borrow, default)]
    pub(super) command_name: Field<'a>,
    #[serde(borrow, default)]
    pub(super) command_args: Field<'a>,
    #[serde(borrow, default)]
    pub(super) command_source: Field<'a>,
    // Tools
    #[serde(borrow, default)]
    pub(super) tool_name: Field<'a>,
    #[serde(borrow, default)]
    pub(super) tool_input: Field<'a>,
    #[serde(borrow, default)]
    pub(super) tool_response: Field<'a>,
    #[serde(borrow, default)]
    pub(super) tool_result: Field<'a>,
    // Notification
    #[serde(borrow, default)]
    pub(super) notification_type: Field<'a>,
}

/// A field that is decoded only if its event needs it.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Field<'a>(#[serde(borrow)] Option<&'a RawValue>);

impl<'a> Field<'a> {
    pub(super) fn read<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.0?.get()).ok()
    }

    /// Does the payload have this field, whatever its value?
    pub(super) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// The field's JSON.
    pub(super) fn raw(&self) -> Option<&'a str> {
        Some(self.0?.get())
    }

    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        let raw = self.0?.get();
        let within = raw.strip_prefix('"')?.strip_suffix('"')?;
        // Without escapes, the text between the quotes is the value. This check comes first
        // because serde would otherwise format an error for each text with escapes.
        if within.contains('\\') {
            serde_json::from_str(raw).ok().map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(within))
        }
    }
}

impl Field<'_> {
    /// A message. If a model is cut off within a character, the host writes half a surrogate
    /// pair; then that character is lost, and not the whole text.
    pub(super) fn words(&self) -> Option<String> {
        match self.text() {
            Some(text) => Some(text.into_owned()),
            None => serde_json::from_str(&repair(self.0?.get().as_bytes())).ok(),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct BackgroundTask {
    #[serde(default)]
    pub(super) r#type: String,
    #[serde(default)]
    pub(super) agent_type: String,
    #[serde(default)]
    pub(super) status: String,
}

/// What a skill tool answered.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SkillResponse {
    pub(super) success: Option<bool>,
    pub(super) command_name: Option<String>,
    #[serde(rename = "result_type")]
    pub(super) result_type: Option<String>,
}
