#!/usr/bin/env node
// The public conformance suite, of one of two releases: `mcp-conformance 0.1|0.2 ARGS…`.
import { register } from "node:module";

// It imports `globSync` from `fs`, which Node.js has since version 22. What tests servers calls it
// nowhere.
const fs = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = null;';
const url = (script) => `data:text/javascript,${encodeURIComponent(script)}`;
const hook = `export const resolve = (name, context, next) =>
  name === "fs" ? { url: ${JSON.stringify(url(fs))}, shortCircuit: true } : next(name, context);`;
register(url(hook));

const [release, ...args] = process.argv.slice(2);
process.argv.splice(2, process.argv.length, ...args);
await import(new URL(`node_modules/conformance-${release}/dist/index.js`, import.meta.url));
