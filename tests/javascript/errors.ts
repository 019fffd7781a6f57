// Fails in each way that there is.
import { client, defineProxy, log, reject, set } from "../sdk/acp-chain.js";

interface Nothing {
  is: { here: string };
}

const proxy = defineProxy();
const nothing = () => undefined as unknown as Nothing;

proxy.onStart(({ config }) => {
  if (config.fail) throw new Error("not with this");
});

proxy.onRequest("test/throws", () => {
  nothing().is.here.length;
});

proxy.onRequest("test/rejects", async () => {
  await client.request("own/ask");
  throw new RangeError("too far");
});

proxy.onRequest("test/deep", () => {
  const inner = () => {
    throw new Error("deep");
  };
  [1].forEach(inner);
});

proxy.onRequest("test/unhandled", () => {
  Promise.reject(new Error("lost"));
});

proxy.onRequest("test/value", () => {
  throw "only a text";
});

proxy.onRequest("test/timer", () => {
  (globalThis as any).setTimeout(() => {}, 1);
});

proxy.onRequest("test/console", () => {
  console.warn("a", 1, { b: [2] });
  log.error(new Error("logged"));
});

proxy.tool("breaks", { description: "Breaks." }, () => {
  throw new Error("it is broken");
});

// What JSON may have, and no text of the host's.
const half = "half \ud83d";

proxy.onRequest("test/half", async ({ params }) => {
  log.error(half);
  if (params.waits) await client.request("own/ask");
  throw new Error(half);
});

proxy.onRequest("test/half-rejected", () => reject(1, half));

proxy.onRequest("test/half-named", () => [set(`/${half}`, 1)]);

proxy.tool("half", { description: "Says how far it is." }, (_, call) => {
  call.progress(1, 2, half);
  return "told";
});

console.info("as it was built");

export const { handler, tools } = proxy;
