// For opencode and kilo. A throw before a tool runs refuses it; one afterwards would only fail the call.
export const AcpChain = async ({ directory }) => {
  await decide("session_start", { cwd: directory })
  const report = (input, rest) => ({
    session: input.sessionID,
    call: input.callID,
    tool: input.tool,
    cwd: directory,
    ...rest,
  })
  return {
    "tool.execute.before": async (input, output) => {
      const decision = await decide("before_tool", report(input, { input: output.args }))
      if (decision.refuse) throw new Error(decision.refuse)
      if (decision.input) replace(output.args, decision.input)
    },
    "tool.execute.after": async (input, output) => {
      const withheld = (reason) => ({ title: "", output: reason, metadata: {} })
      try {
        const result = { ...output }
        const run = report(input, { input: input.args ?? {}, output: texts(result) })
        const decision = await decide("after_tool", run)
        if (decision.refuse) replace(output, withheld(decision.refuse))
        if (decision.output) replace(output, withTexts(result, decision.output))
      } catch {
        replace(output, withheld(REFUSED))
      }
    },
  }
}
