//! Claude Code's variables that we read or set, each with a sentence for the reference.

/// Claude Code: the conversation, in hooks and in the agent's own shell.
pub(crate) const SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// Claude Code: where the session was started.
pub(crate) const PROJECT: &str = "CLAUDE_PROJECT_DIR";
/// Claude Code: its own process, which outlives a `/clear`.
pub(crate) const CLIENT: &str = "CLAUDE_PID";
/// Claude Code: `0` where nobody attends, as in a headless run.
pub(crate) const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";
/// Claude Code: blocks without tool use before it overrides a hook.
pub(crate) const BLOCK_CAP: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
/// Claude Code: its own folder, if it is not `~/.claude`.
pub(crate) const CONFIG: &str = "CLAUDE_CONFIG_DIR";
/// Claude Code: the task list to use instead of the session's.
pub(crate) const TASK_LIST: &str = "CLAUDE_CODE_TASK_LIST_ID";
/// Claude Code: the agent has task tools, whatever its model.
pub(crate) const TODO_TOOLS: &str = "CLAUDE_CODE_ENABLE_TODO_TOOLS";
