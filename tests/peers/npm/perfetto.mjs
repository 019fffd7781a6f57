#!/usr/bin/env node
// Reads a trace with the trace processor of Perfetto, as its page does, and answers each query of the standard input, a
// line each, with a JSON line: a list of rows.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [folder, trace] = process.argv.slice(2);
// What a worker of a browser has, as far as the engine uses it.
class XMLHttpRequest {
  open(_, url) {
    this.url = url;
  }
  send() {
    const bytes = readFileSync(join(folder, this.url));
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
}
const self = { location: { href: "http://engine/" } };
const worker = { self, location: self.location, document: { currentScript: { src: "http://engine/" } }, process: undefined, WorkerGlobalScope: Object, XMLHttpRequest };
new Function(...Object.keys(worker), readFileSync(join(folder, "engine_bundle.js"), "utf8"))(...Object.values(worker));

// Its messages are protobuf: fields are a number, a kind, and a value, which is a number or bytes.
const varint = (value) => (value > 127 ? [(value % 128) | 128, ...varint(Math.floor(value / 128))] : [value]);
const number = (field, value) => Uint8Array.from([...varint(field * 8), ...varint(value)]);
const bytes = (field, value) => Buffer.concat([Uint8Array.from([...varint(field * 8 + 2), ...varint(value.length)]), value]);

function* fields(buffer) {
  let at = 0;
  const varint = () => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = buffer[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
      shift += 7n;
    }
  };
  while (at < buffer.length) {
    const key = Number(varint());
    const kind = key & 7;
    let value;
    if (kind === 0) value = varint();
    else {
      const length = kind === 2 ? Number(varint()) : kind === 1 ? 8 : 4;
      value = buffer.subarray(at, (at += length));
    }
    yield [key >> 3, value];
  }
}

const { port1: port, port2: engine } = new MessageChannel();
let [sequence, hears] = [0, null];
let pending = Buffer.alloc(0);
port.onmessage = ({ data }) => {
  pending = Buffer.concat([pending, data]);
  for (;;) {
    // Each stands in a stream, by its length.
    let [length, shift, at] = [0, 0, 1];
    while (at < pending.length && pending[at] > 127) (length += (pending[at++] & 127) << shift), (shift += 7);
    if (at >= pending.length) return;
    length += pending[at++] << shift;
    if (pending.length < at + length) return;
    const message = pending.subarray(at, at + length);
    pending = pending.subarray(at + length);
    hears?.([...fields(message)]);
  }
};
self.onmessage({ data: engine });

/** Asks for something, until an answer is the last one. */
function ask(method, more, isLast) {
  const answers = [];
  const done = new Promise((resolve) => {
    hears = (answer) => {
      answers.push(answer);
      if (isLast(answer)) resolve(answers);
    };
  });
  port.postMessage(Uint8Array.from(bytes(1, Buffer.concat([number(1, ++sequence), number(2, method), ...more]))));
  return done;
}

const part = (message, field) => message.filter(([name]) => name === field).map(([, value]) => value);

async function query(sql) {
  const results = (answer) => part(answer, 203).map((result) => [...fields(result)]);
  const batches = (answer) => results(answer).flatMap((result) => part(result, 3).map((batch) => [...fields(batch)]));
  const isLast = (answer) => results(answer).some((result) => part(result, 2).length > 0) || batches(answer).some((batch) => part(batch, 6)[0] === 1n);
  const answers = await ask(3, [bytes(103, bytes(1, Buffer.from(sql)))], isLast);
  for (const result of answers.flatMap(results)) for (const error of part(result, 2)) if (error.length) throw new Error(String(error));
  const columns = part(answers.flatMap(results)[0], 1).length;
  const cells = answers.flatMap(batches).flatMap((batch) => {
    const texts = String(part(batch, 5)[0] ?? "").split("\0");
    const integers = part(batch, 2).flatMap((packed) => [...varints(packed)]);
    const floats = part(batch, 3).flatMap((packed) => Array.from({ length: packed.length / 8 }, (_, at) => packed.readDoubleLE(at * 8)));
    return part(batch, 1).flatMap((kinds) => [...kinds]).map((kind) => (kind === 2 ? integers.shift() : kind === 3 ? floats.shift() : kind === 4 ? texts.shift() : null));
  });
  return Array.from({ length: columns ? cells.length / columns : 0 }, (_, row) => cells.slice(row * columns, (row + 1) * columns));
}

function* varints(packed) {
  for (let at = 0; at < packed.length; ) {
    let [value, shift, byte] = [0n, 0n, 0];
    do (byte = packed[at++]), (value |= BigInt(byte & 127) << shift), (shift += 7n);
    while (byte > 127);
    yield Number(BigInt.asIntN(64, value));
  }
}

for (const [, result] of (await ask(1, [bytes(101, readFileSync(trace))], (answer) => part(answer, 201).length > 0))[0].filter(([name]) => name === 201)) {
  const [error] = part([...fields(result)], 2);
  if (error) throw new Error(String(error));
}
await ask(2, [], (answer) => part(answer, 3).length > 0);
for await (const sql of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await query(sql).catch((error) => ({ error: error.message }))));
}
process.exit(0);
