// Answers requests for permission by rule: what only reads is allowed, and the user is asked about all else.
import { defineProxy, respond } from "../sdk/acp-chain.js";

// Better no answer than a wrong one.
const proxy = defineProxy({ onFailure: "refuse", guard: true });

// The kinds of tool calls that are allowed, in the words of the protocol.
const allowed = new Set(["read", "search"]);

proxy.onRequest("session/request_permission", { from: "agent" }, ({ params: { toolCall, options } }) => {
  const once = options.find(({ kind }) => kind === "allow_once");
  if (!once || !allowed.has(toolCall?.kind ?? "other")) return;
  return respond({ outcome: { outcome: "selected", optionId: once.optionId } });
});

export const { handler } = proxy;
