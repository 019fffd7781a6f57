// Answers permission requests by rule: allows reading and searching, and forwards all others to the client.
import { defineProxy, respond } from "../sdk/acp-chain.js";

// Better no answer than a wrong one.
const proxy = defineProxy({ onFailure: "refuse", guard: true });

// The kinds of tool calls (`ToolKind` of the protocol) that are allowed.
const allowed = new Set(["read", "search"]);

proxy.onRequest("session/request_permission", { from: "agent" }, ({ params: { toolCall, options } }) => {
  const once = options.find(({ kind }) => kind === "allow_once");
  if (!once || !allowed.has(toolCall?.kind ?? "other")) return;
  return respond({ outcome: { outcome: "selected", optionId: once.optionId } });
});

export const { handler } = proxy;
