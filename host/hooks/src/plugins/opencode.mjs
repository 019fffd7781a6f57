// For opencode and kilo. A throw before a tool runs refuses it; one afterwards would only fail the call. `ONLY_TO_START`
// stands before: variables that no command of a tool gets.
export const AcpChain = async ({ client, directory }) => {
  await decide("session_start", { cwd: directory })

  // The sessions that a subagent's is within, the nearest first; none if they cannot all be found.
  async function parents(session) {
    const found = []
    try {
      for (let id = session; id && found.length < 64; ) {
        const { data } = await client.session.get({ path: { id } })
        if (data.id !== id) return []
        found.push(id)
        id = data.parentID
      }
    } catch {
      return []
    }
    return found.slice(1)
  }

  // The server of a tool, of which the name begins with that of the server; empty if it is not known whether the tool
  // is the agent's own, whose place one of a server may take.
  async function server(tool) {
    if (!tool.includes("_")) return undefined
    try {
      const { data } = await client.mcp.status()
      const found = Object.keys(data).filter((name) => tool.startsWith(`${name.replace(/[^\w-]/g, "_")}_`))
      return found.length > 1 ? "" : found[0]
    } catch {
      return ""
    }
  }

  const report = async (input, rest) => ({
    session: input.sessionID,
    parents: await parents(input.sessionID),
    call: input.callID,
    tool: input.tool,
    server: await server(input.tool),
    cwd: directory,
    ...rest,
  })
  return {
    // Each folder has plugins of its own, so each new session gives a sign of life.
    event: async ({ event }) => {
      if (event.type !== "session.created") return
      await decide("session_start", { session: event.properties.info.id }).catch(() => {})
    },
    "tool.execute.before": async (input, output) => {
      for (const name of ONLY_TO_START) delete process.env[name]
      // A model could have a subagent go on with any session, so that the proxies of that one decide. Without the id,
      // a new session begins.
      const { task_id } = output.args
      const goes_on = input.tool === "task" && task_id
      if (goes_on && (await parents(task_id))[0] !== input.sessionID) delete output.args.task_id
      const decision = await decide("before_tool", await report(input, { input: output.args }))
      if (decision.refuse !== undefined) throw new Error(decision.refuse)
      if (decision.input !== undefined) replace(output.args, decision.input)
    },
    "tool.execute.after": async (input, output) => {
      const withheld = (reason) => ({ title: "", output: reason, metadata: {} })
      try {
        const result = { ...output }
        const run = await report(input, { input: input.args ?? {}, output: texts(result) })
        const decision = await decide("after_tool", run)
        if (decision.refuse !== undefined) replace(output, withheld(decision.refuse))
        if (decision.output !== undefined) replace(output, withTexts(result, decision.output))
      } catch {
        replace(output, withheld(REFUSED))
      }
    },
  }
}
