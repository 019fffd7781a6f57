// A proxy that shouts: it turns the text of prompts into capitals, adds a file that it asks the
// client for, and counts the chunks that stream back.
import { cancel, proxyId as name, log, read, request, settle } from "acp-chain:proxy/channel@0.1.0";
import { defineHandler } from "./proxy.js";

/** @import { Action, Edit, Head, MessageId } from "acp-chain:proxy/types@0.1.0" */
/** @import { Notification, Request, Response } from "acp-chain:proxy/types@0.1.0" */
/** @typedef {{ prompt: MessageId, file: MessageId, edits: Edit[] }} Held */

/** @type {string | undefined} */
let file;
/** @type {Held[]} */
const held = []; // prompts that wait for the file
/** @type {Map<string | null, number>} */
const chunks = new Map(); // session → chunks since its last answer

/** @type {Action} */
const forward = { tag: "forward" };
/** @type {Action} */
const hold = { tag: "hold" };
/** @type {(...edits: Edit[]) => Action} */
const edit = (...edits) => ({ tag: "edit", val: edits });
/** @type {(pointer: string, value: unknown) => Edit} */
const set = (pointer, value) => ({ pointer, change: { tag: "set", val: JSON.stringify(value) } });

// Letters of ASCII only: toUpperCase would turn "ß" into "SS".
/** @type {(text: string) => string} */
const shout = (text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/**
 * Takes the prompt with this number, or the one that waits for the file with this number.
 * @param {MessageId} id
 */
function take(id) {
  const at = held.findIndex((one) => one.prompt === id || one.file === id);
  return at < 0 ? undefined : held.splice(at, 1)[0];
}

/** @type {(held: Held, outcome: Response["outcome"]) => void} */
function onFile({ prompt, edits }, outcome) {
  const content = outcome.tag === "ok" ? JSON.parse(outcome.val)?.content : undefined;
  if (typeof content === "string") {
    edits.push(set("/prompt/-", { type: "text", text: shout(content) }));
  } else {
    const why = outcome.tag === "err" ? outcome.val.message : "no content";
    log("warn", `the client did not give ${file}: ${why}`);
  }
  settle(prompt, edit(...edits));
}

/** @type {(request: Request) => Action} */
function onRequest({ head, params }) {
  const edits = /** @type {any[]} */ (JSON.parse(params).prompt).flatMap(({ type, text }, n) =>
    type === "text" ? [set(`/prompt/${n}/text`, shout(text))] : [],
  );
  if (!file) return edit(...edits);
  const ask = JSON.stringify({ sessionId: head.session, path: file });
  held.push({ prompt: head.id, file: request("client", "fs/read_text_file", ask), edits });
  return hold;
}

/** @type {(notification: Notification) => Action} */
function onNotification({ head }) {
  if (read(head.id, "/update/sessionUpdate") === '"agent_message_chunk"') {
    chunks.set(head.session, (chunks.get(head.session) ?? 0) + 1);
  }
  return forward;
}

/** @type {(head: Head, outcome: Response["outcome"]) => Action} */
function onTurn({ id, session }, outcome) {
  const count = { chunks: chunks.get(session) ?? 0 };
  chunks.delete(session);
  if (outcome.tag === "err") return forward;
  // A mark may only stand under our own name.
  return edit(set(`/_meta/acp-chain~1${name()}`, count));
}

/** @type {(response: Response) => Action} */
function onResponse({ head, outcome }) {
  const prompt = take(head.id);
  if (prompt) onFile(prompt, outcome);
  else if (head.method === "session/prompt") return onTurn(head, outcome);
  return forward;
}

/** @type {(id: MessageId) => void} */
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
    return {
      subscriptions: [
        { method: "session/prompt", sender: "client", kinds: { request: true }, withBody: true },
        { method: "session/prompt", sender: "agent", kinds: { response: true }, withBody: false },
        { method: "session/update", sender: "agent", kinds: { notification: true }, withBody: false },
      ],
      onFailure: "bypass",
      guard: false,
    };
  },
  onRequest,
  onNotification,
  onResponse,
  onCancel,
});
