#!/usr/bin/env node
// A client over the npm SDK: `client.mjs PROMPT FOLDER… -- AGENT [ARGS…]` starts the agent, opens a session in each
// folder, prompts all of them at once, and prints a line of JSON for each: its folder, the text that streamed back,
// and why the turn ended.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const [prompt, ...rest] = process.argv.slice(2);
const end = rest.indexOf("--");
const [folders, [program, ...args]] = [rest.slice(0, end), rest.slice(end + 1)];
const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));

const texts = new Map(); // session → what streamed back
const app = client({ name: "npm-client" }).onNotification(methods.client.session.update, ({ params }) => {
  const { sessionId, update } = params;
  if (update.sessionUpdate === "agent_message_chunk") {
    texts.set(sessionId, (texts.get(sessionId) ?? "") + update.content.text);
  }
});

const { agent } = app.connect(stream);
await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION });
const turns = folders.map(async (folder) => {
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });
  const { stopReason } = await agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: "text", text: prompt }],
  });
  console.log(JSON.stringify({ folder, text: texts.get(sessionId), stopReason }));
});
await Promise.all(turns);
child.stdin.end();
child.on("exit", (code) => process.exit(code ?? 1));
