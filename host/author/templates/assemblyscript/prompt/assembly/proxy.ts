// Asks the agent for brief answers.
import { Action, FailurePolicy, Kinds, Registration, Request, Sender, Subscription, edit, text } from "../sdk/acp-chain";

export function init(_config: string, _saved: string | null): Registration {
  const prompts = new Subscription("session/prompt", Sender.Client, Kinds.Request);
  // If the proxy breaks, prompts are forwarded unchanged.
  return new Registration([prompts], FailurePolicy.Bypass);
}

export function onRequest(_prompt: Request): Action {
  return edit("/prompt/-", text("Be brief."));
}
