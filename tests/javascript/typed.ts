// What the types of the SDK know, and what they refuse.
import * as z from "zod";
import { agent, client, defineProxy, discard, reject, respond, set, values } from "../sdk/acp-chain.js";

const proxy = defineProxy();

proxy.onRequest("session/prompt", ({ session, params }) => {
  const words: string[] = params.prompt.map((block) => (block.type === "text" ? block.text : session));
  return [set("/words", words)];
});
proxy.onRequest("vendor/*", ({ session, params }) => respond([session?.length, params.anything]));
proxy.onNotification("session/update", async ({ params: { update } }) =>
  update.sessionUpdate === "tool_call" && update.title.length > 0 ? discard() : undefined);
proxy.onResponse("session/prompt", ({ result, error }) => (error || !result?.stopReason ? reject(1, "none") : undefined));
proxy.onResponse("session/prompt", ({ json, result, error }) =>
  void (error ? error.code : json.length + result.stopReason.length));
client.request("fs/read_text_file", { sessionId: "s", path: "/a" }).then(({ content }) => content.length);
client.request("vendor/any").then((result) => result.any);
agent.notify("session/cancel", { sessionId: "s" });
values.load({ project: "s" }, "n").then(({ value, version }) => (value?.length ?? 0) + version);
values.store("user", "n", 0, "1").then(({ version, conflict }) => version ?? conflict.version);

const input = z.object({ n: z.number(), s: z.string().default("") });
proxy.tool("zod", { description: "", input }, ({ n, s }) => n + s.length);
proxy.tool("json", {
  description: "",
  input: { type: "object", properties: { n: { type: "integer" }, s: { enum: ["a", "b"] } }, required: ["n"] },
}, ({ n, s }) => n + (s?.length ?? 0));

proxy.resource("notes:/{name}/{+path}", { complete: { name: (value) => [value] } }, ({ name, path }) => name + path);
proxy.prompt("review", { description: "", arguments: { file: {}, tone: { optional: true } } }, ({ file, tone }) =>
  file.length + (tone ?? ""));

// @ts-expect-error: there is no such member.
proxy.onRequest("session/prompt", ({ params }) => void params.prmpt);
// @ts-expect-error: a request has an answer.
proxy.onRequest("session/prompt", () => discard());
// @ts-expect-error: a notification has none.
proxy.onNotification("session/update", () => respond({}));
// @ts-expect-error: an error has no body.
proxy.onResponse("session/prompt", ({ json }) => json.length > 2 ? undefined : reject(1, "none"));
// @ts-expect-error: an edit is made by `set` or `remove`.
proxy.onRequest("session/prompt", () => [{ pointer: "/a", value: 1 }]);
// @ts-expect-error: there is no such neighbour.
proxy.onRequest("session/prompt", { from: "editor" }, () => {});
// @ts-expect-error: there is no such policy.
defineProxy({ onFailure: "ignore" });
// @ts-expect-error: a path is a text.
client.request("fs/read_text_file", { sessionId: "s", path: 1 });
// @ts-expect-error: its parameters are required.
client.request("fs/read_text_file");
// @ts-expect-error: values are texts.
values.store("user", "n", 0, 1);
// @ts-expect-error: there may be no value.
values.update("user", "n", (value) => value.trim());
// @ts-expect-error: there is no such argument.
proxy.tool("none", { description: "", input }, ({ m }) => m);
// @ts-expect-error: a tool says what it is for.
proxy.tool("none", {}, () => "");
// @ts-expect-error: there is no such variable.
proxy.resource("notes:/{name}", {}, ({ path }) => path);
// @ts-expect-error: it may have been left out.
proxy.prompt("none", { description: "", arguments: { tone: { optional: true } } }, ({ tone }) => tone.length);
