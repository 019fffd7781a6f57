#!/usr/bin/env node
// Holds the HTTP Archive on its standard input against the schema; prints what is wrong with it.
import { har } from "har-validator";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
try {
  await har(JSON.parse(Buffer.concat(chunks)));
} catch (error) {
  console.error(JSON.stringify(error.errors ?? error.message));
  process.exit(1);
}
