// A proxy that shouts: it turns the text of prompts into capitals, adds a file that it asks the
// client for, and counts the chunks that stream back.
import { cancel, id as name, log, read, request, settle } from "acp-chain:proxy/channel@0.1.0";
import { defineHandler } from "./proxy.js";

let file;
const held = []; // { prompt, file, edits }: prompts that wait for the file
const chunks = new Map(); // session → chunks since its last answer

const forward = { tag: "forward" };
const hold = { tag: "hold" };
const edit = (...edits) => ({ tag: "edit", val: edits });
const set = (pointer, value) => ({ pointer, change: { tag: "set", val: JSON.stringify(value) } });

// Letters of ASCII only: toUpperCase would turn "ß" into "SS".
const shout = (text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

// Takes the prompt with this number, or the one that waits for the file with this number.
function take(id) {
  const at = held.findIndex((one) => one.prompt === id || one.file === id);
  return at < 0 ? undefined : held.splice(at, 1)[0];
}

function onFile({ prompt, edits }, outcome) {
  const content = outcome.tag === "ok" ? JSON.parse(outcome.val)?.content : undefined;
  if (typeof content === "string") {
    edits.push(set("/prompt/-", { type: "text", text: shout(content) }));
  } else {
    log("warn", `the client did not give ${file}: ${outcome.val?.message ?? "no content"}`);
  }
  settle(prompt, edit(...edits));
}

function onRequest({ head, params }) {
  const edits = JSON.parse(params).prompt.flatMap(({ type, text }, n) =>
    type === "text" ? [set(`/prompt/${n}/text`, shout(text))] : [],
  );
  if (!file) return edit(...edits);
  const ask = JSON.stringify({ sessionId: head.session, path: file });
  held.push({ prompt: head.id, file: request("client", "fs/read_text_file", ask), edits });
  return hold;
}

function onNotification({ head }) {
  if (read(head.id, "/update/sessionUpdate") === '"agent_message_chunk"') {
    chunks.set(head.session, (chunks.get(head.session) ?? 0) + 1);
  }
  return forward;
}

function onTurn({ id, session }, outcome) {
  const count = { chunks: chunks.get(session) ?? 0 };
  chunks.delete(session);
  if (outcome.tag === "err") return forward;
  // A mark may only stand under our own name.
  return edit(set(`/_meta/acp-chain~1${name()}`, count));
}

function onResponse({ head, outcome }) {
  const prompt = take(head.id);
  if (prompt) onFile(prompt, outcome);
  else if (head.method === "session/prompt") return onTurn(head, outcome);
  return forward;
}

function onCancel(id) {
  const prompt = take(id);
  if (!prompt) return;
  cancel(prompt.file);
  settle(id, { tag: "reject", val: { code: -32800, message: "Request cancelled", data: null } });
}

// What a function throws becomes its `err`, and with our `onFailure` the message goes on unchanged.
export const handler = defineHandler({
  init: (config) => {
    file = JSON.parse(config).file;
    const subscriptions = [
      { method: "session/prompt", sender: "client", kinds: { request: true }, withBody: true },
      { method: "session/prompt", sender: "agent", kinds: { response: true }, withBody: false },
      { method: "session/update", sender: "agent", kinds: { notification: true }, withBody: false },
    ];
    return { subscriptions, onFailure: "bypass", guard: false };
  },
  onRequest,
  onNotification,
  onResponse,
  onCancel,
});
