// Tools for the agent: their list, and the results of calls.

import { Call } from "./call.js";
import { Cancelled } from "./errors.js";
import { trace } from "./locations.js";
import { checked } from "./options.js";
import * as wit from "./wit.js";

const INVALID_PARAMS = -32602;
const OPTIONS = [
  "title", "description", "input", "output", "readOnly", "onlyAdds", "idempotent", "closedWorld", "when",
];

/** All tools of a proxy. */
export class Tools {
  #tools = new Map();
  #instructions;

  constructor(instructions) {
    this.#instructions = instructions;
  }

  get size() {
    return this.#tools.size;
  }

  add(name, options, handler) {
    const called = `tool(${JSON.stringify(name)})`;
    if (typeof handler !== "function") throw new TypeError(`${called} takes a function last`);
    checked(called, options, OPTIONS);
    if (this.#tools.has(name)) throw new Error(`${called}: there is one already`);
    this.#tools.set(name, { ...options, listed: listed(name, options), handler });
  }

  list(session) {
    const tools = Array.from(this.#tools.values()).filter(({ when }) => !when || when(session));
    return { instructions: this.#instructions, tools: tools.map((tool) => tool.listed) };
  }

  call({ id, session, name, arguments: given }) {
    const tool = this.#tools.get(name);
    if (!tool) return wit.reject(INVALID_PARAMS, `there is no tool \`${name}\` any more`);
    return run(tool, given, new Call(id, session));
  }
}

async function run({ input, output, handler }, given, call) {
  try {
    const args = await valid(input, given);
    const result = await handler(args, call);
    return result?.tag === "reject" ? result : wit.respond(whole(result, output));
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    wit.log("warn", trace(error));
    const text = error instanceof Error ? error.message : String(error);
    return wit.respond({ content: [{ type: "text", text }], isError: true });
  }
}

/** MCP's result for the value that a tool returned. */
function whole(result, output) {
  if (result === undefined || result === null) return { content: [] };
  if (Array.isArray(result)) return { content: result };
  if (typeof result !== "object") return { content: [{ type: "text", text: String(result) }] };
  const isWhole = "structuredContent" in result || (!output && Array.isArray(result.content));
  if (isWhole) return { content: [], ...result };
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
}

/** MCP's `Tool`. */
function listed(name, { title, description, input, output, readOnly, onlyAdds, idempotent, closedWorld }) {
  const hints = {
    readOnlyHint: readOnly,
    destructiveHint: onlyAdds && false,
    idempotentHint: idempotent,
    openWorldHint: closedWorld && false,
  };
  const annotations = Object.values(hints).some((hint) => hint !== undefined) ? hints : undefined;
  const inputSchema = schema(name, input ?? { type: "object" }, "input");
  const outputSchema = output && schema(name, output, "output");
  return { name, title, description, inputSchema, outputSchema, annotations };
}

/** The JSON Schema of a tool: the given one, or that of a Standard Schema. */
function schema(name, given, side) {
  const standard = given["~standard"];
  if (!standard) return given;
  const options = { target: "draft-2020-12" };
  const { $schema, ...made } = standard.jsonSchema?.[side]?.(options) ?? given.toJSONSchema?.({ io: side }) ?? {};
  if (Object.keys(made).length > 0) return made;
  throw new TypeError(
    `tool(${JSON.stringify(name)}): the schemas of ${standard.vendor} cannot be converted to JSON Schema; ` +
      "those of zod 4 and later can, and those of valibot with toStandardJsonSchema of @valibot/to-json-schema",
  );
}

/** The arguments, parsed by a Standard Schema. The host has already validated them against a JSON Schema. */
async function valid(input, given) {
  const standard = input?.["~standard"];
  if (!standard) return given;
  const { issues, value } = await standard.validate(given);
  if (!issues) return value;
  const key = (part) => (typeof part === "object" ? part.key : part);
  const told = issues.map(({ message, path = [] }) => `${path.map(key).join(".") || "the arguments"}: ${message}`);
  throw new TypeError(told.join("\n"));
}
