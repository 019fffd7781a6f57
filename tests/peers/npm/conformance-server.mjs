#!/usr/bin/env node
// An MCP server over the npm SDK, with what the public conformance suite calls, in every version that
// the SDK knows: on standard input and output, or with the argument `http` over streamable HTTP, on a
// port of the loopback interface that it prints.
//
// What the suite wants of a server is in its scenarios; `tests/tests/conformance` says what is left out.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const codec = createRequestStateCodec({ key: randomUUID() });
const text = (text) => ({ type: "text", text });
const words = (words) => ({ content: [text(words)] });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const user = (content) => ({ role: "user", content });
const object = (properties = {}, required = []) => ({ type: "object", properties, required });
const string = { type: "string" };
const soon = () => new Promise((resolve) => setTimeout(resolve, 20));

// What a client is asked for in the middle of a request.
const ask = (message, name) =>
  inputRequired.elicit({ message, requestedSchema: object({ [name]: string }, [name]) });
const sample = (words, maxTokens) =>
  inputRequired.createMessage({ messages: [user(text(words))], maxTokens });

// Asks for something once, and ends with what came of it.
const once = (requests, said, state) => async (_, ctx) => {
  const given = ctx.mcpReq.inputResponses ?? {};
  if (Object.keys(requests).every((name) => given[name] !== undefined)) {
    return said(given, ctx.mcpReq.requestState());
  }
  const requestState = state && (await codec.mint({ state }));
  return inputRequired({ inputRequests: requests, requestState });
};

const content = (given) => JSON.stringify(given);
const elicited = async (params, ctx) => {
  const { action, content } = await ctx.mcpReq.elicitInput(params);
  return words(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
};
const choices = (values) => values.map((value) => ({ const: value, title: `The ${value}` }));

const tools = {
  test_simple_text: { call: () => words("This is a simple text response for testing.") },
  test_image_content: { call: () => ({ content: [image] }) },
  test_audio_content: {
    call: () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] }),
  },
  test_embedded_resource: {
    call: () => ({
      content: [
        {
          type: "resource",
          resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "Embedded." },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    call: () => ({
      content: [
        text("Multiple content types test:"),
        image,
        {
          type: "resource",
          resource: { uri: "test://mixed", mimeType: "application/json", text: '{"test":"data"}' },
        },
      ],
    }),
  },
  test_tool_with_logging: {
    call: async (_, ctx) => {
      for (const step of ["started", "processing", "completed"]) {
        await ctx.mcpReq.log("info", `Tool execution ${step}`);
        await soon();
      }
      return words("logged");
    },
  },
  test_tool_with_progress: {
    call: async (_, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken === undefined) break;
        const params = { progressToken, progress, total: 100 };
        await ctx.mcpReq.notify({ method: "notifications/progress", params });
        await soon();
      }
      return words("done");
    },
  },
  test_error_handling: {
    call: () => ({ ...words("This tool intentionally returns an error for testing"), isError: true }),
  },
  test_sampling: {
    inputSchema: object({ prompt: string }, ["prompt"]),
    call: async ({ prompt }, ctx) => {
      const messages = [user(text(prompt))];
      const { content } = await ctx.mcpReq.requestSampling({ messages, maxTokens: 100 });
      return words(`LLM response: ${content.text}`);
    },
  },
  test_elicitation: {
    inputSchema: object({ message: string }, ["message"]),
    call: ({ message }, ctx) =>
      elicited({ message, requestedSchema: object({ username: string, email: string }) }, ctx),
  },
  test_elicitation_sep1034_defaults: {
    call: (_, ctx) =>
      elicited(
        {
          message: "Defaults",
          requestedSchema: object({
            name: { ...string, default: "John Doe" },
            age: { type: "integer", default: 30 },
            score: { type: "number", default: 95.5 },
            status: { ...string, enum: ["active", "inactive", "pending"], default: "active" },
            verified: { type: "boolean", default: true },
          }),
        },
        ctx,
      ),
  },
  test_elicitation_sep1330_enums: {
    call: (_, ctx) => {
      const values = ["one", "two", "three"];
      const list = (items) => ({ type: "array", items });
      return elicited(
        {
          message: "Choices",
          requestedSchema: object({
            untitledSingle: { ...string, enum: values },
            titledSingle: { ...string, oneOf: choices(values) },
            legacyEnum: { ...string, enum: values, enumNames: values },
            untitledMulti: list({ ...string, enum: values }),
            titledMulti: list({ anyOf: choices(values) }),
          }),
        },
        ctx,
      );
    },
  },
  test_input_required_result_elicitation: {
    call: once({ user_name: ask("What is your name?", "name") }, ({ user_name }) =>
      words(`Hello, ${user_name.content?.name}!`),
    ),
  },
  test_input_required_result_sampling: {
    call: once({ capital_question: sample("What is the capital of France?", 100) }, (given) =>
      words(content(given)),
    ),
  },
  test_input_required_result_list_roots: {
    call: once({ client_roots: inputRequired.listRoots() }, (given) => words(content(given))),
  },
  test_input_required_result_request_state: {
    call: once({ confirm: ask("Please confirm", "ok") }, () => words("state-ok"), "one"),
  },
  test_input_required_result_tampered_state: {
    call: once({ confirm: ask("Please confirm", "ok") }, () => words("state-ok"), "one"),
  },
  test_input_required_result_multiple_inputs: {
    call: once(
      {
        user_name: ask("What is your name?", "name"),
        greeting: sample("Generate a greeting", 50),
        client_roots: inputRequired.listRoots(),
      },
      (given) => words(content(given)),
      "one",
    ),
  },
  test_input_required_result_multi_round: {
    call: async (_, ctx) => {
      const state = ctx.mcpReq.requestState()?.state;
      const { step1, step2 } = ctx.mcpReq.inputResponses ?? {};
      if (state === "two" && step2) return words("both steps are done");
      const next = state === "one" && step1;
      return inputRequired({
        inputRequests: next
          ? { step2: ask("Step 2: What is your favorite color?", "color") }
          : { step1: ask("Step 1: What is your name?", "name") },
        requestState: await codec.mint({ state: next ? "two" : "one" }),
      });
    },
  },
  test_input_required_result_capabilities: {
    call: once({ greeting: sample("Generate a greeting", 50) }, (given) => words(content(given))),
  },
  test_missing_capability: {
    call: (_, ctx) => {
      const can = ctx.mcpReq.envelope?.["io.modelcontextprotocol/clientCapabilities"];
      const requiredCapabilities = { sampling: {} };
      if (!can?.sampling) throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
      return words("It can.");
    },
  },
};

