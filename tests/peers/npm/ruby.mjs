#!/usr/bin/env node
// Parses the Ruby on its standard input with the parser of `ruby -c`; prints what is wrong with it.
import { loadPrism } from "@ruby/prism";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const parse = await loadPrism();
const { errors } = parse(Buffer.concat(chunks).toString());
for (const { message, location } of errors) console.error(`${location.startOffset}: ${message}`);
process.exitCode = errors.length > 0 ? 1 : 0;
