// Resources for the agent: their lists, and their contents.

import { Call } from "./call.js";
import { checked } from "./options.js";
import * as wit from "./wit.js";

const NOT_FOUND = -32002;
const OPTIONS = ["name", "title", "description", "mimeType", "when", "complete"];

/** All resources of a proxy. */
export class Resources {
  #resources = new Map();
  #instructions;

  constructor(instructions) {
    this.#instructions = instructions;
  }

  get size() {
    return this.#resources.size;
  }

  /** Whether any resource has completions. */
  get completes() {
    return Array.from(this.#resources.values()).some(({ complete }) => complete);
  }

  add(uri, options, handler) {
    const called = `resource(${JSON.stringify(uri)})`;
    if (typeof handler !== "function") throw new TypeError(`${called} takes a function last`);
    const { name, title, description, mimeType, when, complete } = checked(called, options, OPTIONS);
    if (this.#resources.has(uri)) throw new Error(`${called}: there is one already`);
    const { match, variables } = template(called, uri);
    checked(`${called}: complete`, complete ?? {}, variables);
    const listed = { [variables.length > 0 ? "uriTemplate" : "uri"]: uri, name: name ?? uri, title, description, mimeType };
    this.#resources.set(uri, { match, listed, mimeType, when, complete, handler });
  }

  list(session) {
    const resources = Array.from(this.#resources.values()).filter(({ when }) => !when || when(session));
    const listed = resources.map((resource) => resource.listed);
    return {
      instructions: this.#instructions,
      resources: listed.filter(({ uri }) => uri !== undefined),
      templates: listed.filter(({ uri }) => uri === undefined),
    };
  }

  async read({ id, session, uri }) {
    const fixed = this.#resources.get(uri);
    for (const { match, mimeType, handler } of fixed ? [fixed] : this.#resources.values()) {
      const variables = match(uri);
      if (!variables) continue;
      const read = await handler(variables, new Call(id, session));
      if (read?.tag === "reject") return read;
      if (read !== undefined && read !== null) return wit.respond(whole(read, { uri, mimeType }));
    }
    return wit.reject(NOT_FOUND, `there is no resource \`${uri}\``);
  }

  /** The function that completes a variable of a template. */
  completer(uri, variable) {
    const { complete = {} } = this.#resources.get(uri) ?? {};
    return Object.hasOwn(complete, variable) ? complete[variable] : undefined;
  }
}

/** MCP's result for the value that was read. */
function whole(read, about) {
  if (Array.isArray(read.contents)) return read;
  const contents = Array.isArray(read) ? read : [read];
  return { contents: contents.map((part) => ({ ...about, ...(typeof part === "object" ? part : { text: String(part) }) })) };
}

/** A pattern of the URIs that a template (RFC 6570) matches, and the names of its variables. A URI matches itself. */
function template(called, uri) {
  const variables = [], paths = new Set();
  const pattern = uri.split(/(\{[^}]*\})/).map((part) => {
    if (!part.startsWith("{")) return part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    const [, isPath, name] = /^\{(\+?)(\w+)\}$/.exec(part) ?? [];
    if (!name) throw new TypeError(`${called}: ${part} is neither {name} nor {+name}`);
    variables.push(name);
    if (isPath) paths.add(name);
    return isPath ? "([^]+)" : "([^/]+)";
  });
  const expression = new RegExp(`^${pattern.join("")}$`);
  const match = (uri) => {
    const found = expression.exec(uri);
    if (!found) return null;
    const values = variables.map((name, n) => [name, decoded(found[n + 1])]);
    // An escaped `/` counts too.
    const isOne = values.every(([name, value]) => paths.has(name) || !value.includes("/"));
    return isOne ? Object.fromEntries(values) : null;
  };
  return { match, variables };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
