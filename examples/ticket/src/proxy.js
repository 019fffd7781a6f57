// Adds the text of a ticket to a prompt that names it.
import { client, defineProxy, RpcError, set, text } from "../sdk/acp-chain.js";

// If the proxy breaks, prompts are forwarded unchanged.
const proxy = defineProxy({ onFailure: "bypass" });

let folder = "";

proxy.onStart(({ config }) => {
  folder = config.folder;
});

/**
 * The edit that adds the text of a ticket; undefined if the file cannot be read.
 * @param {string} session
 * @param {string} name
 */
async function read(session, name) {
  try {
    const path = `${folder}/${name}.md`;
    const { content } = await client.request("fs/read_text_file", { sessionId: session, path });
    return set("/prompt/-", text(`The ticket ${name}:\n\n${content}`));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    console.info(`no ticket ${name}: ${error.message}`);
  }
}

proxy.onRequest("session/prompt", { from: "client" }, async ({ session, params }) => {
  const written = params.prompt.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  const names = new Set(written.match(/\b[A-Z]{2,10}-\d{1,6}\b/g));
  const edits = await Promise.all([...names].map((name) => read(session, name)));
  return edits.filter((edit) => edit !== undefined);
});

export const { handler } = proxy;
