// For pi: an extension.
export default function (pi) {
  const session = (context) => context.sessionManager.getSessionId()
  pi.on("session_start", async (_, context) => {
    await decide("session_start", { session: session(context) })
  })
  pi.on("tool_call", async (event, context) => {
    try {
      const decision = await decide("before_tool", {
        session: session(context),
        call: event.toolCallId,
        tool: event.toolName,
        input: event.input,
      })
      if (decision.refuse !== undefined) return { block: true, reason: decision.refuse }
      if (decision.input !== undefined) replace(event.input, decision.input)
    } catch {
      return { block: true, reason: REFUSED }
    }
  })
  pi.on("tool_result", async (event, context) => {
    const withheld = (text) => ({ content: [{ type: "text", text }], details: undefined, isError: true })
    try {
      const result = { content: event.content, details: event.details }
      const decision = await decide("after_tool", {
        session: session(context),
        call: event.toolCallId,
        tool: event.toolName,
        input: event.input ?? {},
        output: texts(result),
        failed: event.isError === true,
      })
      if (decision.refuse !== undefined) return withheld(decision.refuse)
      if (decision.output !== undefined) return { ...withTexts(result, decision.output), isError: event.isError }
    } catch {
      return withheld(REFUSED)
    }
  })
}
