// A proxy that writes into the log of what type each value is that it gets, and passes everything on.
import * as channel from "acp-chain:proxy/channel@0.1.2";
import type { Action, Kinds } from "acp-chain:proxy/types@0.1.2";
import type { Handler } from "acp-chain:proxy/handler@0.1.2";

const kinds: Kinds = { request: true, notification: true, response: true };

// What says which case it is, and which error.
const isCase = (key: string, part: unknown) => key === "tag" || (key === "code" && typeof part === "string");

function shape(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  const shapes = Object.entries(value).map(([key, part]) => [key, isCase(key, part) ? part : shape(part)]);
  return Array.isArray(value) ? Object.values(value).map(shape) : Object.fromEntries(shapes);
}

function told(what: string, value: unknown): Action {
  channel.log("warn", `${what}: ${JSON.stringify(shape(value))}`);
  return { tag: "forward" };
}

function thrown(call: () => void): unknown {
  try {
    call();
  } catch (error) {
    return error instanceof Error && (error as Error & { payload: channel.ChannelError }).payload;
  }
}

export const handler: Handler = {
  init(config, saved) {
    told("config", config);
    told("saved", saved);
    told("denied", thrown(() => channel.notify("agent", "vendor/early", "{}")));
    told("save", channel.save("state"));
    return { subscriptions: [{ method: "*", sender: "any", kinds, withBody: true }], onFailure: "refuse", guard: false };
  },
  onRequest(request) {
    if (request.head.method === "vendor/hold") return { tag: "hold" };
    if (request.head.method === "session/prompt") {
      told("request", request);
      told("sent", channel.request("agent", "vendor/unknown", "null"));
      told("loading", channel.loadValue({ tag: "user" }, "key"));
      told("removing", channel.storeValue({ tag: "project", val: "none" }, "key", 0, null));
      told("part", channel.read(request.head.id, "/prompt"));
      told("no part", channel.read(request.head.id, "/none"));
      told("unknown message", thrown(() => channel.settle(request.head.id + 1000, { tag: "forward" })));
    }
    return { tag: "forward" };
  },
  onNotification: (notification) => told("notification", notification),
  onResponse: (response) => told(response.outcome.tag, response),
  onCancel(id) {
    told("cancelled", id);
    channel.settle(id, { tag: "reject", val: { code: -32800, message: "Request cancelled", data: null } });
  },
};

// What the types refuse.
// @ts-expect-error: a proxy has all five functions.
() => { const lacks: Handler = { init: handler.init }; };
// @ts-expect-error: a number of a message is a number.
() => channel.settle(1n, { tag: "forward" });
// @ts-expect-error: none is null.
() => channel.reportProgress(1, 0.5, undefined, undefined);
// @ts-expect-error: none is null.
() => channel.storeValue({ tag: "user" }, "key", 0, undefined);
// @ts-expect-error: there is no such action.
() => channel.settle(1, { tag: "pass" });
// @ts-expect-error: what is set is JSON text.
() => channel.settle(1, { tag: "edit", val: [{ pointer: "", change: { tag: "set" } }] });
