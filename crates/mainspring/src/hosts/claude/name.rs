//! The variables of Claude Code that we read or set, each with a sentence for the reference.

/// Claude Code: the session's id, in hooks and in the agent's shell.
pub(crate) const SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// Claude Code: the folder in which the session was started.
pub(crate) const PROJECT: &str = "CLAUDE_PROJECT_DIR";
/// Claude Code: the id of its process, which stays the same after `/clear`.
pub(crate) const CLIENT: &str = "CLAUDE_PID";
/// Claude Code: `0` if no person attends the session, as in a headless run.
pub(crate) const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";
/// Claude Code: how many stops in a row a hook may block, without tool use between them.
pub(crate) const BLOCK_CAP: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
/// Claude Code: its own folder, in place of `~/.claude`.
pub(crate) const CONFIG: &str = "CLAUDE_CONFIG_DIR";
/// Claude Code: the task list to use in place of the session's.
pub(crate) const TASK_LIST: &str = "CLAUDE_CODE_TASK_LIST_ID";
/// Claude Code: switches the agent's task tools on, whatever its model.
pub(crate) const TODO_TOOLS: &str = "CLAUDE_CODE_ENABLE_TODO_TOOLS";
/// Claude Code: the folder of the plugin that a hook belongs to.
pub(crate) const PLUGIN: &str = "CLAUDE_PLUGIN_ROOT";
