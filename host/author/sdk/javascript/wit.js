// @ts-check
// The adapter to the WIT: the functions of the host, and the exports. No other file uses the names of the WIT.

import * as channel from "acp-chain:proxy/channel@0.1.2";
import { ChannelError, RpcError } from "./errors.js";
import { json } from "./json.js";

/** @import { Action, Change, Edit, RpcError as RawError, Head, Peer, Subscription } from "acp-chain:proxy/types@0.1.2" */
/** @import { ChannelError as RawChannelError, Keeper, Level } from "acp-chain:proxy/channel@0.1.2" */
/** @import { Handler } from "acp-chain:proxy/handler@0.1.2" */
/** @import { Outcome } from "acp-chain:proxy/calls@0.1.2" */
/** @import { Tools } from "acp-chain:proxy/tools@0.1.2" */
/** @import { Resources } from "acp-chain:proxy/resources@0.1.2" */
/** @import { Prompts } from "acp-chain:proxy/prompts@0.1.2" */
/** @import { Completion } from "acp-chain:proxy/completion@0.1.2" */

/**
 * Log lines from before the start, when there is no host; undefined once the proxy has started.
 * @type {{ level: Level, text: string }[] | undefined}
 */
let early = [];

/**
 * Wraps a function of the host, whose errors have the WIT's record as their payload.
 * @template {any[]} G, R
 * @param {(...given: G) => R} call
 * @returns {(...given: G) => R}
 */
const asked = (call) => (...given) => {
  if (early) throw new Error("there is no host while the proxy is built: call it in onStart, or in a handler");
  try {
    return call(...given);
  } catch (error) {
    const { payload } = /** @type {{ payload?: RawChannelError }} */ (error);
    throw payload ? new ChannelError(payload.code, payload.message) : error;
  }
};

// An unpaired surrogate, which a text from JSON may have, would trap when passed to the host.

/**
 * A text for people: U+FFFD replaces unpaired surrogates.
 * @param {string} text
 */
const told = (text) => text.toWellFormed();

/**
 * A name: an unpaired surrogate is an error, since the host has no such name.
 * @param {string} text
 */
function name(text) {
  if (text.isWellFormed()) return text;
  throw new TypeError(`${JSON.stringify(text)} has half of a surrogate pair`);
}

/**
 * Writes to the host's log.
 * @param {Level} level
 * @param {string} text
 */
export function log(level, text) {
  const line = told(text);
  if (early) early.push({ level, text: line });
  else channel.log(level, line);
}

export const request = asked((/** @type {Peer} */ to, /** @type {string} */ method, /** @type {unknown} */ params) =>
  channel.request(to, name(method), json(params ?? null)));
export const notify = asked((/** @type {Peer} */ to, /** @type {string} */ method, /** @type {unknown} */ params) =>
  channel.notify(to, name(method), json(params ?? null)));
export const settle = asked(channel.settle);
export const fail = asked((/** @type {number} */ id, /** @type {string} */ reason) => channel.fail(id, told(reason)));
export const cancel = asked(channel.cancel);
export const wakeAfter = asked(channel.wakeAfter);
export const read = asked((/** @type {number} */ id, /** @type {string} */ pointer) => channel.read(id, name(pointer)));
export const save = asked((/** @type {unknown} */ state) => channel.save(json(state)));
/** @typedef {"user" | { project: string }} Of */
/** @type {(of: Of) => Keeper} */
const keeper = (of) => (of === "user" ? { tag: "user" } : { tag: "project", val: name(of.project) });
export const loadValue = asked((/** @type {Of} */ of, /** @type {string} */ key) =>
  channel.loadValue(keeper(of), name(key)));
export const storeValue = asked((
  /** @type {Of} */ of,
  /** @type {string} */ key,
  /** @type {number} */ version,
  /** @type {string | null} */ value,
) => channel.storeValue(keeper(of), name(key), version, value === null ? null : name(value)));
export const progress = asked((
  /** @type {number} */ call,
  /** @type {number} */ progress,
  /** @type {number | null} */ total,
  /** @type {string | null} */ message,
) => channel.reportProgress(call, progress, total, message && told(message)));
export const meta = asked(channel.callMeta);
export const ask = asked((/** @type {number} */ call, /** @type {string} */ method, /** @type {unknown} */ params) =>
  channel.askCaller(call, name(method), json(params ?? {})));
export const toolsChanged = asked(channel.toolsChanged);
export const resourcesChanged = asked(channel.resourcesChanged);
export const resourceChanged = asked((/** @type {string} */ uri) => channel.resourceChanged(name(uri)));
export const promptsChanged = asked(channel.promptsChanged);
export const proxyId = asked(() => channel.proxyId());

/** @type {(kind: string, method: string, options: { from?: Peer, body?: boolean }) => Subscription} */
export const subscription = (kind, method, { from, body = true }) =>
  ({ method, sender: from ?? "any", kinds: { [kind]: true }, withBody: body });

/** @type {Action} */
export const forward = { tag: "forward" };
/** @type {Action} */
export const hold = { tag: "hold" };
/** @type {Action} */
export const discard = { tag: "discard" };
/** @type {(edits: Edit[]) => Action} */
export const edit = (edits) => ({ tag: "edit", val: edits });
/** @type {(body: unknown) => Action} */
export const replace = (body) => ({ tag: "replace", val: json(body) });
/** @type {(result: unknown) => Action} */
export const respond = (result) => ({ tag: "respond", val: json(result) });
/** @type {(code: number, message: string, data?: unknown) => Action} */
export const reject = (code, message, data) => ({ tag: "reject", val: rawError(code, message, data) });

