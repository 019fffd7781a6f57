// Gives the agent a tool that counts words.
import { FailurePolicy, Outcome, Registration, ToolCall, ToolsCatalog, args, result } from "../sdk/acp-chain";

const COUNT_WORDS = `{
  "name": "count_words",
  "description": "Counts the words of a text: what stands between spaces and line breaks.",
  "inputSchema": {
    "type": "object",
    "properties": { "text": { "type": "string", "description": "The text whose words are counted." } },
    "required": ["text"]
  },
  "annotations": { "readOnlyHint": true, "openWorldHint": false }
}`;

export function listTools(_session: string | null): ToolsCatalog {
  return new ToolsCatalog(null, [COUNT_WORDS]);
}

// acp-chain checks the arguments against the schema, and calls no other tool.
export function callTool(call: ToolCall): Outcome {
  const text = args(call).get("text").text();
  let count = 0;
  let isInWord = false;
  for (let i = 0; i < text.length; i++) {
    const isBlank = " \t\r\n".includes(text.charAt(i));
    if (!isBlank && !isInWord) count++;
    isInWord = !isBlank;
  }
  return result(count.toString());
}

// Subscribes to nothing, and so receives no messages.
export function init(_config: string, _saved: string | null): Registration {
  return new Registration([], FailurePolicy.Restart);
}
