// A proxy with a tool: it counts the words of a text for the agent.
import { defineProxy } from "../../../host/author/sdk/javascript/acp-chain.js";

const proxy = defineProxy();

proxy.tool("count", {
  description: "Counts the words of a text: what stands between spaces, tabs and line breaks.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  output: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] },
  readOnly: true,
  closedWorld: true,
}, ({ text }) => ({ words: text.match(/[^ \t\r\n]+/g)?.length ?? 0 }));

export const { handler, tools } = proxy;
