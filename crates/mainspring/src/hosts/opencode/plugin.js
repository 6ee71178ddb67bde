// Mainspring's plugin for opencode, written by `mainspring install`. `mainspring uninstall` takes it away.
// It tells Mainspring of a session's events. What holds an agent becomes the next message of its session.
// Whatever fails here lets the agent go.
import { execFileSync } from "node:child_process"

const LINE = ""
const SECONDS = { SessionStart: 15, SessionEnd: 2, UserPromptSubmit: 25, Stop: 3000 }

export const Mainspring = async ({ client, directory }) => {
  const lastWords = new Map() // by session
  const held = new Set() // sessions that we keep going
  const subagents = new Set() // their sessions

  // opencode does not wait for an event's listener, and ends its loop at once: so this waits.
  const ask = (event, session, fields) => {
    const payload = { hook_event_name: event, session_id: session, cwd: directory, ...fields }
    try {
      const said = execFileSync("sh", ["-c", LINE], {
        input: JSON.stringify(payload),
        cwd: directory,
        timeout: SECONDS[event] * 1000,
        stdio: ["pipe", "pipe", "ignore"],
      }).toString()
      return said.trim() ? JSON.parse(said) : {}
    } catch {
      return {}
    }
  }

  const stop = async (session) => {
    const answer = ask("Stop", session, {
      stop_hook_active: held.has(session),
      last_assistant_message: lastWords.get(session) ?? "",
    })
    if (answer.decision !== "block" || !answer.reason) {
      held.delete(session)
      return
    }
    held.add(session)
    const parts = [{ type: "text", text: answer.reason, synthetic: true }]
    await client.session.prompt({ path: { id: session }, body: { noReply: true, parts } })
  }

  return {
    event: async ({ event }) => {
      const { info, part } = event.properties ?? {}
      if (event.type === "session.created") {
        if (info.parentID) subagents.add(info.id)
        else ask("SessionStart", info.id, { source: "startup" })
      }
      if (event.type === "session.deleted" && !info.parentID) ask("SessionEnd", info.id, { reason: "other" })
      const ends = event.type === "message.part.updated" && part.type === "step-finish" && part.reason === "stop"
      if (ends && !subagents.has(part.sessionID)) await stop(part.sessionID)
    },
    "chat.message": async ({ sessionID }, { parts }) => {
      if (subagents.has(sessionID)) return
      const texts = parts.filter((part) => part.type === "text").map((part) => part.text)
      ask("UserPromptSubmit", sessionID, { prompt: texts.join("\n") })
    },
    "experimental.text.complete": async ({ sessionID }, { text }) => void lastWords.set(sessionID, text),
  }
}
