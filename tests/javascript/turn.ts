// Has the agent read a project's rules before the first prompt of a session, in a turn of the proxy's own.
import { agent, defineProxy, discard, respond, sleep, text } from "../sdk/acp-chain.js";

const proxy = defineProxy({ onFailure: "bypass" });

const begun = new Set<string>();
/** The sessions that are in our turn. */
const ours = new Set<string>();

// The user's prompt waits, so that the agent has one turn at a time.
proxy.onRequest("session/prompt", { from: "client", body: false }, async ({ session }) => {
  if (begun.has(session)) return;
  begun.add(session);
  ours.add(session);
  try {
    await agent.request("session/prompt", { sessionId: session, prompt: [text("Read AGENTS.md, and say OK.")] });
  } finally {
    ours.delete(session);
  }
});

proxy.onNotification("session/update", { from: "agent", body: false }, (update) => {
  const kind = update.read("/update/sessionUpdate");
  if (ours.has(update.session) && kind === "agent_message_chunk") return discard();
});

proxy.onRequest("test/waits", { from: "client" }, async () => {
  await sleep(500);
  return respond("late");
});

export const { handler } = proxy;
