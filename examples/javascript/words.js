// A proxy with a tool: it counts the words of a text for the agent.
import { defineHandler, defineTools } from "./proxy.js";

const tool = {
  name: "count",
  description: "Counts the words of a text: what stands between spaces, tabs and line breaks.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  },
  outputSchema: {
    type: "object",
    properties: { words: { type: "integer" } },
    required: ["words"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const count = (/** @type {{ text: string }} */ { text }) => ({ words: text.match(/[^ \t\r\n]+/g)?.length ?? 0 });

export const tools = defineTools({
  listTools: () => ({ instructions: null, tools: [JSON.stringify(tool)] }),

  // The arguments fit the schema, and no other tool is called: the host sees to both.
  callTool: (call) => {
    const counted = count(JSON.parse(call.arguments));
    const content = [{ type: "text", text: JSON.stringify(counted) }];
    return { tag: "done", val: JSON.stringify({ content, structuredContent: counted }) };
  },
});

// It subscribes to nothing, and so sees no message.
export const handler = defineHandler({
  init: () => ({ subscriptions: [], onFailure: "restart", guard: false }),
});
