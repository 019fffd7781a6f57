#!/usr/bin/env node
// An agent over the npm SDK that reaches MCP servers over ACP, each request alone. Its prompts are:
//
//   List tools from SERVER
//   Use tool SERVER::TOOL with {json}
//   Ask SERVER for METHOD with {json}
//
// It streams each notification of a request back as `told: {json}`, and then `outcome: {json}`; if
// the request failed outside of MCP, `failed: CODE WORDS`. `session/cancel` withdraws the request.
import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import {
  agent,
  isMcpServerAcp,
  McpOverAcpCaller,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk/unstable";

const sessions = new Map(); // session → { servers, abort }
const mcp = new McpOverAcpCaller({ clientInfo: { name: "npm-mcp-agent", version: "1.0.0" } });

function say(client, sessionId, text) {
  return client.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  });
}

/** What a prompt asks for: a server's name, a method of MCP, and its params. */
function read(text) {
  const list = /^List tools from (\S+)$/.exec(text);
  if (list) return { name: list[1], method: "tools/list", params: {} };
  const use = /^Use tool (\S+)::(\S+) with (.+)$/s.exec(text);
  if (use) {
    const params = { name: use[2], arguments: JSON.parse(use[3]), _meta: { progressToken: "p" } };
    return { name: use[1], method: "tools/call", params };
  }
  const ask = /^Ask (\S+) for (\S+) with (.+)$/s.exec(text);
  if (ask) return { name: ask[1], method: ask[2], params: JSON.parse(ask[3]) };
  throw new Error(`not understood: ${text}`);
}

async function turn(client, sessionId, text, { servers, abort }) {
  const { name, method, params } = read(text);
  const server = servers.find((server) => server.name === name);
  if (!server) return say(client, sessionId, `no server ${name}`);
  const told = []; // in the order in which they came
  const onNotification = (notice) => told.push(say(client, sessionId, `told: ${JSON.stringify(notice)}`));
  let last;
  try {
    const options = { signal: abort.signal, onNotification };
    const outcome = await mcp.request(client, server.serverId, method, params, options);
    last = `outcome: ${JSON.stringify(outcome)}`;
  } catch (error) {
    last = `failed: ${error.code} ${error.message}`;
  }
  await Promise.all(told);
  await say(client, sessionId, last);
}

agent({ name: "npm-mcp-agent" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "npm-mcp-agent", version: "1.0.0" },
    agentCapabilities: { mcpCapabilities: { acp: true } },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const sessionId = randomUUID();
    sessions.set(sessionId, { servers: params.mcpServers.filter(isMcpServerAcp) });
    return { sessionId };
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const session = sessions.get(params.sessionId);
    session.abort = new AbortController();
    const text = params.prompt.map((block) => block.text ?? "").join("");
    await turn(client, params.sessionId, text, session);
    return { stopReason: session.abort.signal.aborted ? "cancelled" : "end_turn" };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    sessions.get(params.sessionId)?.abort?.abort();
  })
  .onNotification(methods.agent.mcp.message, mcp.handleNotification)
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
