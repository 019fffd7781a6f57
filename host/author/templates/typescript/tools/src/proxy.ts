// Gives the agent a tool that counts words.
import { defineProxy } from "../sdk/acp-chain.js";

const proxy = defineProxy();

// acp-chain checks the arguments against the schema.
proxy.tool("count_words", {
  description: "Counts the words of a text: what stands between spaces and line breaks.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  readOnly: true,
  closedWorld: true,
}, ({ text }) => text.match(/\S+/g)?.length ?? 0);

export const { handler, tools } = proxy;
