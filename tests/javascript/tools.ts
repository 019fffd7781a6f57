// Tools by schemas of all kinds, and all that a tool may give.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import * as z from "zod";
import { defineProxy, reject, text, toolsChanged } from "../sdk/acp-chain.js";

const proxy = defineProxy({ instructions: "Use them all." });
let isSecret = true;

const point = z.object({ x: z.number(), y: z.number().default(7), name: z.string().trim().min(2).optional() });
proxy.tool("zod", { description: "A point.", input: point, output: z.object({ sum: z.number() }) }, ({ x, y }) => ({ sum: x + y }));

const names = toStandardJsonSchema(v.object({ names: v.pipe(v.array(v.string()), v.minLength(1)) }));
proxy.tool("valibot", { description: "Names.", input: names }, ({ names }) => names.join(" and "));

const json = { type: "object", properties: { n: { type: "integer" }, unit: { enum: ["km", "mi"] } }, required: ["n"] } as const;
proxy.tool("json", { description: "A length.", input: json, idempotent: true }, ({ n, unit }) => `${n} ${unit ?? "m"}`);

proxy.tool("blocks", { description: "Blocks." }, () => [text("one"), text("two")]);
proxy.tool("whole", { description: "A whole result." }, () => ({ content: [text("no")], isError: true }));
proxy.tool("nothing", { description: "Nothing." }, () => {});
proxy.tool("protocol", { description: "What the model need not see." }, () => reject(-32603, "closed"));
proxy.tool("asks", { description: "Asks the caller." }, async (_, call) => {
  call.progress(1, 2, "half");
  if (!call.can("elicitation")) return "cannot ask";
  const { content } = await call.ask("elicitation/create", { message: "Name?", requestedSchema: { type: "object", properties: {} } });
  return `${content.name} in ${call.session}`;
});
proxy.tool("secret", { description: "Comes later.", when: () => !isSecret }, () => "found");
proxy.tool("reveal", { description: "Reveals the secret." }, () => {
  isSecret = false;
  toolsChanged();
  return "revealed";
});

export const { handler, tools } = proxy;
