// Answers permission requests by rule: allows reading and searching, and forwards all others to the client.
import {
  Action,
  FailurePolicy,
  Kinds,
  Registration,
  Request,
  Sender,
  Subscription,
  forward,
  object,
  parse,
  respond,
} from "../sdk/acp-chain";

// The kinds of tool calls (`ToolKind` of the protocol) that are allowed.
const ALLOWED = ["read", "search"];

export function init(_config: string, _saved: string | null): Registration {
  const asked = new Subscription("session/request_permission", Sender.Agent, Kinds.Request, true);
  // Better no answer than a wrong one.
  return new Registration([asked], FailurePolicy.Refuse, true);
}

export function onRequest(request: Request): Action {
  const asked = parse(request.params);
  const kind = asked.get("toolCall").get("kind").text("other");
  if (!ALLOWED.includes(kind)) return forward();
  const options = asked.get("options").items();
  for (let i = 0; i < options.length; i++) {
    if (options[i].get("kind").text() != "allow_once") continue;
    const outcome = object().set("outcome", "selected").set("optionId", options[i].get("optionId"));
    return respond(object().set("outcome", outcome));
  }
  return forward();
}
