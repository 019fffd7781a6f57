// Additions to the engine: promises that are settled, errors with positions in the author's sources, and a console.
// `acp-chain build` puts this file before all others.

import "./promise.js";
import { trace } from "./locations.js";
import { log } from "./wit.js";

function shown(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return trace(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

const at = (level) => (...values) => log(level, values.map(shown).join(" "));

globalThis.console = {
  trace: at("trace"),
  debug: at("debug"),
  log: at("info"),
  info: at("info"),
  warn: at("warn"),
  error: at("error"),
};

const MISSING = {
  setTimeout: "`await sleep(milliseconds)` waits",
  setInterval: "`await sleep(milliseconds)` waits",
  setImmediate: "a proxy runs only when a message arrives",
  fetch: "a proxy has no network; send a neighbour a request with `client.request` or `agent.request`",
};
for (const [name, why] of Object.entries(MISSING)) {
  globalThis[name] = () => {
    throw new Error(`there is no ${name} in the sandbox: ${why}`);
  };
}
