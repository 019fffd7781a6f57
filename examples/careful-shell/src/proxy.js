// Keeps the agent from running commands that cannot be undone, also where it asks for no permission.
import { client, defineProxy, proxyId, reject, text } from "../sdk/acp-chain.js";

// Better no command than a wrong one.
const proxy = defineProxy({ onFailure: "refuse", guard: true });

/** @type {[RegExp, string][]} */
const rules = [
  [/\bgit\s+push\b.*\s(-f|--force)(\s|$)/, "it rewrites what others have pulled"],
  [/\bgit\s+reset\b.*\s--hard\b/, "it discards what is not committed"],
  [/\bgit\s+clean\b.*\s-\w*f/, "it removes files that git does not know"],
];

/**
 * All texts of an input: agents put the command into different members, as a text or a list.
 * @param {unknown} input
 * @returns {string[]}
 */
const texts = (input) =>
  typeof input === "string" ? [input] : Object.values(input ?? {}).flatMap(texts);

proxy.onRequest("_acp-chain/hook/before_tool", { from: "agent" }, ({ params }) => {
  const { sessionId, toolCall } = params;
  if (toolCall.kind !== "execute") return;
  const command = texts(toolCall.rawInput).join(" ");
  const rule = rules.find(([pattern]) => pattern.test(command));
  if (!rule) return;
  const content = text(`\n\n**${proxyId()}** kept \`${command}\` from running: ${rule[1]}.\n\n`);
  client.notify("session/update", { sessionId, update: { sessionUpdate: "agent_message_chunk", content } });
  return reject(-32600, `the user does not want this command to run: ${rule[1]}`);
});

export const { handler } = proxy;
