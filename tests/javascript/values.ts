// Does with each request what its method says, by all that a handler may return.
import { agent, Cancelled, ChannelError, client, defineProxy, discard, reject, remove, replace, respond, RpcError, set, text } from "../sdk/acp-chain.js";

const proxy = defineProxy();
const ask = (what: string) => client.request("own/ask", { what });

proxy.onRequest("test/forward", () => {});
proxy.onRequest("test/no-edits", () => []);
proxy.onRequest("test/edit", { body: false }, () => [set("/added/-", text("new")), remove("/old")]);
proxy.onRequest("test/respond", ({ params, json, size, from, method, session }) =>
  respond({ params, json, size, from, method, session: session ?? "none" }));
proxy.onRequest("test/reject", () => reject(-32001, "not this", { why: ["so"] }));
proxy.onRequest("test/replace", ({ params }) => replace({ ...params, more: true }));
proxy.onRequest("test/read", { body: false }, (request) =>
  respond([request.read("/a/0"), request.read("/none") ?? "nothing", request.params.a[1]]));
proxy.onRequest("test/nonsense", () => 5 as any);
proxy.onRequest("test/no-edit", () => [set("/a", 1), text("no edit")] as any);
proxy.onRequest("test/undefined", () => respond(undefined));

// One that ends without having waited answers at once; one that waits holds its message.
proxy.onRequest("test/async", async () => respond(await "at once"));
proxy.onRequest("test/one", async () => respond(await ask("one")));
proxy.onRequest("test/many", async () => respond(await Promise.all(["a", "b", "c"].map(ask))));
proxy.onRequest("test/race", async () => respond(await Promise.race(["a", "b"].map(ask))));
proxy.onRequest("test/for-await", async () => {
  async function* answers() {
    for (const what of ["a", "b"]) yield ask(what);
  }
  const all: unknown[] = [];
  for await (const answer of answers()) all.push(answer);
  return respond(all);
});
proxy.onRequest("test/error", async () => {
  try {
    return respond(await ask("error"));
  } catch (error) {
    return error instanceof RpcError ? reject(error.code, error.message, error.data) : undefined;
  }
});
proxy.onRequest("test/denied", async () => {
  try {
    await agent.request("fs/unheard-of", {});
  } catch (error) {
    return respond(error instanceof RpcError && [error.code, error.message]);
  }
});
proxy.onRequest("test/not-told", () => {
  try {
    agent.notify("fs/unheard-of", {});
  } catch (error) {
    return respond(error instanceof ChannelError && error.code);
  }
});
proxy.onRequest("test/large", async () => {
  await ask("large");
  return respond("x".repeat(100_000));
});
proxy.onRequest("test/notify", () => {
  client.notify("own/told", { what: "it" });
  return respond(null);
});

// Of a message that is withdrawn, what it waits for is too.
proxy.onRequest("test/withdrawn", async () => respond(await Promise.all([ask("x"), ask("y")])));
proxy.onRequest("test/settles", async () => {
  try {
    await ask("x");
  } catch (error) {
    return error instanceof Cancelled ? respond("settled") : undefined;
  }
});
proxy.onRequest("test/stuck", () => new Promise(() => {}));
proxy.onRequest("test/shared", async () => {
  await agent.request("own/late", {}).catch(() => {});
  return respond(await ask("too late"));
});

proxy.onNotification("test/discard", () => discard());
proxy.onNotification("test/tell", ({ params }) => [set("/seen", params)]);
proxy.onResponse("test/answer", ({ result, error }) => (error ? reject(1, `not ${error.message}`) : [set("/seen", result)]));
proxy.onResponse("test/answer-*", { body: false }, ({ result }) => [set("/seen", result.n + 1)]);

export const { handler } = proxy;
