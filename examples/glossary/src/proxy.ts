// Gives the agent the meanings of a project's terms.
import { z } from "zod";
import { defineProxy } from "../sdk/acp-chain.js";

const proxy = defineProxy({
  instructions: "When a word seems to have a meaning of its own in this project, look it up with `define`.",
});

/** The meaning of each term, by its name in lower case. */
const glossary = new Map<string, string>();

proxy.onStart(({ config }: { config: { terms: Record<string, string> } }) => {
  for (const [term, meaning] of Object.entries(config.terms)) glossary.set(term.toLowerCase(), meaning);
});

proxy.tool("define", {
  description: "Says what a term means in this project.",
  input: z.object({ term: z.string().trim().min(1).describe("A word, or a few, as it was used.") }),
  readOnly: true,
  closedWorld: true,
}, ({ term }) => {
  const meaning = glossary.get(term.toLowerCase());
  if (!meaning) throw new Error(`the glossary has no ${term}; it has ${[...glossary.keys()].join(", ")}`);
  return meaning;
});

export const { handler, tools } = proxy;
