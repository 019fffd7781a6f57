#!/usr/bin/env node
// A stand-in for agents with hooks, which runs them as the real ones do: Claude Code behind its adapter, opencode or
// Cline, by the name of its package. The file that ACP_CHAIN_TEST_AGENT names gets a line for each of what it was started
// with, the set-ups of sessions, the prompts, their cancellation, and the results that a model would get.
//
// The text of a prompt is a JSON list of steps, which are done in order; those of a list within it are done at once. A
// step is a run of `Bash`, `Read`, `Write` or another tool, which does nothing, `{ tool, input }`, or "wait", which lasts
// until the turn is cancelled. A run with `skips` runs no hooks, one with `claims` is only reported, and one with `filler` has that many more bytes in its input. The steps of
// `{ task }` are those of a subagent; of one with `lost`, the agent cannot say whose it is, and one with `resumes` goes
// on with the session of this name.
//
// With --says VERSION, its answer to `initialize` names that version. With --deaf, it never runs a hook; with --deletes or --edits, it first does that to its plugins.
"use strict"
const { spawn } = require("node:child_process")
const fs = require("node:fs")
const path = require("node:path")
const readline = require("node:readline")
const { fileURLToPath } = require("node:url")
const { name: packageName } = require("../package.json")

const has = (flag) => process.argv.includes(flag)
const option = (name) => (has(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined)
const log = (entry) => fs.appendFileSync(process.env.ACP_CHAIN_TEST_AGENT, `${JSON.stringify(entry)}\n`)
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const tell = (session, update) =>
  send({ method: "session/update", params: { sessionId: session.id, update } })

// Runs a command, and returns how it ended.
function shell(command, cwd, input = "") {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", command], { cwd })
    let [out, err] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (part) => (out += part))
    child.stderr.setEncoding("utf8").on("data", (part) => (err += part))
    child.on("error", (error) => resolve({ code: 127, out, err: String(error) }))
    child.on("close", (code) => resolve({ code, out, err }))
    // A command need not read its input.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
}

// Runs Claude's hooks of an event. A refusal by any of them counts; of other decisions, the last one.
async function runHooks(session, event, report) {
  const hooks = (session.hooks[event] ?? []).flatMap((group) => group.hooks)
  const input = JSON.stringify({ session_id: session.id, hook_event_name: event, cwd: session.cwd, ...report })
  const decisions = hooks.map(async ({ command, onFailure }) => {
    const { code, out, err } = await shell(command, session.cwd, input)
    const isBlocked = code === 2 || (code !== 0 && onFailure === "block")
    if (isBlocked) return { refuse: err || `exit code ${code}` }
    const answer = out.startsWith("{") ? JSON.parse(out).hookSpecificOutput ?? {} : {}
    const decision = {}
    if (answer.permissionDecision === "deny") decision.refuse = answer.permissionDecisionReason
    if (answer.updatedInput) decision.input = answer.updatedInput
    if (answer.updatedToolOutput !== undefined) decision.output = answer.updatedToolOutput
    return decision
  })
  return Object.assign({}, ...(await Promise.all(decisions)))
}

// The members of a value and their types.
const shape = (value) =>
  JSON.stringify(value, (_, part) => (typeof part === "object" ? part : typeof part))

const claude = {
  tool: (name) => name,
  subagent: (session) => session,
  async begin(session, params) {
    session.hooks = params._meta?.claudeCode?.options?.settings?.hooks ?? {}
    await runHooks(session, "SessionStart", { source: "startup" })
  },
  prompt: (session, prompt) => runHooks(session, "UserPromptSubmit", { prompt }),
  before: (session, call) => runHooks(session, "PreToolUse", call),
  async after(session, call, { failed, text, response }) {
    if (failed) {
      // No hook can change what the model gets of a failure.
      await runHooks(session, "PostToolUseFailure", { ...call, error: text })
      return text
    }
    const { output } = await runHooks(session, "PostToolUse", { ...call, tool_response: response })
    // A result in another form is ignored without a word.
    return output !== undefined && shape(output) === shape(response) ? output : response
  },
}

