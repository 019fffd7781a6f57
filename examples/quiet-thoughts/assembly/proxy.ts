// Discards the agent's thoughts, and sends one line with their number when the answer begins.
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
  discard,
  forward,
  notify,
  object,
  read,
  text,
} from "../sdk/acp-chain";

// The number of thoughts of each session since the last such line.
const thoughts = new Map<string, i32>();

export function init(_config: string, _saved: string | null): Registration {
  const updates = new Subscription("session/update", Sender.Agent, Kinds.Notification);
  const turns = new Subscription("session/prompt", Sender.Agent, Kinds.Response);
  // If the proxy breaks, thoughts are forwarded.
  return new Registration([updates, turns], FailurePolicy.Bypass);
}

export function onNotification(update: Notification): Action {
  const session = update.head.session;
  if (session == null) return forward();
  const kind = read(update.head.id, "/update/sessionUpdate").text();
  if (kind == "agent_thought_chunk") {
    thoughts.set(session, (thoughts.has(session) ? thoughts.get(session) : 0) + 1);
    return discard();
  }
  if (kind == "agent_message_chunk") tell(session);
  return forward();
}

// A turn may end without an answer.
export function onResponse(turn: Response): Action {
  const session = turn.head.session;
  if (session != null) tell(session);
  return forward();
}

// Sends the number of thoughts, before the message that is being handled.
function tell(session: string): void {
  if (!thoughts.has(session)) return;
  const count = thoughts.get(session);
  thoughts.delete(session);
  const said = text(`thought for ${count} ${count == 1 ? "chunk" : "chunks"}`);
  const update = object().set("sessionUpdate", "agent_thought_chunk").set("content", said);
  notify(Peer.Client, "session/update", object().set("sessionId", session).set("update", update));
}
