// Completes the arguments of prompts, and the variables of templates.

import { Call } from "./call.js";
import * as wit from "./wit.js";

/** The maximum number of values (MCP, `CompleteResult`). */
const MOST = 100;

/** Completes an argument with the function of its prompt or template; without one, there are no values. */
export async function complete({ prompts, resources }, { id, session, reference, argument, value, context }) {
  const completer = reference.type === "ref/prompt"
    ? prompts.completer(reference.name, argument)
    : resources.completer(reference.uri, argument);
  const all = Array.from((await completer?.(value, context, new Call(id, session))) ?? [], String);
  return wit.respond({ completion: { values: all.slice(0, MOST), total: all.length, hasMore: all.length > MOST } });
}
