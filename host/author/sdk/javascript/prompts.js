// Prompts that the user picks: their list, and their results.

import { Call } from "./call.js";
import { checked } from "./options.js";
import * as wit from "./wit.js";

const INVALID_PARAMS = -32602;
const OPTIONS = ["title", "description", "arguments", "when"];
const ARGUMENT = ["title", "description", "optional", "complete"];

/** All prompts of a proxy. */
export class Prompts {
  #prompts = new Map();

  get size() {
    return this.#prompts.size;
  }

  /** Whether any prompt has completions. */
  get completes() {
    const prompts = Array.from(this.#prompts.values());
    return prompts.some(({ given }) => Object.values(given).some(({ complete }) => complete));
  }

  add(name, options, handler) {
    const called = `prompt(${JSON.stringify(name)})`;
    if (typeof handler !== "function") throw new TypeError(`${called} takes a function last`);
    const { title, description, arguments: given = {}, when } = checked(called, options, OPTIONS);
    if (this.#prompts.has(name)) throw new Error(`${called}: there is one already`);
    const listed = Object.entries(given).map(([argument, options]) => {
      const { title, description, optional } = checked(`${called}: ${argument}`, options, ARGUMENT);
      return { name: argument, title, description, required: !optional };
    });
    this.#prompts.set(name, { listed: { name, title, description, arguments: listed }, given, when, handler });
  }

  list(session) {
    const prompts = Array.from(this.#prompts.values()).filter(({ when }) => !when || when(session));
    return prompts.map(({ listed }) => listed);
  }

  async get({ id, session, name, arguments: given }) {
    const prompt = this.#prompts.get(name);
    if (!prompt) return wit.reject(INVALID_PARAMS, `there is no prompt \`${name}\` any more`);
    const said = await prompt.handler(given, new Call(id, session));
    return said?.tag === "reject" ? said : wit.respond(whole(said));
  }

  /** The function that completes an argument of a prompt. */
  completer(name, argument) {
    const { given = {} } = this.#prompts.get(name) ?? {};
    return Object.hasOwn(given, argument) ? given[argument].complete : undefined;
  }
}

/** MCP's result for the value that a prompt returned. */
function whole(said) {
  if (Array.isArray(said?.messages)) return said;
  const messages = said === undefined || said === null ? [] : Array.isArray(said) ? said : [said];
  return { messages: messages.map(message) };
}

/** A message: a text or a block becomes a message of the user. */
function message(said) {
  if (said?.role) return said;
  return { role: "user", content: typeof said === "object" ? said : { type: "text", text: String(said) } };
}
