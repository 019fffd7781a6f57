#!/usr/bin/env node
// A client over the npm SDK that provides an MCP server, `workshop`, over ACP, each request of which
// stands alone: `npm-mcp-client AGENT PROMPT…`. It has one session with the program AGENT, and
// prints a line of JSON for each prompt: `text`, all that was streamed, and `stopReason`.
//
// The tools: `greet` gives text and data, `steps` tells of its progress, `name` asks the user for a
// name before it answers, `refuse` is an error of MCP, `break` one outside of it, `wait` is never done
// and cancels the turn once it is called where it has a progress token of the text "p", `waited` says
// how many calls of `wait` were withdrawn, and `change` tells that the tools are others now.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import {
  client,
  McpOverAcpProvider,
  McpProtocolError,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk/unstable";

const [program, ...prompts] = process.argv.slice(2);
const mcp = new McpOverAcpProvider();

const object = (properties, required = []) => ({ type: "object", properties, required });
const words = (text) => ({ resultType: "complete", content: [{ type: "text", text }] });
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const listeners = new Set(); // operations of `subscriptions/listen` that wait for changes
let waited = 0;

const aborted = (signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", resolve);
  });
const fresh = { ttlMs: 0, cacheScope: "private" };

const tools = {
  greet: {
    description: "Greets somebody.",
    inputSchema: object({ name: { type: "string" } }, ["name"]),
    outputSchema: object({ greeting: { type: "string" } }, ["greeting"]),
    call: ({ params }) => {
      const greeting = `Hello, ${params.arguments.name}`;
      return { ...words(greeting), structuredContent: { greeting } };
    },
  },
  steps: {
    description: "Goes three steps.",
    inputSchema: object({}),
    call: async ({ params, notify }) => {
      const progressToken = params._meta.progressToken;
      for (const progress of [1, 2, 3]) {
        if (progressToken === undefined) break;
        await notify("notifications/progress", { progressToken, progress, total: 3 });
      }
      return words("three steps");
    },
  },
  name: {
    description: "Asks for a name.",
    inputSchema: object({}),
    call: ({ params }) => {
      const given = params.inputResponses?.name;
      if (given) return words(`It is ${given.content?.name ?? given.action}`);
      const requestedSchema = object({ name: { type: "string" } }, ["name"]);
      const asked = { mode: "form", message: "Which name?", requestedSchema };
      return {
        resultType: "input_required",
        inputRequests: { name: { method: "elicitation/create", params: asked } },
        requestState: "asked once",
      };
    },
  },
  refuse: {
    description: "Refuses.",
    inputSchema: object({}),
    call: () => {
      throw new McpProtocolError(-32602, "not like this");
    },
  },
  wait: {
    description: "Waits for ever.",
    inputSchema: object({}),
    call: async ({ params, notify, signal }) => {
      const progressToken = params._meta.progressToken;
      if (progressToken === "p") await agent.notify(methods.agent.session.cancel, { sessionId });
      else if (progressToken !== undefined) {
        await notify("notifications/progress", { progressToken, progress: 1 });
      }
      await aborted(signal);
      waited += 1;
      throw new Error("nobody waits any more");
    },
  },
  waited: {
    description: "Says how often nobody waited any more.",
    inputSchema: object({}),
    call: () => words(`${waited}`),
  },
  change: {
    description: "Changes the tools.",
    inputSchema: object({}),
    call: async () => {
      for (const { requestId, notify } of listeners) {
        const _meta = { [SUBSCRIPTION]: requestId };
        await notify("notifications/tools/list_changed", { _meta });
      }
      return words(`${listeners.size} told`);
    },
  },
  break: {
    description: "Breaks.",
    inputSchema: object({}),
    call: () => {
      throw new Error("it broke");
    },
  },
};

/** Tells of changes until the request is withdrawn. */
async function listen(operation) {
  const { requestId, params, notify, signal } = operation;
  const { notifications } = params;
  const _meta = { [SUBSCRIPTION]: requestId };
  await notify("notifications/subscriptions/acknowledged", { notifications, _meta });
  listeners.add(operation);
  await aborted(signal);
  listeners.delete(operation);
  throw new Error("nobody listens any more");
}

function answer(operation) {
  const { method, params } = operation;
  switch (method) {
    case "server/discover":
      return {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true } },
        instructions: "Ask before you enter.",
        ...fresh,
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "workshop", version: "1.0.0" } },
      };
    case "tools/list": {
      const listed = Object.entries(tools).map(([name, { call, ...tool }]) => ({ name, ...tool }));
      return { resultType: "complete", tools: listed, ...fresh };
    }
    case "tools/call": {
      const tool = tools[params.name];
      if (!tool) throw new McpProtocolError(-32602, `Unknown tool: ${params.name}`);
      return tool.call(operation);
    }
    case "subscriptions/listen":
      return listen(operation);
    default:
      throw new McpProtocolError(-32601, `Method not found: ${method}`);
  }
}

let streamed = "";
const app = client({ name: "npm-mcp-client" })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === "agent_message_chunk") streamed += update.content.text;
  })
  .onRequest(methods.client.mcp.message, mcp.handleRequest);

const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const { agent } = app.connect(stream);
await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION });
const handler = async (operation) => ({ result: await answer(operation) });
const { declaration } = mcp.registerServer(agent, { name: "workshop", handler });
const { sessionId } = await agent.request(methods.agent.session.new, {
  cwd: process.cwd(),
  mcpServers: [declaration],
});
for (const text of prompts) {
  streamed = "";
  const prompt = [{ type: "text", text }];
  const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
  console.log(JSON.stringify({ text: streamed, stopReason }));
}
child.stdin.end();
child.on("exit", (code) => process.exit(code ?? 1));
