// The SDK for proxies in JavaScript and TypeScript. Its types are in acp-chain.d.ts.

import { ask } from "./tasks.js";
import * as wit from "./wit.js";

export { Cancelled, ChannelError, RpcError } from "./errors.js";
export { defineProxy } from "./proxy.js";
export * as values from "./values.js";
export {
  promptsChanged, proxyId, reject, remove, replace, resourceChanged, resourcesChanged, respond, save, set, toolsChanged,
} from "./wit.js";

export const discard = () => wit.discard;
export const text = (text) => ({ type: "text", text });

const neighbour = (to) => ({
  request: (method, params) => ask(method, () => wit.request(to, method, params)),
  notify: (method, params) => wit.notify(to, method, params),
});

export const client = neighbour("client");
export const agent = neighbour("agent");

export const sleep = (milliseconds) =>
  ask("wake-after", () => wit.wakeAfter(milliseconds)).then(() => undefined);

const { trace, debug, info, warn, error } = console;
export const log = { trace, debug, info, warn, error };
