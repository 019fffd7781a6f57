// A proxy that shouts: it turns the text of prompts into capitals, adds a file that it asks the
// client for, and counts the chunks that stream back.
import { cancel, log, read, request, settle } from "acp-chain:proxy/channel@0.1.0";

let file;
const held = []; // { prompt, file, params }: prompts that wait for the file
const chunks = new Map(); // session → chunks since its last answer

const forward = { tag: "forward" };
const hold = { tag: "hold" };
const replace = (body) => ({ tag: "replace", val: JSON.stringify(body) });

// Letters of ASCII only: toUpperCase would turn "ß" into "SS".
const shout = (text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

// Takes the prompt with this number, or the one that waits for the file with this number.
function take(id) {
  const at = held.findIndex((one) => one.prompt === id || one.file === id);
  return at < 0 ? undefined : held.splice(at, 1)[0];
}

function onFile({ prompt, params }, outcome) {
  const content = outcome.tag === "ok" ? JSON.parse(outcome.val)?.content : undefined;
  if (typeof content === "string") {
    params.prompt.push({ type: "text", text: shout(content) });
  } else {
    log("warn", `the client did not give ${file}: ${outcome.val?.message ?? "no content"}`);
  }
  settle(prompt, replace(params));
}

// What a handler throws becomes its `err`, and the message is refused. That has to be a string:
// anything else would be a trap, and the end of this instance. An error of the channel comes as an
// `Error` with the variant as its `payload`.
const refusing = (handle) => (message) => {
  try {
    return handle(message);
  } catch (error) {
    throw error.payload ? JSON.stringify(error.payload) : String(error);
  }
};

function onRequest({ head, params: body }) {
  const params = JSON.parse(body);
  for (const block of params.prompt) {
    if (block.type === "text") block.text = shout(block.text);
  }
  if (!file) return replace(params);
  const ask = JSON.stringify({ sessionId: params.sessionId, path: file });
  held.push({ prompt: head.id, file: request("client", "fs/read_text_file", ask), params });
  return hold;
}

function onNotification({ head }) {
  if (read(head.id, "/update/sessionUpdate") === '"agent_message_chunk"') {
    chunks.set(head.session, (chunks.get(head.session) ?? 0) + 1);
  }
  return forward;
}

function onResponse({ head, outcome }) {
  const prompt = take(head.id);
  if (prompt) {
    onFile(prompt, outcome);
  } else if (head.method === "session/prompt" && outcome.tag === "ok") {
    const result = JSON.parse(outcome.val);
    const count = chunks.get(head.session) ?? 0;
    chunks.delete(head.session);
    return replace({ ...result, _meta: { ...result._meta, shout: { chunks: count } } });
  }
  return forward;
}

export const handler = {
  init: refusing((config) => {
    file = JSON.parse(config).file;
    return [
      { method: "session/prompt", sender: "client", kinds: { request: true }, withBody: true },
      { method: "session/prompt", sender: "agent", kinds: { response: true }, withBody: true },
      { method: "session/update", sender: "agent", kinds: { notification: true }, withBody: false },
    ];
  }),
  onRequest: refusing(onRequest),
  onNotification: refusing(onNotification),
  onResponse: refusing(onResponse),
  onCancel(id) {
    const prompt = take(id);
    if (!prompt) return;
    cancel(prompt.file);
    settle(id, { tag: "reject", val: { code: -32800, message: "Request cancelled", data: null } });
  },
};
