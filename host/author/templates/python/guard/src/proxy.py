"""Answers requests for permission by rule: what only reads is allowed, and the user is asked about
all else."""

from acp_chain import Proxy, respond

# The kinds of tool calls that are allowed, in the words of the protocol.
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
