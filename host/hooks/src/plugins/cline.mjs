// For Cline: a plugin, which runs in a process of its own. It does not inherit all of the environment, so that what
// it needs stands in a file beside it.
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const place = path.join(path.dirname(fileURLToPath(import.meta.url)), "acp-chain.json")
Object.assign(process.env, JSON.parse(fs.readFileSync(place, "utf8")))

const report = (context, rest) => ({
  call: context.toolCall?.toolCallId,
  tool: context.tool?.name ?? context.toolCall?.toolName,
  ...rest,
})

export default {
  name: "acp-chain",
  manifest: { capabilities: ["hooks"] },
  setup() {
    decide("session_start", {}).catch(() => {})
  },
  hooks: {
    async beforeTool(context) {
      try {
        const decision = await decide("before_tool", report(context, { input: context.input ?? {} }))
        if (decision.refuse) return { skip: true, reason: decision.refuse }
        if (decision.input) return { input: decision.input }
      } catch {
        return { skip: true, reason: REFUSED }
      }
    },
    async afterTool(context) {
      const withheld = (output) => ({ result: { output, isError: true } })
      try {
        const run = { input: context.input ?? {}, output: texts(context.result) }
        const decision = await decide("after_tool", report(context, run))
        if (decision.refuse) return withheld(decision.refuse)
        if (decision.output) return { result: withTexts(context.result, decision.output) }
      } catch {
        return withheld(REFUSED)
      }
    },
  },
}
