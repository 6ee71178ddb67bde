//! What hosts write to a hook's stdin. They all copied Claude Code's fields and added some of
//! their own, so one structure has them all. Unknown fields are skipped, and a field of an
//! unexpected type counts as missing, because a newer client must not switch us off.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript::repair;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wire<'a> {
    #[serde(borrow)]
    pub(super) session_id: Field<'a>,
    pub(super) transcript_path: Field<'a>,
    pub(super) cwd: Field<'a>,
    pub(super) hook_event_name: Field<'a>,
    pub(super) agent_id: Field<'a>,
    /// Grok Build has it in a sub-agent's events.
    #[serde(rename = "subagentType")]
    pub(super) subagent_type: Field<'a>,
    #[serde(rename = "promptId")]
    pub(super) prompt_id_camel: Field<'a>,
    pub(super) team_name: Field<'a>,
    /// The host's time of the event.
    pub(super) timestamp: Field<'a>,
    pub(super) turn_id: Field<'a>,
    pub(super) permission_mode: Field<'a>,
    // Stop
    pub(super) stop_hook_active: Field<'a>,
    pub(super) last_assistant_message: Field<'a>,
    /// Every text of the turn, joined.
    pub(super) prompt_response: Field<'a>,
    pub(super) background_tasks: Field<'a>,
    /// The same three, as Grok Build names them.
    #[serde(rename = "stopHookActive")]
    pub(super) stop_hook_active_camel: Field<'a>,
    #[serde(rename = "lastAssistantMessage")]
    pub(super) last_assistant_message_camel: Field<'a>,
    #[serde(rename = "backgroundTasks")]
    pub(super) background_tasks_camel: Field<'a>,
    // SessionStart, SessionEnd
    pub(super) source: Field<'a>,
    pub(super) reason: Field<'a>,
    // UserPromptSubmit, UserPromptExpansion
    pub(super) prompt: Field<'a>,
    /// What a person typed, before the host added to it.
    pub(super) submitted_prompt: Field<'a>,
    pub(super) command_name: Field<'a>,
    pub(super) command_args: Field<'a>,
    pub(super) command_source: Field<'a>,
    // Tools
    pub(super) tool_name: Field<'a>,
    pub(super) tool_input: Field<'a>,
    pub(super) tool_response: Field<'a>,
    pub(super) tool_result: Field<'a>,
    // Notification
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

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BackgroundTask {
    pub(super) r#type: String,
    pub(super) agent_type: String,
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
