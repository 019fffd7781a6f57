#!/usr/bin/env node
// What stands between the public conformance suite, which speaks HTTP and knows no secrets, and a
// server. It prints its port.
//
// `relay URL AUTHORIZATION` passes requests on to a URL, with that header. `gateway COMMAND ARGS…`
// starts a server on standard input and output: one for each session, and one for all requests that
// stand alone.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import http from "node:http";
import { createInterface } from "node:readline";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";

const [mode, ...args] = process.argv.slice(2);
const children = new Set();

function relay(request, response) {
  const [target, authorization] = args;
  const { host, hostname, port, pathname } = new URL(target);
  const headers = { ...request.headers, authorization };
  // A foreign name is the server's to refuse.
  if (request.headers.host === `127.0.0.1:${server.address().port}`) headers.host = host;
  const { method } = request;
  const on = http.request({ hostname, port, path: pathname, method, headers, setHost: false });
  on.on("response", (answer) => {
    response.writeHead(answer.statusCode, answer.headers).flushHeaders();
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  on.on("error", () => response.destroy());
  response.on("close", () => on.destroy());
  request.pipe(on);
}

// A server on standard input and output; `hear` gets what it says.
function start(hear) {
  const [command, ...rest] = args;
  const child = spawn(command, rest, { stdio: ["pipe", "pipe", "ignore"] });
  children.add(child);
  child.on("exit", () => children.delete(child));
  createInterface(child.stdout).on("line", (line) => hear(JSON.parse(line)));
  child.stdin.on("error", () => {});
  return { say: (message) => child.stdin.write(`${JSON.stringify(message)}\n`), child };
}

const sessions = new Map();

async function inSession(request, response) {
  const session = request.headers["mcp-session-id"];
  let transport = sessions.get(session);
  if (!transport) {
    if (session) return response.writeHead(404).end();
    const program = start((message) => {
      const id = message.method === undefined ? message.id : undefined;
      const token = message.params?.progressToken;
      const relatedRequestId = id ?? tokens.get(token) ?? (calls.size === 1 ? [...calls][0] : undefined);
      calls.delete(id);
      transport.send(message, { relatedRequestId }).catch(() => {});
    });
    const calls = new Set();
    const tokens = new Map();
    transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
      onsessionclosed: (id) => sessions.delete(id),
    });
    transport.onmessage = (message) => {
      const token = message.params?._meta?.progressToken;
      if (message.method && message.id !== undefined) calls.add(message.id);
      if (token !== undefined) tokens.set(token, message.id);
      program.say(message);
    };
    transport.onclose = () => program.child.kill();
    await transport.start();
  }
  await transport.handleRequest(request, response);
}

// Requests that stand alone: ids of ours tell their answers apart.
let shared;
let last = 0;
const open = new Map();

// A server may take from the first request that is no probe which versions it is to speak.
function begin() {
  const program = start(hear);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  program.say({ jsonrpc: "2.0", id: ++last, method: "tools/list", params: { _meta } });
  const answered = (resolve) => () => open.delete(1) && resolve(program);
  return new Promise((resolve) => open.set(1, answered(resolve)));
}

function hear(message) {
  const { params } = message;
  const about = params?._meta?.["io.modelcontextprotocol/subscriptionId"] ?? params?.progressToken;
  const id = message.method === undefined ? message.id : about;
  const call = open.get(id) ?? (open.size === 1 ? [...open.values()][0] : undefined);
  call?.(message);
}

async function alone(request, response) {
  const chunks = await request.toArray();
  const asked = JSON.parse(Buffer.concat(chunks));
  const { say } = await (shared ??= begin());
  const id = ++last;
  const meta = asked.params?._meta;
  const token = meta?.progressToken;
  const sent = structuredClone({ ...asked, id });
  if (token !== undefined) sent.params._meta.progressToken = id;
  let streams = false;
  open.set(id, (message) => {
    const told = message.params;
    if (told?.progressToken !== undefined) told.progressToken = token;
    for (const part of [told, message.result]) {
      const key = "io.modelcontextprotocol/subscriptionId";
      if (part?._meta?.[key] !== undefined) part._meta[key] = asked.id;
    }
    const isLast = message.method === undefined;
    if (isLast) open.delete(id);
    const text = JSON.stringify(isLast ? { ...message, id: asked.id } : message);
    if (isLast && !streams) {
      const code = message.error?.code;
      const isOurs = code === -32602 && !meta?.["io.modelcontextprotocol/clientCapabilities"];
      const status = code === -32601 ? 404 : isOurs || code <= -32020 && code > -32100 ? 400 : 200;
      return response.writeHead(status, { "content-type": "application/json" }).end(text);
    }
    if (!streams) response.writeHead(200, { "content-type": "text/event-stream" });
    streams = true;
    response.write(`data: ${text}\n\n`);
    if (isLast) response.end();
  });
  response.on("close", () => {
    if (!open.delete(id)) return;
    say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
  });
  say(sent);
}

function gateway(request, response) {
  const version = request.headers["mcp-protocol-version"] ?? "2025";
  return (version.startsWith("2025") ? inSession : alone)(request, response);
}

const server = http.createServer(mode === "relay" ? relay : gateway);
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
const end = () => {
  for (const child of children) child.kill();
  process.exit();
};
process.stdin.on("end", end).resume();
process.on("SIGTERM", end);
