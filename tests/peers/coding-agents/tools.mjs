// The MCP server `probe`, with two tools: `echo`, of which it says no more than it must, and `add`, of which it says
// what the extension `todo` says of its own.
const object = (properties, required) => ({ type: "object", properties, required });
const message = { type: "string", description: "What to give back." };
const task = object({ text: { type: "string" } }, ["text"]);
const tools = [
  {
    name: "echo",
    description: "Gives back its message.",
    inputSchema: object({ message }, ["message"]),
  },
  {
    name: "add",
    description: "Gives back the tasks.",
    inputSchema: object({ tasks: { type: "array", items: task } }, ["tasks"]),
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "probe", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: { message, tasks } }) => ({
    content: [{ type: "text", text: message ?? JSON.stringify({ tasks }) }],
  }),
};

// The answer to a message; none to a notification.
export function answer({ id, method, params }) {
  if (id === undefined) return undefined;
  const result = answers[method]?.(params);
  const error = { code: -32601, message: `${method} is not known here` };
  return { jsonrpc: "2.0", id, ...(result ? { result } : { error }) };
}
