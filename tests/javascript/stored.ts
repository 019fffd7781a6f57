// Refuses the user's prompts after the hundredth of a day, in all editors together.
import { defineProxy, reject, respond, values } from "../sdk/acp-chain.js";

const proxy = defineProxy();

/** Counts a prompt of this day. Returns how many there were. */
async function count(day: string): Promise<number> {
  let prompts = 0;
  await values.update("user", "prompts", (stored) => {
    const last = JSON.parse(stored ?? "{}");
    prompts = last.day === day ? last.prompts + 1 : 1;
    return JSON.stringify({ day, prompts });
  });
  return prompts;
}

proxy.onRequest("session/prompt", { from: "client", body: false }, async () => {
  const today = new Date().toISOString().slice(0, 10);
  if ((await count(today)) > 100) return reject(-32000, "you have sent a hundred prompts today");
});

proxy.onRequest("test/count", async ({ params }) => respond(await count(params.day)));
proxy.onRequest("test/load", async ({ params: { of, key } }) => respond(await values.load(of, key)));
proxy.onRequest("test/store", async ({ params: { of, key, version, value } }) =>
  respond(await values.store(of, key, version, value)));
proxy.onRequest("test/remove", async ({ params: { of, key } }) =>
  respond(await values.update(of, key, () => undefined)));

// Another value is stored while this one is changed.
proxy.onRequest("test/late", async () => {
  let isFirst = true;
  const { value } = await values.update("user", "late", (stored) => {
    if (isFirst) void values.store("user", "late", 0, "theirs");
    isFirst = false;
    return `${stored ?? "none"} and mine`;
  });
  return respond(value);
});

export const { handler } = proxy;
