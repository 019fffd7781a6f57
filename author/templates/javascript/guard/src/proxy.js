// Answers requests for permission by rule: what only reads is allowed, and the user is asked about all else.
import { defineHandler } from "../sdk/proxy.js";

// The kinds of tool calls that are allowed, in the words of the protocol.
const allowed = ["read", "search"];

export const handler = defineHandler({
  init: () => ({
    subscriptions: [
      { method: "session/request_permission", sender: "agent", kinds: { request: true }, withBody: true },
    ],
    // Better no answer than a wrong one.
    onFailure: "refuse",
    guard: true,
  }),

  onRequest: ({ params }) => {
    const { toolCall, options } = JSON.parse(params);
    const once = options?.find((/** @type {any} */ option) => option.kind === "allow_once");
    if (!once || !allowed.includes(toolCall?.kind)) return { tag: "forward" };
    const outcome = { outcome: "selected", optionId: once.optionId };
    return { tag: "respond", val: JSON.stringify({ outcome }) };
  },
});
