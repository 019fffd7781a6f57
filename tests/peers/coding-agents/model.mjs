#!/usr/bin/env node
// A scripted model on loopback, for real agents: `model.mjs REQUESTS`. It prints its port, then `hold` whenever an
// answer is begun and not finished. Each request is a line of the file REQUESTS: the script, the tool's result that
// follows it, and the body.
//
// A prompt says what the model does: `[[text]]` answers with a text, `[[shell]]` calls the agent's shell,
// `[[shell COMMAND]]` with this command, `[[loop COMMAND]]` again and again, `[[calls COUNT COMMAND]]` so many times, with
// the number of the call behind the command, `[[read PATH]]` calls what reads a file, `[[write PATH TEXT]]` what writes one
// (`\n` is the end of a line), `[[fetch URL]]` what fetches a page, `[[subagent KIND COMMAND]]` has a subagent of this
// kind (`-`: of none) call its shell, `[[probe]]` and `[[add]]` call the tools of the MCP server `probe`, `[[todo]]` calls
// that of `todo`, and `[[hold]]` begins an answer that has no end. `[[steps A ;; B ;; C]]` makes such calls one after the
// other, whatever their results are. After the result of a tool comes a text that says whether MARK was in it. A request
// without tools, as for a title, gets a text.
//
// It speaks what the agents speak: `dialects.mjs`. At `/mcp` is the MCP server of `tools.mjs`, for agents that start none.
import fs from "node:fs";
import http from "node:http";
import zlib from "node:zlib";
import { dialects } from "./dialects.mjs";
import { answer } from "./tools.mjs";

const REQUESTS = process.argv[2];
const MARK = "mark-42";
// What it prints is not in it.
const COMMAND = "printf 'mark-%d' 42";
// Enough to be called a loop.
const MOST_CALLS = 30;
const SCRIPT = /\[\[(\w+)(?: (.*?))?\]\]/g;
const SHELL =
  /^(bash|shell|shell_command|exec_command|run_shell_command|run_commands?|execute|launch-process)$/i;
const READ = /^(read|read_file|read_files|view)$/i;
const WRITE = /^(write|write_file|create|save-file)$/i;
const FETCH = /^(web_?fetch|web-fetch|fetch_web_content)$/i;
const SUBAGENT = /(^|__)(task|agent|spawn_agent)$/i;

const script = (word) => `Do as the script says: [[${word}]]`;

// A call of `fits`, with the values of its parameters by their names; `code` is the call in JavaScript.
const shell = (command = COMMAND) => ({
  fits: (name) => SHELL.test(name),
  values: { command, cmd: command, commands: [command], cwd: "/", wait: true, max_wait_seconds: 20 },
  code: `exec_command(${JSON.stringify({ cmd: command })})`,
});
const read = (path) => ({
  fits: (name) => READ.test(name),
  values: {
    ...{ file_path: path, filePath: path, absolute_path: path, path },
    ...{ paths: [path], files: [{ path }], type: "file" },
  },
});
const write = (path, text) => ({
  fits: (name) => WRITE.test(name),
  values: {
    ...{ file_path: path, filePath: path, absolute_path: path, path },
    ...{ content: text, file_content: text, file_text: text },
  },
});
const fetched = (url) => ({
  fits: (name) => FETCH.test(name),
  values: { url, prompt: "What does it say?", requests: [{ url }] },
});
const subagent = (kind, prompt) => ({
  fits: (name) => SUBAGENT.test(name),
  values: {
    ...{ prompt, message: prompt, task: prompt, description: "a task" },
    ...(kind === "-" ? {} : { subagent_type: kind, agent_type: kind }),
    ...{ mode: "sync", run_in_background: false },
  },
});
const served = (server, tool, fits, values) => ({
  fits,
  values,
  code: `mcp__${server}__${tool}(${JSON.stringify(values)})`,
});
const tasks = { tasks: [{ text: MARK }] };