const schema = { inputSchema: object() };
const listed = Object.entries(tools).map(([name, { call, ...tool }]) => ({
  name,
  description: name,
  ...schema,
  ...tool,
}));

const resource = (uri, mimeType) => ({ uri, mimeType, name: uri, description: uri });
const resources = [
  resource("test://static-text", "text/plain"),
  resource("test://static-binary", "image/png"),
  resource("test://watched-resource", "text/plain"),
];

function read(uri) {
  const [, id] = uri.match(/^test:\/\/template\/([^/]+)\/data$/) ?? [];
  if (id) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { uri, mimeType: "application/json", text };
  }
  const found = resources.find((resource) => resource.uri === uri);
  if (!found) throw new ResourceNotFoundError(uri);
  const { mimeType } = found;
  return mimeType === "image/png" ? { uri, mimeType, blob: PNG } : { uri, mimeType, text: uri };
}

const prompts = {
  test_simple_prompt: { get: () => [user(text("This is a simple prompt for testing."))] },
  test_prompt_with_arguments: {
    takes: ["arg1", "arg2"],
    get: ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    takes: ["resourceUri"],
    get: ({ resourceUri: uri }) => [
      user({ type: "resource", resource: { uri, mimeType: "text/plain", text: "Embedded." } }),
      user(text("Please process the embedded resource above.")),
    ],
  },
  test_prompt_with_image: { get: () => [user(image), user(text("Please analyze the image."))] },
};
const asks = once({ user_context: ask("What context?", "context") }, (given) => ({
  messages: [user(text(content(given)))],
}));

function serve() {
  const kept = { ttlMs: 0, cacheScope: "private" };
  const server = new Server(
    { name: "conformance", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: {},
        resources: { subscribe: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: codec.verify },
    },
  );
  const unknown = (what) => new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown ${what}`);
  server.setRequestHandler("tools/list", () => ({ tools: listed, ...kept }));
  server.setRequestHandler("tools/call", ({ params }, ctx) => {
    const tool = tools[params.name];
    if (!tool) throw unknown(`tool: ${params.name}`);
    return tool.call(params.arguments ?? {}, ctx);
  });
  server.setRequestHandler("resources/list", () => ({ resources, ...kept }));
  server.setRequestHandler("resources/templates/list", () => {
    const { uri, ...template } = resource("test://template/{id}/data", "application/json");
    return { resourceTemplates: [{ ...template, uriTemplate: uri }], ...kept };
  });
  server.setRequestHandler("resources/read", ({ params }) => ({
    contents: [read(params.uri)],
    ...kept,
  }));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.setRequestHandler("prompts/list", () => ({
    prompts: [
      ...Object.entries(prompts).map(([name, { takes = [] }]) => ({
        name,
        description: name,
        arguments: takes.map((name) => ({ name, description: name, required: true })),
      })),
      { name: "test_input_required_result_prompt", description: "It asks for more." },
    ],
    ...kept,
  }));
  server.setRequestHandler("prompts/get", ({ params }, ctx) => {
    if (params.name === "test_input_required_result_prompt") return asks(params, ctx);
    const prompt = prompts[params.name];
    if (!prompt) throw unknown(`prompt: ${params.name}`);
    return { messages: prompt.get(params.arguments ?? {}) };
  });
  server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["one", "two"], total: 2, hasMore: false },
  }));
  return server;
}

// Older clients have sessions, in which they can be asked things.
async function overHttp() {
  const sessions = new Map();
  const modern = toNodeHandler(createMcpHandler(serve, { legacy: "reject" }));
  const legacy = async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      if (request.headers["mcp-session-id"]) return response.writeHead(404).end();
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
        onsessionclosed: (id) => sessions.delete(id),
      });
      await serve().connect(transport);
    }
    await transport.handleRequest(request, response);
  };
  const server = createServer(async (request, response) => {
    const names = (header) => /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(header);
    const origin = request.headers.origin?.replace(/^https?:\/\//, "") ?? "localhost";
    if (!names(request.headers.host) || !names(origin)) return response.writeHead(403).end();
    const isModern = request.headers["mcp-protocol-version"]?.startsWith("2026");
    await (isModern || !knows(request) ? modern : legacy)(request, response);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  // Whoever started it may be killed.
  process.stdin.on("end", () => process.exit()).resume();
}

// Whether the version that a request names is one with sessions, or it names none.
const knows = (request) => /^2025-/.test(request.headers["mcp-protocol-version"] ?? "2025-");

if (process.argv[2] === "http") await overHttp();
else serveStdio(serve);
