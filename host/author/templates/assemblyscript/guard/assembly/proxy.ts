// Answers requests for permission by rule: what only reads is allowed, and the user is asked about all else.
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

// The kinds of tool calls that are allowed, in the words of the protocol.
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
