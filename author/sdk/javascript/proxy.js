// A proxy: what it subscribes to, and what handles that.

import { Message } from "./message.js";
import { checked } from "./options.js";
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
  #exported = new Set();

  constructor(options) {
    const { onFailure, guard, instructions } = checked("defineProxy", options, ["onFailure", "guard", "instructions"]);
    if (onFailure !== undefined && !POLICIES.includes(onFailure)) {
      throw new TypeError(`onFailure is ${JSON.stringify(onFailure)}; it may be ${POLICIES.join(", ")}`);
    }
    this.#options = { onFailure: onFailure ?? "restart", guard: guard ?? false };
    this.#tools = new Tools(instructions);
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
    if (this.#tools.size > 0 && !this.#exported.has("tools")) {
      throw new Error("the proxy has tools, and does not export them: export const { handler, tools } = proxy");
    }
    const started = tasks.finished(() => this.#onStart({ config, saved }));
    if (!started) throw new Error("onStart waits for what cannot come: nothing can be asked before the first message");
    return { subscriptions: this.#subscriptions, ...this.#options };
  }

  #receive(kind, header, body, error) {
    if (kind === "response" && tasks.answer(header.id, body, error)) return wit.forward;
    // Where several match, the host goes by the first one too.
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
    this.#exported.add("tools");
    return wit.tools({
      list: (session) => this.#tools.list(session),
      call: (call) => tasks.handle(call.id, () => this.#tools.call(call), (action) => action),
      explain: tasks.failed,
    });
  }
}

/** What a proxy is. */
export const defineProxy = (options = {}) => new Proxy(options);

/** What a handler returned, as an action; nothing, if it decided nothing. */
function action(returned) {
  if (returned === undefined || returned === null) return undefined;
  if (Array.isArray(returned)) return returned.length === 0 ? undefined : wit.edit(returned);
  if (typeof returned.tag === "string") return returned;
  throw new TypeError(
    `a handler returned ${typeof returned}; it returns nothing, a list of edits, or what respond, reject, replace or discard give`,
  );
}
