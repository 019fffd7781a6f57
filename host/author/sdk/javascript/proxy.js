// A proxy: its subscriptions and their handlers.

import { complete } from "./completion.js";
import { Message } from "./message.js";
import { checked } from "./options.js";
import { Prompts } from "./prompts.js";
import { Resources } from "./resources.js";
import * as tasks from "./tasks.js";
import { Tools } from "./tools.js";
import * as wit from "./wit.js";

const POLICIES = ["restart", "bypass", "refuse"];
const PEERS = [undefined, "client", "agent"];

class Proxy {
  #options;
  #handlers = { request: [], notification: [], response: [] };
  #subscriptions = [];
  #onStart = () => {};
  #tools;
  #resources;
  #prompts = new Prompts();
  #exported = new Set();

  constructor(options) {
    const { onFailure, guard, instructions } = checked("defineProxy", options, ["onFailure", "guard", "instructions"]);
    if (onFailure !== undefined && !POLICIES.includes(onFailure)) {
      throw new TypeError(`onFailure is ${JSON.stringify(onFailure)}; it may be ${POLICIES.join(", ")}`);
    }
    this.#options = { onFailure: onFailure ?? "restart", guard: guard ?? false };
    this.#tools = new Tools(instructions);
    this.#resources = new Resources(instructions);
  }

  onRequest = (method, ...rest) => this.#on("request", method, rest);
  onNotification = (method, ...rest) => this.#on("notification", method, rest);
  onResponse = (method, ...rest) => this.#on("response", method, rest);

  onStart = (handler) => {
    this.#onStart = handler;
    return this;
  };

  tool = (name, options, handler) => {
    this.#tools.add(name, options, handler);
    return this;
  };

  resource = (uri, options, handler) => {
    this.#resources.add(uri, options, handler);
    return this;
  };

  prompt = (name, options, handler) => {
    this.#prompts.add(name, options, handler);
    return this;
  };

  #on(kind, method, [first, second]) {
    const [options, handler] = second === undefined ? [{}, first] : [first, second];
    const called = `on${kind[0].toUpperCase()}${kind.slice(1)}(${JSON.stringify(method)})`;
    if (typeof handler !== "function") throw new TypeError(`${called} takes a function last`);
    const { from, body } = checked(called, options, ["from", "body"]);
    if (!PEERS.includes(from)) throw new TypeError(`${called}: from is "client" or "agent"`);
    const prefix = method.endsWith("*") ? method.slice(0, -1) : undefined;
    const matches = (header) =>
      (prefix === undefined ? header.method === method : header.method.startsWith(prefix)) &&
      (from === undefined || header.from === from);
    this.#subscriptions.push(wit.subscription(kind, method, { from, body }));
    this.#handlers[kind].push({ matches, handler });
    return this;
  }

  #start(config, saved) {
    const started = tasks.finished(() => this.#onStart({ config, saved }));
    if (!started) throw new Error("onStart waits for an answer, but requests cannot be sent before the first message");
    this.#checkExports();
    return { subscriptions: this.#subscriptions, ...this.#options };
  }

  /** Rejects offers that the module does not export, since they would be unreachable. */
  #checkExports() {
    const there = {
      tools: this.#tools.size > 0,
      resources: this.#resources.size > 0,
      prompts: this.#prompts.size > 0,
      completion: this.#prompts.completes || this.#resources.completes,
    };
    const needed = Object.keys(there).filter((name) => there[name]);
    const missing = needed.find((name) => !this.#exported.has(name));
    if (!missing) return;
    const all = ["handler", ...needed].join(", ");
    throw new Error(`the proxy has ${missing}, and does not export them: export const { ${all} } = proxy`);
  }

  #receive(kind, header, body, error) {
    if (kind === "response" && tasks.answer(header.id, body, error)) return wit.forward;
    // If several handlers match, the first one is called; the host chooses likewise.
    const found = this.#handlers[kind].find(({ matches }) => matches(header));
    if (!found) return wit.forward;
    return tasks.handle(header.id, () => found.handler(new Message(header, body, error)), action);
  }

  get handler() {
    return wit.handler({
      start: (config, saved) => this.#start(config, saved),
      receive: (kind, header, body, error) => this.#receive(kind, header, body, error),
      withdraw: tasks.withdraw,
      explain: tasks.failed,
    });
  }

  get tools() {
    return wit.tools(this.#offer("tools", (call) => this.#tools.call(call), (session) => this.#tools.list(session)));
  }

  get resources() {
    const list = (session) => {
      const listed = this.#resources.list(session);
      // If there are tools, their list has the instructions.
      return this.#exported.has("tools") ? { ...listed, instructions: undefined } : listed;
    };
    return wit.resources(this.#offer("resources", (call) => this.#resources.read(call), list));
  }

  get prompts() {
    return wit.prompts(this.#offer("prompts", (call) => this.#prompts.get(call), (session) => this.#prompts.list(session)));
  }

  get completion() {
    const offers = { prompts: this.#prompts, resources: this.#resources };
    return wit.completion(this.#offer("completion", (call) => complete(offers, call)));
  }

  #offer(name, run, list) {
    this.#exported.add(name);
    const call = (call) => tasks.handle(call.id, () => run(call), (action) => action);
    return { list, call, explain: tasks.failed };
  }
}

export const defineProxy = (options = {}) => new Proxy(options);

/** The action for a handler's result; undefined without a decision. */
function action(returned) {
  if (returned === undefined || returned === null) return undefined;
  const isList = Array.isArray(returned);
  if (isList && returned.every(isEdit)) return returned.length === 0 ? undefined : wit.edit(returned);
  if (typeof returned.tag === "string") return returned;
  const what = isList ? "a list that is not all edits" : typeof returned;
  throw new TypeError(
    `a handler returned ${what}; it returns nothing, a list of edits, or what respond, reject, replace or discard give`,
  );
}

const isEdit = (part) => typeof part?.pointer === "string" && part.change !== undefined;
