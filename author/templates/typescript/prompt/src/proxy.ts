// Asks the agent for brief answers.
import { defineHandler } from "../sdk/proxy.js";

const block = { type: "text", text: "Be brief." };

export const handler = defineHandler({
  init: () => ({
    subscriptions: [
      { method: "session/prompt", sender: "client", kinds: { request: true }, withBody: false },
    ],
    // A prompt is better without it than not sent at all.
    onFailure: "bypass",
    guard: false,
  }),

  onRequest: () => ({
    tag: "edit",
    val: [{ pointer: "/prompt/-", change: { tag: "set", val: JSON.stringify(block) } }],
  }),
});