// By the words of a prompt, with what follows them, and the number of results so far: the calls, of which the first whose
// tool is on offer is made.
const CALLS = {
  shell: (command) => [shell(command)],
  loop: (command) => [shell(command)],
  calls(rest, number) {
    const [, ...command] = rest.split(" ");
    return [shell([...command, number + 1].join(" "))];
  },
  // Some agents read files by their shell.
  read: (path) => [read(path), shell(`cat ${path}`)],
  write(rest) {
    const [path, ...text] = rest.split(" ");
    return [write(path, text.join(" ").replaceAll("\\n", "\n"))];
  },
  fetch: (url) => [fetched(url)],
  subagent(rest) {
    const [kind, ...command] = rest.split(" ");
    return [subagent(kind, script(`shell ${command.join(" ")}`))];
  },
  probe: () => [served("probe", "echo", (name) => /probe/.test(name) && /echo/.test(name), { message: MARK })],
  add: () => [served("probe", "add", (name) => /probe/.test(name) && /add/.test(name), tasks)],
  todo: () => [
    served("todo", "add", (name) => /(^|[^a-z])todo[^a-z]+add$|^add[^a-z]+todo$/.test(name), tasks),
  ],
};

function empty(schema) {
  if (schema.enum) return schema.enum[0];
  const type = [schema.type ?? schema.anyOf?.[0]?.type].flat()[0];
  return { array: [], boolean: false, integer: 1, number: 1, object: {} }[type] ?? "words";
}

function input({ schema }, values) {
  const { properties = {}, required = [] } = schema ?? {};
  const permits = (name, value) => name in properties && (properties[name].enum ?? [value]).includes(value);
  const known = Object.fromEntries(Object.entries(values).filter(([name, value]) => permits(name, value)));
  const rest = required.filter((name) => name in properties && !(name in known));
  return { ...known, ...Object.fromEntries(rest.map((name) => [name, empty(properties[name])])) };
}

// What a conversation asks for last, the result of the tool that was called for it, and the number of all results.
function state({ items }) {
  const scripts = items.map(({ user }) => [...(user ?? "").matchAll(SCRIPT)].at(-1));
  const at = scripts.findLastIndex(Boolean);
  const [, word, rest] = scripts[at] ?? [];
  const results = items.slice(at + 1).filter((item) => item.result !== undefined);
  return { word, rest, result: results[0]?.result, number: results.length };
}

// What the model does: `text`, `call` with `input`, or `hold`.
function decide({ tools }, { word, rest, result, number }) {
  if (tools.length === 0) return { text: "A title" };
  if (word === "hold") return { hold: true };
  const step = word === "steps" ? rest.split(" ;; ")[number] : undefined;
  const most = { loop: MOST_CALLS, calls: Number.parseInt(rest, 10) }[word] ?? 0;
  const goesOn = step !== undefined || number < most;
  if (!goesOn && result?.includes(MARK)) return { text: `The tool said ${MARK}.` };
  if (!goesOn && result !== undefined) return { text: `The tool said: ${result.slice(0, 1000)}` };
  const [name, ...words] = step?.split(" ") ?? [word, rest];
  if (!(name in CALLS)) return { text: "All is well." };
  const calls = CALLS[name](words.join(" ") || undefined, number);
  for (const { fits, values } of calls) {
    const tool = tools.find(({ name }) => fits(name));
    if (tool) return { call: tool, input: input(tool, values) };
  }
  // In Codex' code mode the model writes JavaScript, which has the tools by their names.
  const exec = tools.find(({ name, custom }) => custom && name === "exec");
  const { code } = calls.at(-1);
  if (exec && code) return { call: exec, input: `text(await tools.${code})` };
  return { text: `No such tool: ${tools.map(({ name }) => name).join(", ")}` };
}

async function parsed(request) {
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
  const body = await parsed(request);
  const dialect = dialects.find(({ at }) => at.test(path));
  if (path === "/mcp") return mcp(request, response, body);
  if (request.method === "GET") return json(response, { object: "list", data: [MODEL], models: [] });
  if (/count_?tokens$/i.test(path)) return json(response, { input_tokens: 10, totalTokens: 10 });
  if (path.endsWith("/get-models")) {
    // Without these, Auggie has no hooks and no plugins.
    const feature_flags = { enable_hooks: true, enable_plugin_marketplace: true };
    return json(response, { default_model: MODEL.id, models: [], languages: [], feature_flags });
  }
  if (!dialect) return json(response, {}, 404);
  const conversation = dialect.read(body);
  const asked = state(conversation);
  const line = { script: [asked.word, asked.rest].filter(Boolean).join(" "), result: asked.result, body };
  fs.appendFileSync(REQUESTS, `${JSON.stringify(line)}\n`);
  const deed = decide(conversation, asked);
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
