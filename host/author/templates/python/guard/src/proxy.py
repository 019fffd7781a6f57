"""Answers permission requests by rule: allows reading and searching, and forwards all others to
the client."""

from acp_chain import Proxy, respond

# The kinds of tool calls (`ToolKind` of the protocol) that are allowed.
ALLOWED = {"read", "search"}

# Better no answer than a wrong one.
proxy = Proxy(on_failure="refuse", guard=True)


@proxy.on_request("session/request_permission", sender="agent")
def decide(request):
    match request.params:
        case {"toolCall": {"kind": str(kind)}, "options": list(options)} if kind in ALLOWED:
            for option in options:
                if option["kind"] == "allow_once":
                    return respond({"outcome": {"outcome": "selected", "optionId": option["optionId"]}})


Handler = proxy.Handler
