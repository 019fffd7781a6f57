// Answers requests for permission by rule: what only reads is allowed, and the user is asked about all else.
import { defineHandler } from "../sdk/proxy.js";

// What is needed of a request.
interface Permission {
  toolCall?: { kind?: string };
  options?: { optionId: string; kind: string }[];
}

// The kinds of tool calls that are allowed, in the words of the protocol.
const allowed: (string | undefined)[] = ["read", "search"];

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
    const { toolCall, options }: Permission = JSON.parse(params);
    const once = options?.find(({ kind }) => kind === "allow_once");
    if (!once || !allowed.includes(toolCall?.kind)) return { tag: "forward" };
    const outcome = { outcome: "selected", optionId: once.optionId };
    return { tag: "respond", val: JSON.stringify({ outcome }) };
  },
});
