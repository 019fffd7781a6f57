// Asks the agent for brief answers.
import { defineProxy, set, text } from "../sdk/acp-chain.js";

// If the proxy breaks, prompts are forwarded unchanged.
const proxy = defineProxy({ onFailure: "bypass" });

proxy.onRequest("session/prompt", { from: "client", body: false }, () => [set("/prompt/-", text("Be brief."))]);

export const { handler } = proxy;
