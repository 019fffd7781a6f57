// Counts the tool calls of a turn, and says at its end how many there were.
import { notify, proxyId, read } from "acp-chain:proxy/channel@0.1.0";
import { defineHandler } from "../sdk/proxy.js";

// The tool calls of each session since its last turn.
const calls = new Map<string, number>();

export const handler = defineHandler({
  init: () => ({
    subscriptions: [
      { method: "session/update", sender: "agent", kinds: { notification: true }, withBody: false },
      { method: "session/prompt", sender: "agent", kinds: { response: true }, withBody: false },
    ],
    onFailure: "bypass",
    guard: false,
  }),

  onNotification: ({ head }) => {
    if (head.session && read(head.id, "/update/sessionUpdate") === '"tool_call"') {
      calls.set(head.session, (calls.get(head.session) ?? 0) + 1);
    }
    return { tag: "forward" };
  },

  onResponse: ({ head: { session } }) => {
    const count = calls.get(session ?? "");
    if (session && count) {
      calls.delete(session);
      const content = { type: "text", text: `\n\n**${proxyId()}**: ${count} tool calls in this turn.\n\n` };
      const update = { sessionUpdate: "agent_message_chunk", content };
      notify("client", "session/update", JSON.stringify({ sessionId: session, update }));
    }
    return { tag: "forward" };
  },
});
