// Values that outlast the connection.

import { RpcError } from "./errors.js";
import { ask } from "./tasks.js";
import * as wit from "./wit.js";

const INTERNAL_ERROR = -32603;
const ATTEMPTS = 64;

const loaded = ({ value, version, since }) => ({ value: value ?? undefined, version, since: since ?? undefined });

/** Loads the value under a key. */
export async function load(of, key) {
  return loaded(await ask("load-value", () => wit.loadValue(of, key)));
}

/** Stores a value, or removes it, if its version is still this one. */
export async function store(of, key, version, value) {
  const stored = await ask("store-value", () => wit.storeValue(of, key, version, value ?? null));
  return stored.conflict ? { conflict: loaded(stored.conflict) } : { version: stored.version };
}

/** Changes a value, again if another connection has stored one meanwhile. */
export async function update(of, key, change) {
  let found = await load(of, key);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const value = change(found.value) ?? undefined;
    if (value === found.value) return found;
    const { version, conflict } = await store(of, key, found.version, value);
    if (!conflict) return { ...found, value, version };
    found = conflict;
  }
  const why = `${JSON.stringify(key)} is not stored: other connections have changed it ${ATTEMPTS} times`;
  throw new RpcError(INTERNAL_ERROR, why);
}
