// Resources, prompts and completion: what the agent has of a proxy besides tools.
import { client, defineProxy, promptsChanged, reject, resourceChanged, resourcesChanged, text } from "../sdk/acp-chain.js";

const proxy = defineProxy({ instructions: "Read the notes first." });
const notes = new Map([["one", "1"], ["two", "2"]]);
const like = (value: string) => [...notes.keys()].filter((name) => name.startsWith(value));
let isLate = false;

proxy.resource("notes:/index", { name: "index", description: "All notes.", mimeType: "text/plain" }, () =>
  [...notes.keys()].join("\n"));
proxy.resource("notes:/{name}", { name: "note", complete: { name: like } }, ({ name }) => notes.get(name));
proxy.resource("files:/{+path}", { name: "file" }, async ({ path }, { session }) => {
  const { content } = await client.request("fs/read_text_file", { sessionId: session ?? "", path });
  return [{ text: content, mimeType: "text/x-rust" }, { blob: "AAE=" }];
});
proxy.resource("notes:/secret", {}, () => reject(-32050, "not for you"));
proxy.resource("notes:/late", { when: () => isLate }, () => { throw new Error("too late"); });

proxy.prompt("review", {
  description: "Reviews a note.",
  arguments: {
    note: { description: "Its name.", complete: async (value, known) => [...like(value), ...Object.values(known)] },
    tone: { optional: true },
  },
}, ({ note, tone }) => [`Review ${notes.get(note) ?? "nothing"}, ${tone?.toUpperCase() ?? "kindly"}.`, text("Be brief.")]);
proxy.prompt("talk", { description: "Begins a talk.", when: () => isLate }, () => ({
  messages: [{ role: "assistant", content: text("Yes?") }],
}));
proxy.prompt("late", { description: "Comes later." }, () => {
  isLate = true;
  resourcesChanged();
  resourceChanged("notes:/index");
  promptsChanged();
  return "Now.";
});

export const { handler, resources, prompts, completion } = proxy;
