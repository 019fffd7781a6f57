"""Answers requests for permission by rule: what only reads is allowed, and the user is asked about
all else."""

import json

from acp_chain import (
    Action,
    Action_Forward,
    FailurePolicy,
    Passing,
    Registration,
    Request,
    Subscription,
    respond,
)
from wit_world.imports.types import Kinds, Sender

# The kinds of tool calls that are allowed, in the words of the protocol.
ALLOWED = {"read", "search"}


class Handler(Passing):
    def init(self, config: str, saved: str | None) -> Registration:
        asked = Subscription("session/request_permission", Sender.AGENT, Kinds.REQUEST, with_body=True)
        # Better no answer than a wrong one.
        return Registration([asked], on_failure=FailurePolicy.REFUSE, guard=True)

    def on_request(self, request: Request) -> Action:
        match json.loads(request.params):
            case {"toolCall": {"kind": str(kind)}, "options": list(options)} if kind in ALLOWED:
                for option in options:
                    if option["kind"] == "allow_once":
                        chosen = {"outcome": "selected", "optionId": option["optionId"]}
                        return respond({"outcome": chosen})
        return Action_Forward()
