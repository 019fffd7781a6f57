#!/usr/bin/env node
// An agent over the npm SDK. It streams each text of a prompt back in at most three chunks. Where a
// text has the word "permission" it asks to edit a file, and says what came of it; where it has the
// word "wait" the turn goes on until `session/cancel`. A session that is loaded has one earlier turn.
//
// `agent.mjs --serve` is the same by HTTP and WebSocket: it prints the address at which it listens, and then each request
// on a line. It sets a cookie and, if `TOKEN` is set, wants that. With `CERTIFICATE` and `KEY`, which are files, it speaks
// TLS, and then HTTP/2 too.
import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const serves = process.argv.includes("--serve");
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

const app = agent({ name: "npm-agent" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "npm-agent", version: "1.0.0" },
    agentCapabilities: { loadSession: serves },
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: randomUUID() }))
  .onRequest(methods.agent.session.load, async ({ params: { sessionId }, client }) => {
    await say(client, sessionId, "as it was");
    return {};
  })
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
  });

async function serve() {
  const { createServer } = await import("node:http");
  const { createSecureServer } = await import("node:http2");
  const { readFileSync } = await import("node:fs");
  const { AcpServer } = await import("@agentclientprotocol/sdk/experimental/server");
  const node = await import("@agentclientprotocol/sdk/experimental/node");
  const { WebSocketServer } = await import("ws");
  const acp = new AcpServer({ agent: app });
  const answer = node.createNodeHttpHandler(acp);
  const isLetIn = ({ headers }) => !process.env.TOKEN || headers.authorization === `Bearer ${process.env.TOKEN}`;
  const told = ({ method, url, headers, httpVersion }) => {
    const session = headers["acp-session-id"] ? "session" : "-";
    console.log([method, url, session, headers.cookie ?? "-", httpVersion].join(" "));
  };
  const serve = (request, response) => {
    told(request);
    // The SDK takes those of HTTP/2 that are none for headers.
    const headers = Object.entries(request.headers).filter(([name]) => !name.startsWith(":"));
    Object.defineProperty(request, "headers", { value: Object.fromEntries(headers) });
    if (!isLetIn(request)) return response.writeHead(401).end("who are you?");
    response.setHeader("Set-Cookie", "place=here; Path=/; HttpOnly");
    return answer(request, response);
  };
  const { CERTIFICATE, KEY } = process.env;
  const server = CERTIFICATE
    ? createSecureServer({ cert: readFileSync(CERTIFICATE), key: readFileSync(KEY), allowHTTP1: true }, serve)
    : createServer(serve);
  const upgrade = node.createNodeWebSocketUpgradeHandler(acp, new WebSocketServer({ noServer: true }));
  server.on("upgrade", (request, socket, head) => {
    told(request);
    if (!isLetIn(request)) return socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    return upgrade(request, socket, head);
  });
  server.listen(0, "127.0.0.1", () => console.log(`127.0.0.1:${server.address().port}`));
}

if (serves) {
  await serve();
} else {
  app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}
