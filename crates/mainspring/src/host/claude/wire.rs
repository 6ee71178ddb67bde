//! What Claude Code writes to a hook's stdin, and nothing of what we make of it. Unknown
//! fields are skipped; a field of an unexpected type is as good as missing, because a
//! newer client must not switch us off.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript::repair;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Wire<'a> {
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
    #[serde(borrow, default)]
    pub(super) team_name: Field<'a>,
    // Stop
    #[serde(borrow, default)]
    pub(super) stop_hook_active: Field<'a>,
    #[serde(borrow, default)]
    pub(super) last_assistant_message: Field<'a>,
    #[serde(borrow, default)]
    pub(super) background_tasks: Field<'a>,
    // SessionStart, SessionEnd
    #[serde(borrow, default)]
    pub(super) source: Field<'a>,
    #[serde(borrow, default)]
    pub(super) reason: Field<'a>,
    // UserPromptSubmit, UserPromptExpansion
    #[serde(borrow, default)]
    pub(super) prompt: Field<'a>,
    #[serde(borrow, default)]
    pub(super) command_name: Field<'a>,
    #[serde(borrow, default)]
    pub(super) command_source: Field<'a>,
    // Tools
    #[serde(borrow, default)]
    pub(super) tool_name: Field<'a>,
    #[serde(borrow, default)]
    pub(super) tool_input: Field<'a>,
    #[serde(borrow, default)]
    pub(super) tool_response: Field<'a>,
    // Notification
    #[serde(borrow, default)]
    pub(super) notification_type: Field<'a>,
}

/// A field that is looked at only where its event needs it.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Field<'a>(#[serde(borrow)] Option<&'a RawValue>);

impl<'a> Field<'a> {
    pub(super) fn read<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.0?.get()).ok()
    }

    /// The JSON itself.
    pub(super) fn raw(&self) -> Option<&'a str> {
        Some(self.0?.get())
    }

    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        let raw = self.0?.get();
        let within = raw.strip_prefix('"')?.strip_suffix('"')?;
        // Where nothing is escaped, it is its own text. To ask serde for that first would
        // have it describe every text where something is.
        if within.contains('\\') {
            serde_json::from_str(raw).ok().map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(within))
        }
    }
}

impl Field<'_> {
    /// What somebody said. Models are cut off within a character, and hosts write the half
    /// of it as it is: that is one character lost, and not the whole text.
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
    pub(super) status: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct SkillInput {
    pub(super) skill: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SkillResponse {
    pub(super) success: Option<bool>,
    pub(super) command_name: Option<String>,
}
