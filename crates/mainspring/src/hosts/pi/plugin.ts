// Mainspring's plugin for pi, written by `mainspring install`. `mainspring uninstall` takes it away.
// It tells Mainspring of a session's events. What holds an agent becomes the next message of its session.
// Whatever fails here lets the agent go.
import { execFileSync } from "node:child_process";

const LINE = ""
const SECONDS: Record<string, number> = { SessionStart: 15, SessionEnd: 2, UserPromptSubmit: 25, Stop: 3000 };

export default function (pi: any) {
  let held = false;

  const ask = (event: string, context: any, fields: object) => {
    const payload = {
      hook_event_name: event,
      session_id: context.sessionManager?.getSessionId?.() ?? "",
      cwd: context.cwd ?? process.cwd(),
      ...fields,
    };
    try {
      const said = execFileSync("sh", ["-c", LINE], {
        input: JSON.stringify(payload),
        timeout: SECONDS[event] * 1000,
        stdio: ["pipe", "pipe", "ignore"],
      }).toString();
      return said.trim() ? JSON.parse(said) : {};
    } catch {
      return {};
    }
  };

  pi.on("session_start", async (_: any, context: any) => {
    ask("SessionStart", context, { source: "startup" });
  });
  pi.on("input", async (event: any, context: any) => {
    if (event.source !== "extension") ask("UserPromptSubmit", context, { prompt: event.text });
  });
  // When the agent's own loop has ended, it is too late for another message.
  pi.on("turn_end", async ({ message }: any, context: any) => {
    if (message?.stopReason !== "stop") return;
    const texts = (message.content ?? []).filter((part: any) => part.type === "text").map((part: any) => part.text);
    const answer = ask("Stop", context, { stop_hook_active: held, last_assistant_message: texts.join("\n") });
    held = answer.decision === "block" && Boolean(answer.reason);
    if (held) pi.sendUserMessage(answer.reason, { deliverAs: "followUp" });
  });
  pi.on("session_shutdown", async (_: any, context: any) => {
    ask("SessionEnd", context, { reason: "other" });
  });
}
