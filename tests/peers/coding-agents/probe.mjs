#!/usr/bin/env node
// The MCP server of `tools.mjs` on standard input and output.
import { createInterface } from "node:readline";
import { answer } from "./tools.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  const answered = answer(JSON.parse(line));
  if (answered) console.log(JSON.stringify(answered));
}
