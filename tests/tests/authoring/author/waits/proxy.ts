// Adds a file of the client's to each prompt, which waits for it.
import {
  Action,
  FailurePolicy,
  Kinds,
  MessageId,
  Peer,
  Registration,
  Request,
  Response,
  Sender,
  Subscription,
  channel,
  edit,
  forward,
  hold,
  object,
  parse,
  reject,
  request,
  settle,
  text,
} from "../sdk/acp-chain";

// The prompts that wait, by the request for the file.
const waiting = new Map<MessageId, MessageId>();

export function init(_config: string, _saved: string | null): Registration {
  const prompts = new Subscription("session/prompt", Sender.Client, Kinds.Request);
  return new Registration([prompts], FailurePolicy.Bypass);
}

export function onRequest(prompt: Request): Action {
  const params = object().set("path", "/project/RULES.md").set("sessionId", prompt.head.session);
  waiting.set(request(Peer.Client, "fs/read_text_file", params), prompt.head.id);
  return hold();
}

export function onResponse(file: Response): Action {
  if (!waiting.has(file.head.id)) return forward();
  const prompt = waiting.get(file.head.id);
  waiting.delete(file.head.id);
  // Without the file, the prompt goes on as it is.
  const content = file.outcome.isOk ? parse(file.outcome.value).get("content").text() : "";
  settle(prompt, content.length == 0 ? forward() : edit("/prompt/-", text(content)));
  return forward();
}

export function onCancel(prompt: MessageId): void {
  const files = waiting.keys();
  for (let i = 0; i < files.length; i++) {
    if (waiting.get(files[i]) != prompt) continue;
    waiting.delete(files[i]);
    channel.cancel(files[i]);
  }
  // If it is settled already, the host has taken it back.
  channel.settle(prompt, reject(-32800, "Request cancelled"));
}
