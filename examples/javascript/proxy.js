// The frame of a proxy in JavaScript: copy this file beside yours. It is run when a component is built,
// and what could not work ends the build: a function that is missing, misspelt or `async`.
//
// The functions of the interface are synchronous: of one that is `async` the result would be lost.
// To wait is to return `hold` and to call `settle` later.

import { settle } from "acp-chain:proxy/channel@0.1.0";

/** @import { Handler } from "acp-chain:proxy/handler@0.1.0" */
/** @import { Tools } from "acp-chain:proxy/tools@0.1.0" */
/** @import { Action, MessageId } from "acp-chain:proxy/types@0.1.0" */
/** @typedef {(...given: any[]) => any} Call */

/** @returns {Action} */
const forward = () => ({ tag: "forward" });

/** @param {MessageId} id */
function giveUp(id) {
  const error = { code: -32800, message: "Request cancelled", data: null };
  try {
    settle(id, { tag: "reject", val: error });
  } catch {
    // The host has taken it back.
  }
}

/**
 * The `handler` of a proxy. What is left out lets every message pass, and gives up what is withdrawn.
 * @param {Partial<Handler> & Pick<Handler, "init">} functions
 * @returns {Handler}
 */
export const defineHandler = (functions) =>
  frame("handler", functions, {
    init: [undefined, reason],
    onRequest: [forward, reason],
    onNotification: [forward, reason],
    onResponse: [forward, reason],
    onCancel: [giveUp, reason],
  });

/**
 * The `tools` of a proxy.
 * @param {Tools} functions
 * @returns {Tools}
 */
export const defineTools = (functions) =>
  frame("tools", functions, {
    listTools: [undefined, reason],
    callTool: [undefined, failure],
  });

/**
 * An `err` of the interface is what is thrown. It has to be of its type: anything else is a trap, and the
 * end of the instance. An error of the channel comes as an `Error` with the variant as its `payload`.
 * @param {any} error
 */
const reason = (error) => (error?.payload ? JSON.stringify(error.payload) : String(error));

/**
 * The same for a call of a tool, where it is an error of JSON-RPC: one that was thrown stays as it is.
 * @param {any} error
 */
const failure = (error) =>
  Number.isInteger(error?.code)
    ? { code: error.code, message: String(error.message), data: error.data ?? null }
    : { code: -32603, message: reason(error), data: null };

/**
 * @param {string} name
 * @param {Record<string, any>} functions
 * @param {Record<string, [Call | undefined, Call]>} known what there is if nothing is given, and what
 *   makes an `err` of what is thrown
 * @returns {any}
 */
function frame(name, functions, known) {
  const unknown = Object.keys(functions).find((key) => !(key in known));
  if (unknown) {
    throw new Error(`${name}.${unknown} is unknown; there are ${Object.keys(known).join(", ")}`);
  }
  const framed = Object.entries(known).map(([key, [byDefault, err]]) => {
    const call = functions[key] ?? byDefault;
    return [key, synchronous(`${name}.${key}`, call, err)];
  });
  return Object.fromEntries(framed);
}

/** @type {(name: string, call: Call | undefined, err: Call) => Call} */
function synchronous(name, call, err) {
  if (typeof call !== "function") throw new Error(`${name} is missing`);
  const isAsync =
    `${name} is async, and its result would be lost: make it a plain function; ` +
    'to wait, return { tag: "hold" } (of a tool: { tag: "pending" }), and settle later';
  // Generators have the same fault.
  if (call.constructor !== Function) throw new Error(isAsync);
  return (...given) => {
    try {
      const result = call(...given);
      if (typeof result?.then === "function") throw isAsync;
      return result;
    } catch (error) {
      throw err(error);
    }
  };
}
