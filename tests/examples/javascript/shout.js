// A proxy that shouts: it turns the text of prompts into capitals, adds a file that it asks the
// client for, and counts the chunks that stream back.
import { client, defineProxy, log, proxyId, RpcError, set, text } from "../../../host/author/sdk/javascript/acp-chain.js";

const proxy = defineProxy({ onFailure: "bypass" });

/** @type {string | undefined} */
let file;
/** @type {Map<string, number>} */
const chunks = new Map(); // session → chunks since its last answer

proxy.onStart(({ config }) => {
  file = config.file;
});

// Letters of ASCII only: toUpperCase would turn "ß" into "SS". A few at a time, since what a repetition matches takes the
// engine twenty times the memory.
const shout = (/** @type {string} */ words) => words.replace(/[a-z]{1,100}/g, (letters) => letters.toUpperCase());

proxy.onRequest("session/prompt", { from: "client" }, async ({ session, params }) => {
  const edits = params.prompt.flatMap((block, n) =>
    block.type === "text" ? [set(`/prompt/${n}/text`, shout(block.text))] : [],
  );
  const added = file && (await read(session, file));
  return added ? [...edits, set("/prompt/-", text(shout(added)))] : edits;
});

/** @type {(sessionId: string, path: string) => Promise<string | undefined>} */
async function read(sessionId, path) {
  try {
    const { content } = await client.request("fs/read_text_file", { sessionId, path });
    if (typeof content === "string") return content;
    log.warn(`the client did not give ${path}: no content`);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    log.warn(`the client did not give ${path}: ${error.message}`);
  }
}

proxy.onNotification("session/update", { from: "agent", body: false }, (update) => {
  if (update.read("/update/sessionUpdate") !== "agent_message_chunk") return;
  chunks.set(update.session, (chunks.get(update.session) ?? 0) + 1);
});

proxy.onResponse("session/prompt", { from: "agent", body: false }, ({ session, error }) => {
  const count = { chunks: chunks.get(session) ?? 0 };
  chunks.delete(session);
  // A mark may only stand under our own name.
  if (!error) return [set(`/_meta/acp-chain~1${proxyId()}`, count)];
});

export const { handler } = proxy;
