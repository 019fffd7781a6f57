#!/usr/bin/env node
// A proxy over the npm SDK that passes everything on: from its client's side to the successor, and
// what comes from the successor to its client's side. What is passed on is withdrawn with what it
// stands for.
import { Readable, Writable } from "node:stream";
import { agent, ndJsonStream } from "@agentclientprotocol/sdk";
import { PROXY_METHODS } from "@agentclientprotocol/sdk/unstable";

const { proxy_initialize: initialize, proxy_successor: successor } = PROXY_METHODS;

/** Whom a message goes to next, and as what. */
function next(method, params) {
  if (method === successor) return [params.method, params.params];
  return [successor, { method: method === initialize ? "initialize" : method, params }];
}

agent({ name: "npm-proxy" })
  .onRequest("*", ({ method, params, client, signal }) =>
    client.request(...next(method, params), { cancellationSignal: signal }),
  )
  .onNotification("*", ({ method, params, client }) => client.notify(...next(method, params)))
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