/** @type {(pointer: string, value: unknown) => Edit} */
export const set = (pointer, value) => ({ pointer: name(pointer), change: { tag: "set", val: json(value) } });
/** @type {(pointer: string) => Edit} */
export const remove = (pointer) => ({ pointer: name(pointer), change: { tag: "remove" } });

/** @type {(code: number, message: string, data?: unknown) => RawError} */
const rawError = (code, message, data) =>
  ({ code, message: told(message), data: data === undefined ? null : json(data) });

/** @type {(error: RawError) => RpcError} */
const rpcError = ({ code, message, data }) => new RpcError(code, message, data === null ? undefined : parsed(data));

/**
 * The data of an error. Data that is nested too deeply stays a text, so that the error is thrown in any case.
 * @type {(text: string) => unknown}
 */
const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/**
 * The common properties of all messages.
 * @typedef {{ id: number, from: Peer, method: string, session: string | undefined, size: number }} Header
 */

/** @type {(head: Head) => Header} */
const header = ({ id, sender, method, session, size }) =>
  ({ id, from: sender, method, session: session ?? undefined, size });

/**
 * The exported handler, which passes the host's calls to the proxy.
 * @param {{
 *   start(config: unknown, saved: unknown): { subscriptions: Subscription[], onFailure: any, guard: boolean },
 *   receive(kind: string, header: Header, body: string | undefined, error?: RpcError): Action,
 *   withdraw(id: number): void,
 *   explain(error: unknown): string,
 * }} proxy
 * @returns {Handler}
 */
export function handler({ start, receive, withdraw, explain }) {
  /** @type {<G, R>(call: (given: G) => R) => (given: G) => R} */
  const exported = (call) => (given) => {
    try {
      return call(given);
    } catch (error) {
      // Throwing anything but the WIT's text would trap.
      throw told(explain(error));
    }
  };
  const init = exported((/** @type {{ config: string, saved: string | null }} */ { config, saved }) => {
    const said = early ?? [];
    early = undefined;
    said.forEach(({ level, text }) => channel.log(level, text));
    return start(JSON.parse(config), saved === null ? undefined : JSON.parse(saved));
  });
  return {
    init: (config, saved) => init({ config, saved }),
    onRequest: exported(({ head, params }) => receive("request", header(head), params)),
    onNotification: exported(({ head, params }) => receive("notification", header(head), params)),
    onResponse: exported(({ head, outcome }) =>
      outcome.tag === "ok"
        ? receive("response", header(head), outcome.val)
        : receive("response", header(head), undefined, rpcError(outcome.val))),
    onCancel: exported(withdraw),
  };
}

/**
 * The functions of an export for the agent: the list of offers, and a call, which ends like a request, with `respond`,
 * `reject` or `hold`.
 * @template R, P
 * @param {{
 *   list(session: string | undefined): R,
 *   call(call: P & { id: number, session: string | undefined }): Action,
 *   explain(error: unknown): string,
 * }} offer
 */
const offer = ({ list, call, explain }) => ({
  /** @param {string | null} session */
  list(session) {
    try {
      return list(session ?? undefined);
    } catch (error) {
      throw told(explain(error));
    }
  },
  /**
   * @param {{ id: number, session: string | null }} head
   * @param {() => P} given
   * @returns {Outcome}
   */
  call({ id, session }, given) {
    let action;
    try {
      action = call({ ...given(), id, session: session ?? undefined });
    } catch (error) {
      throw rawError(-32603, explain(error));
    }
    if (action.tag === "reject") throw action.val;
    return action.tag === "respond" ? { tag: "done", val: action.val } : { tag: "pending" };
  },
});

/**
 * @typedef {(error: unknown) => string} Explain
 * @typedef {string | undefined} Maybe
 * @typedef {{ id: number, session: Maybe }} Called
 */

/**
 * @param {{
 *   list(session: Maybe): { instructions: Maybe, tools: unknown[] },
 *   call(call: Called & { name: string, arguments: unknown }): Action,
 *   explain: Explain,
 * }} given
 * @returns {Tools}
 */
export const tools = (given) => {
  const { list, call } = offer(given);
  return {
    listTools(session) {
      const { instructions, tools } = list(session);
      return { instructions: instructions ?? null, tools: tools.map(json) };
    },
    callTool: (it) => call(it, () => ({ name: it.name, arguments: JSON.parse(it.arguments) })),
  };
};

/**
 * @param {{
 *   list(session: Maybe): { instructions: Maybe, resources: unknown[], templates: unknown[] },
 *   call(call: Called & { uri: string }): Action,
 *   explain: Explain,
 * }} given
 * @returns {Resources}
 */
export const resources = (given) => {
  const { list, call } = offer(given);
  return {
    listResources(session) {
      const { instructions, resources, templates } = list(session);
      return { instructions: instructions ?? null, resources: resources.map(json), templates: templates.map(json) };
    },
    readResource: (it) => call(it, () => ({ uri: it.uri })),
  };
};

/**
 * @param {{
 *   list(session: Maybe): unknown[],
 *   call(call: Called & { name: string, arguments: unknown }): Action,
 *   explain: Explain,
 * }} given
 * @returns {Prompts}
 */
export const prompts = (given) => {
  const { list, call } = offer(given);
  return {
    listPrompts: (session) => list(session).map(json),
    getPrompt: (it) => call(it, () => ({ name: it.name, arguments: JSON.parse(it.arguments) })),
  };
};

/**
 * @param {{
 *   call(call: Called & { reference: any, argument: string, value: string, context: any }): Action,
 *   explain: Explain,
 * }} given
 * @returns {Completion}
 */
export const completion = (given) => {
  const { call } = offer({ list: () => [], ...given });
  return {
    complete: (it) =>
      call(it, () => ({
        reference: JSON.parse(it.reference),
        argument: it.argument,
        value: it.value,
        context: JSON.parse(it.context),
      })),
  };
};
