// Gives the agent a tool that counts words.
import { defineHandler, defineTools } from "../sdk/proxy.js";

const tool = {
  name: "count_words",
  description: "Counts the words of a text: what stands between spaces and line breaks.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string", description: "The text whose words are counted." } },
    required: ["text"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export const tools = defineTools({
  listTools: () => ({ instructions: null, tools: [JSON.stringify(tool)] }),

  // The arguments fit the schema, and no other tool is called: acp-chain sees to both.
  callTool: (call) => {
    const { text }: { text: string } = JSON.parse(call.arguments);
    const words = text.match(/\S+/g)?.length ?? 0;
    return { tag: "done", val: JSON.stringify({ content: [{ type: "text", text: `${words}` }] }) };
  },
});

// It subscribes to nothing, and so sees no message.
export const handler = defineHandler({
  init: () => ({ subscriptions: [], onFailure: "restart", guard: false }),
});
