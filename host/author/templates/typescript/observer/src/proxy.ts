// Counts the tool calls of a turn, and shows the number at its end.
import { client, defineProxy, proxyId, text } from "../sdk/acp-chain.js";

const proxy = defineProxy({ onFailure: "bypass" });

// The tool calls of each session since its last turn.
const calls = new Map<string, number>();

proxy.onNotification("session/update", { from: "agent", body: false }, (update) => {
  if (update.read("/update/sessionUpdate") !== "tool_call") return;
  calls.set(update.session, (calls.get(update.session) ?? 0) + 1);
});

proxy.onResponse("session/prompt", { from: "agent", body: false }, ({ session }) => {
  const count = calls.get(session);
  if (!count) return;
  calls.delete(session);
  const what = count === 1 ? "1 tool call" : `${count} tool calls`;
  const content = text(`\n\n**${proxyId()}**: ${what} in this turn.\n\n`);
  client.notify("session/update", { sessionId: session, update: { sessionUpdate: "agent_message_chunk", content } });
});

export const { handler } = proxy;
