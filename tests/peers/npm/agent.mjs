#!/usr/bin/env node
// An agent over the npm SDK. It streams each text of a prompt back in at most three chunks. Where a
// text has the word "permission" it asks to edit a file, and says what came of it; where it has the
// word "wait" the turn goes on until `session/cancel`.
import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const turns = new Map(); // session → the AbortController of its turn

function say(client, sessionId, text) {
  return client.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  });
}

async function echo(client, sessionId, text) {
  const letters = [...text]; // whole code points, so that no chunk ends in half a letter
  const size = Math.max(1, Math.ceil(letters.length / 3));
  for (let at = 0; at < letters.length; at += size) {
    await say(client, sessionId, letters.slice(at, at + size).join(""));
  }
}

async function askPermission(client, sessionId) {
  const toolCall = {
    toolCallId: randomUUID(),
    title: "Edit notes.txt",
    kind: "edit",
    locations: [{ path: "/project/notes.txt" }],
  };
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall,
    options: [
      { kind: "allow_once", name: "Allow", optionId: "allow" },
      { kind: "reject_once", name: "Reject", optionId: "reject" },
    ],
  });
  await say(client, sessionId, `permission: ${outcome.optionId ?? outcome.outcome}`);
}

async function turn(client, { sessionId, prompt }, signal) {
  for (const { text } of prompt.filter((block) => block.type === "text")) {
    await echo(client, sessionId, text);
    if (text.includes("permission")) await askPermission(client, sessionId);
    if (/wait/i.test(text)) await delay(2 ** 31 - 1, undefined, { signal });
    if (signal.aborted) break;
  }
}

agent({ name: "npm-agent" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "npm-agent", version: "1.0.0" },
    agentCapabilities: {},
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: randomUUID() }))
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const abort = new AbortController();
    turns.set(params.sessionId, abort);
    try {
      await turn(client, params, abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    }
    return { stopReason: abort.signal.aborted ? "cancelled" : "end_turn" };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    turns.get(params.sessionId)?.abort();
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
