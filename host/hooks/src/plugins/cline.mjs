// For Cline: a plugin, which runs in a process of its session.
let session

const report = ({ snapshot, tool, toolCall }, rest) => ({
  session,
  subagent: snapshot?.parentAgentId ? snapshot.agentId : undefined,
  call: toolCall?.toolCallId,
  tool: tool?.name ?? toolCall?.toolName,
  ...rest,
})

export default {
  name: "acp-chain",
  manifest: { capabilities: ["hooks"] },
  async setup(_, context) {
    session = context?.session?.sessionId
    // Cline ends a plugin that is not set up within four seconds, and goes on without.
    const sign = decide("session_start", { session }).catch(() => {})
    await Promise.race([sign, new Promise((resolve) => setTimeout(resolve, 2000).unref())])
  },
  hooks: {
    async beforeTool(context) {
      try {
        const decision = await decide("before_tool", report(context, { input: context.input ?? {} }))
        if (decision.refuse !== undefined) return { skip: true, reason: decision.refuse }
        if (decision.input !== undefined) return { input: decision.input }
      } catch {
        return { skip: true, reason: REFUSED }
      }
    },
    async afterTool(context) {
      const withheld = (output) => ({ result: { output, isError: true } })
      try {
        const run = { input: context.input ?? {}, output: texts(context.result) }
        const decision = await decide("after_tool", report(context, run))
        if (decision.refuse !== undefined) return withheld(decision.refuse)
        if (decision.output !== undefined) return { result: withTexts(context.result, decision.output) }
      } catch {
        return withheld(REFUSED)
      }
    },
  },
}
