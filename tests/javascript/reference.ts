// Counts the prompts of each session, over a restart too, and adds a file of the editor's to the first one of each.
import { client, defineProxy, save, set, text } from "../sdk/acp-chain.js";

const proxy = defineProxy();
let counts: Record<string, number> = {};

proxy.onStart(({ saved }) => {
  counts = saved ?? {};
});

proxy.onRequest("session/prompt", { from: "client", body: false }, async ({ session }) => {
  const edits = [];
  if (!counts[session]) {
    const { content } = await client.request("fs/read_text_file", { sessionId: session, path: "/project/RULES.md" });
    edits.push(set("/prompt/-", text(content)));
  }
  // Only now: if a prompt gets no rules, the next one does.
  counts[session] = (counts[session] ?? 0) + 1;
  save(counts);
  return edits;
});

proxy.tool("prompts", { description: "Says how many prompts this session had.", readOnly: true }, (_, { session }) =>
  counts[session ?? ""] ?? 0);

export const { handler, tools } = proxy;
