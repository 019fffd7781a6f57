// Counts the tool calls of a turn, and shows the number at its end.
import {
  Action,
  FailurePolicy,
  Kinds,
  Notification,
  Peer,
  Registration,
  Response,
  Sender,
  Subscription,
  channel,
  forward,
  notify,
  object,
  read,
  text,
} from "../sdk/acp-chain";

// The tool calls of each session since its last turn.
const calls = new Map<string, i32>();

export function init(_config: string, _saved: string | null): Registration {
  const updates = new Subscription("session/update", Sender.Agent, Kinds.Notification);
  const turns = new Subscription("session/prompt", Sender.Agent, Kinds.Response);
  return new Registration([updates, turns], FailurePolicy.Bypass);
}

export function onNotification(update: Notification): Action {
  const session = update.head.session;
  if (session != null && read(update.head.id, "/update/sessionUpdate").text() == "tool_call") {
    calls.set(session, (calls.has(session) ? calls.get(session) : 0) + 1);
  }
  return forward();
}

export function onResponse(turn: Response): Action {
  const session = turn.head.session;
  if (session == null || !calls.has(session)) return forward();
  const count = calls.get(session);
  calls.delete(session);
  const noun = count == 1 ? "tool call" : "tool calls";
  const content = text(`\n\n**${channel.proxyId()}**: ${count} ${noun} in this turn.\n\n`);
  const update = object().set("sessionUpdate", "agent_message_chunk").set("content", content);
  notify(Peer.Client, "session/update", object().set("sessionId", session).set("update", update));
  return forward();
}