const opencode = {
  tool: (name) => name.toLowerCase(),
  // It has a session of its own, of which ACP does not know.
  async subagent(session, { lost, resumes }) {
    const call = { tool_name: "task", tool_use_id: `call-${++calls}`, tool_input: { task_id: resumes } }
    const { input } = await opencode.before(session, call)
    const child = { ...session, id: `child-of-${session.id}`, parentID: session.id, isHidden: true }
    const resumed = sessions.get(input.task_id) ?? children.get(input.task_id)
    if (resumed) return { ...child, id: resumed.id }
    children.set(child.id, lost ? undefined : child)
    return child
  },
  async begin(session) {
    const { plugin: urls = [] } = JSON.parse(process.env.OPENCODE_CONFIG_CONTENT || "{}")
    for (const url of urls) {
      tamper(fileURLToPath(url))
      try {
        for (const plugin of Object.values(await import(url))) {
          session.hooks.push(await plugin({ client, directory: session.cwd }))
        }
      } catch (error) {
        // It goes on without a plugin that does not load.
        log({ unloaded: String(error) })
      }
    }
    const event = { type: "session.created", properties: { info: { id: session.id } } }
    for (const hooks of session.hooks) await hooks.event?.({ event })
  },
  prompt() {},
  async before(session, call) {
    const output = { args: { ...call.tool_input } }
    try {
      for (const hooks of session.hooks) await hooks["tool.execute.before"]?.(named(session, call), output)
    } catch (error) {
      return { refuse: error.message }
    }
    return { input: output.args }
  },
  async after(session, call, { text }) {
    const input = { ...named(session, call), args: call.tool_input }
    const output = { title: call.tool_name, output: text, metadata: {} }
    for (const hooks of session.hooks) await hooks["tool.execute.after"]?.(input, output)
    return output.output
  },
}

const named = (session, call) => ({
  tool: call.tool_name,
  sessionID: session.id,
  callID: call.tool_use_id,
})

const client = {
  session: {
    async get({ path: { id } }) {
      const found = sessions.get(id) ?? children.get(id)
      return found ? { data: { id, directory: found.cwd, parentID: found.parentID } } : { error: {} }
    },
  },
}

const cline = {
  tool: (name) => (name === "Bash" ? "execute_command" : name),
  subagent: (session) => ({ ...session, snapshot: { agentId: "second", parentAgentId: "first" } }),
  begin() {},
  async prompt(session) {
    if (session.hooks.length) return
    const folder = path.join(process.env.CLINE_DIR, "plugins")
    for (const name of fs.readdirSync(folder)) {
      // Each session has a process for its plugins, and so its own modules.
      const source = `${fs.readFileSync(path.join(folder, name), "utf8")}\n// ${session.id}`
      const { default: plugin } = await import(`data:text/javascript,${encodeURIComponent(source)}`)
      await plugin.setup({}, { session: { sessionId: session.id } })
      session.hooks.push(plugin.hooks)
    }
  },
  async before(session, call) {
    const context = contextOf(session, call)
    for (const hooks of session.hooks) {
      const decision = (await hooks.beforeTool(context)) ?? {}
      if (decision.skip) return { refuse: decision.reason }
      context.input = decision.input ?? context.input
    }
    return { input: context.input }
  },
  async after(session, call, { text }) {
    const context = { ...contextOf(session, call), result: { output: text } }
    for (const hooks of session.hooks) {
      context.result = (await hooks.afterTool(context))?.result ?? context.result
    }
    return context.result.output
  },
}

const contextOf = (session, call) => ({
  snapshot: session.snapshot,
  tool: { name: call.tool_name },
  toolCall: { toolCallId: call.tool_use_id, toolName: call.tool_name },
  input: call.tool_input,
})

function tamper(file) {
  if (has("--deletes") || has("--edits")) fs.rmSync(file)
  if (has("--edits")) fs.writeFileSync(file, "export const Nothing = async () => ({})\n")
}

const agent = { "opencode-ai": opencode, cline }[packageName] ?? claude

