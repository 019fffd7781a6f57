#!/usr/bin/env node
// A scripted model on loopback, for real agents. It prints its port, then `hold` whenever an answer is
// begun and not finished.
//
// A prompt says what the model does: `[[text]]` answers with a text, `[[shell]]` calls the agent's shell,
// `[[probe]]` and `[[add]]` call the tools of the MCP server `probe`, `[[todo]]` calls that of `todo`, and
// `[[hold]]` begins an answer that has no end. After the result of a tool comes a text that says whether MARK was in it. A request
// without tools, as for a title, gets a text.
//
// It speaks what the agents speak: `dialects.mjs`. At `/mcp` is the MCP server of `tools.mjs`, for agents that start none.
import http from "node:http";
import zlib from "node:zlib";
import { dialects } from "./dialects.mjs";
import { answer } from "./tools.mjs";

const MARK = "mark-42";
// What it prints is not in it.
const COMMAND = "printf 'mark-%d' 42";
const SCRIPT = /\[\[(\w+)\]\]/g;
const SHELL =
  /^(bash|shell|shell_command|exec_command|run_shell_command|run_commands?|execute|launch-process)$/i;

// By the words of a prompt: which tool, and the values of its parameters by their names.
const TOOLS = {
  shell: {
    fits: (name) => SHELL.test(name),
    values: {
      command: COMMAND,
      cmd: COMMAND,
      commands: [COMMAND],
      cwd: "/",
      wait: true,
      max_wait_seconds: 20,
    },
  },
  probe: {
    fits: (name) => /probe/.test(name) && /echo/.test(name),
    values: { message: MARK },
  },
  add: {
    fits: (name) => /probe/.test(name) && /add/.test(name),
    values: { tasks: [{ text: MARK }] },
  },
  todo: {
    fits: (name) => /(^|[^a-z])todo[^a-z]+add$|^add[^a-z]+todo$/.test(name),
    values: { tasks: [{ text: MARK }] },
  },
};

function empty(schema) {
  if (schema.enum) return schema.enum[0];
  const type = [schema.type ?? schema.anyOf?.[0]?.type].flat()[0];
  return { array: [], boolean: false, integer: 1, number: 1, object: {} }[type] ?? "words";
}

function input({ schema }, values) {
  const { properties = {}, required = [] } = schema ?? {};
  const known = Object.entries(values).filter(([name]) => name in properties);
  const rest = required.filter((name) => !(name in values));
  return Object.fromEntries([...known, ...rest.map((name) => [name, empty(properties[name])])]);
}

// In Codex' code mode the model writes JavaScript, which has the tools of servers by their names.
function code(word) {
  const call = {
    shell: `tools.exec_command(${JSON.stringify({ cmd: COMMAND })})`,
    probe: `tools.mcp__probe__echo(${JSON.stringify(TOOLS.probe.values)})`,
    add: `tools.mcp__probe__add(${JSON.stringify(TOOLS.add.values)})`,
    todo: `tools.mcp__todo__add(${JSON.stringify(TOOLS.todo.values)})`,
  }[word];
  return `text(await ${call})`;
}

// What the model does: `text`, `call` with `input`, or `hold`.
function decide({ tools, items }) {
  const words = items.map(({ user }) => [...(user ?? "").matchAll(SCRIPT)].at(-1)?.[1]);
  const at = words.findLastIndex(Boolean);
  const word = words[at];
  if (tools.length === 0) return { text: "A title" };
  if (word === "hold") return { hold: true };
  const result = items.slice(at + 1).find((item) => item.result !== undefined)?.result;
  if (result?.includes(MARK)) return { text: `The tool said ${MARK}.` };
  if (result !== undefined) return { text: `The tool said: ${result.slice(0, 300)}` };
  if (!(word in TOOLS)) return { text: "All is well." };
  const { fits, values } = TOOLS[word];
  const tool = tools.find(({ name }) => fits(name));
  if (tool) return { call: tool, input: input(tool, values) };
  const exec = tools.find(({ name, custom }) => custom && name === "exec");
  if (exec) return { call: exec, input: code(word) };
  return { text: `No such tool: ${tools.map(({ name }) => name).join(", ")}` };
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const unpack = { gzip: zlib.gunzipSync, zstd: zlib.zstdDecompressSync };
  const bytes = Buffer.concat(chunks);
  const body = unpack[request.headers["content-encoding"]]?.(bytes) ?? bytes;
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}

function json(response, value, status = 200) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function mcp(request, response, message) {
  if (request.method !== "POST") return response.writeHead(405).end();
  const answered = answer(message);
  return answered ? json(response, answered) : response.writeHead(202).end();
}

const MODEL = { id: "mock-model", object: "model", created: 1, owned_by: "mock" };

const server = http.createServer(async (request, response) => {
  const path = request.url.split("?")[0];
  const body = await read(request);
  const dialect = dialects.find(({ at }) => at.test(path));
  if (path === "/mcp") return mcp(request, response, body);
  if (request.method === "GET") return json(response, { object: "list", data: [MODEL], models: [] });
  if (/count_?tokens$/i.test(path)) return json(response, { input_tokens: 10, totalTokens: 10 });
  if (path.endsWith("/get-models")) {
    return json(response, { default_model: MODEL.id, models: [], languages: [], feature_flags: {} });
  }
  if (!dialect) return json(response, {}, 404);
  const deed = decide(dialect.read(body));
  console.error(path, JSON.stringify(deed.call ? { ...deed, call: deed.call.name } : deed));
  const stream = dialect.streams(body, path);
  if (deed.hold && !stream) return console.log("hold");
  if (!stream) return json(response, dialect.whole(deed, body));
  response.writeHead(200, { "content-type": dialect.type ?? "text/event-stream" });
  for (const event of dialect.events(deed.hold ? { text: "I begin" } : deed, body)) {
    // Its end is what tells an agent that an answer is finished.
    if (deed.hold && dialect.ends(event)) return console.log("hold");
    response.write(dialect.line(event));
  }
  response.end();
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
// It ends with what has started it.
process.stdin.on("end", () => process.exit()).resume();
