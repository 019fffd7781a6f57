#!/usr/bin/env node
// A client over the npm SDK, of a server: it plays the transcript that `../README.md` has, and prints what it got.
//
// `remote.mjs URL FOLDER`
import { EventEmitter, once } from "node:events";
import { client, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { WebSocket } from "ws";

const [url, folder] = process.argv.slice(2);
const stream = url.startsWith("ws") ? createWebSocketStream(url, { WebSocket }) : createHttpStream(url);

const texts = new Map(); // session → what streamed back
const streamed = new EventEmitter();

function takeIn({ params: { sessionId, update } }) {
  if (!["user_message_chunk", "agent_message_chunk"].includes(update.sessionUpdate)) return;
  texts.set(sessionId, (texts.get(sessionId) ?? "") + update.content.text);
  streamed.emit("more");
}

// Waits until what streamed back ends with this, and takes it out. Answers may overtake what streams.
async function until(session, end) {
  while (!texts.get(session)?.endsWith(end)) await once(streamed, "more");
  const text = texts.get(session);
  texts.delete(session);
  return text;
}

function say(step, got) {
  console.log(JSON.stringify({ [step]: got }));
}

function allow({ params: { toolCall, options } }) {
  say("permission", { title: toolCall.title, options: options.map((option) => option.optionId) });
  return { outcome: { outcome: "selected", optionId: options[0].optionId } };
}

const app = client({ name: "npm-remote" })
  .onNotification(methods.client.session.update, takeIn)
  .onRequest(methods.client.session.requestPermission, allow)
  .onRequest(methods.client.fs.readTextFile, () => ({ content: "Always be kind." }));
const connection = app.connect(stream);
const { agent } = connection;

async function newSession() {
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });
  say("session", { id: sessionId });
  return sessionId;
}

function prompt(sessionId, ...blocks) {
  const texts = blocks.map((text) => ({ type: "text", text }));
  return agent.request(methods.agent.session.prompt, { sessionId, prompt: texts });
}

const { agentInfo, agentCapabilities } = await agent.request(methods.agent.initialize, {
  protocolVersion: PROTOCOL_VERSION,
  clientCapabilities: { fs: { readTextFile: true } },
});
say("initialize", { agent: agentInfo?.name, loadSession: agentCapabilities?.loadSession });

const one = await newSession();
let { stopReason } = await prompt(
  one,
  "streamed in pieces",
  "permission edit Write the notes /project/notes.txt",
  "key AKIAIOSFODNN7EXAMPLQ, the end",
);
say("prompt", { text: await until(one, "]"), stopReason });

const two = await newSession();
const running = prompt(two, "echo running.\nwait");
await until(two, "running.");
({ stopReason } = await prompt(one, "echo meanwhile."));
say("meanwhile", { text: await until(one, "meanwhile."), stopReason });
await agent.notify(methods.agent.session.cancel, { sessionId: two });
({ stopReason } = await running);
say("cancel", { stopReason });

try {
  await prompt(one, 'fail {"code":-32042,"message":"no luck","data":{"n":1}}');
} catch ({ code, message, data }) {
  say("error", { code, message, data });
}

// With what stands around it, it stays below the 1 MiB that WebSocket clients take.
const large = `${"x".repeat(2 ** 20 - 4096)}.`;
({ stopReason } = await prompt(one, `echo ${large}`));
say("large", { same: (await until(one, ".")) === large, stopReason });

await agent.request(methods.agent.session.load, { sessionId: "stored", cwd: folder, mcpServers: [] });
say("load", { text: await until("stored", "answer.") });

connection.close();
await connection.closed;
say("closed", {});