async function perform(session, { tool_name, tool_input }) {
  if (tool_name === "Read") {
    const content = fs.readFileSync(tool_input.file_path, "utf8")
    return { text: content, response: { type: "text", file: { filePath: tool_input.file_path, content } } }
  }
  if (tool_name === "Write") {
    fs.writeFileSync(tool_input.file_path, tool_input.content)
    return { text: "written", response: { type: "create", filePath: tool_input.file_path } }
  }
  // Other tools do nothing here.
  if (tool_input.command === undefined) return { text: "done", response: { text: "done" } }
  const { code, out, err } = await shell(tool_input.command, session.cwd)
  const failed = code !== 0
  const text = failed ? `Exit code ${code}\n${out}${err}` : out + err
  return { failed, text, response: { stdout: out, stderr: err, interrupted: false } }
}

async function runTool(session, { tool, input, skips, claims, filler }) {
  const toolCallId = `call-${++calls}`
  const show = (update) => session.isHidden || tell(session, { toolCallId, ...update })
  const call = { tool_use_id: toolCallId, tool_name: agent.tool(tool), tool_input: input }
  if (filler) call.tool_input = { ...input, filler: "x".repeat(filler) }
  const kind = tool === "Read" ? "read" : "execute"
  show({ sessionUpdate: "tool_call", title: input.command ?? tool, kind, status: "pending" })
  const end = (status, result) => {
    log({ model: result })
    const text = typeof result === "string" ? result : JSON.stringify(result)
    const content = [{ type: "content", content: { type: "text", text } }]
    show({ sessionUpdate: "tool_call_update", status, content })
  }
  if (claims) return end("completed", "")
  const decision = skips ? {} : await agent.before(session, call)
  if (decision.refuse !== undefined) return end("failed", decision.refuse)
  if (decision.input) call.tool_input = decision.input
  const done = await perform(session, call)
  end(done.failed ? "failed" : "completed", skips ? done.text : await agent.after(session, call, done))
}

const sessions = new Map()
const children = new Map()
let calls = 0

async function begin(id, params) {
  log({ setup: params })
  const session = { id, cwd: params.cwd, hooks: [], snapshot: { agentId: "first" }, stop() {} }
  sessions.set(id, session)
  if (!has("--deaf")) await agent.begin(session, params)
  return session
}

const methods = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: true },
    ...(has("--says") && { agentInfo: { name: packageName, version: option("--says") } }),
  }),

  async "session/new"(params) {
    const session = await begin(sessions.size ? `s${sessions.size}` : "s", params)
    return { sessionId: session.id }
  },

  // With a history in which a tool ran.
  async "session/load"(params) {
    const session = await begin(params.sessionId, params)
    const toolCallId = "call-of-yesterday"
    tell(session, { sessionUpdate: "user_message_chunk", content: { type: "text", text: "Build it." } })
    tell(session, { sessionUpdate: "tool_call", toolCallId, title: "make", kind: "execute", status: "pending" })
    tell(session, { sessionUpdate: "tool_call_update", toolCallId, status: "completed" })
  },

  async "session/prompt"({ sessionId, prompt }) {
    const session = sessions.get(sessionId)
    const text = prompt.map((block) => block.text ?? "").join("")
    log({ prompt: text })
    let stopReason = "end_turn"
    const stopped = new Promise((resolve) => {
      session.stop = () => {
        log({ cancelled: sessionId })
        stopReason = "cancelled"
        resolve()
      }
    })
    if (!has("--deaf")) await agent.prompt(session, text)
    const take = (session) => async (step) => {
      if (step === "wait") return stopped
      if (Array.isArray(step)) return Promise.all(step.map(take(session)))
      if (!step.task) return runTool(session, step)
      return inOrder(await agent.subagent(session, step), step.task)
    }
    const inOrder = async (session, steps) => {
      for (const step of steps) await take(session)(step)
    }
    await inOrder(session, JSON.parse(text))
    return { stopReason }
  },

  "session/cancel": ({ sessionId }) => sessions.get(sessionId)?.stop(),
}

log({
  started: {
    socket: process.env.ACP_CHAIN_HOOK_SOCKET,
    token: process.env.ACP_CHAIN_HOOK_TOKEN,
    config: process.env.OPENCODE_CONFIG_CONTENT,
    policy: option("--admin-policy"),
  },
})
readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line)
  let answer
  try {
    answer = { result: (await methods[method]?.(params)) ?? {} }
  } catch (error) {
    answer = { error: { code: -32603, message: String(error) } }
  }
  if (id !== undefined) send({ id, ...answer })
})
