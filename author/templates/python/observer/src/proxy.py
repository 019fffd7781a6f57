"""Counts the tool calls of a turn, and says at its end how many there were."""

import json
from collections import Counter

from acp_chain import (
    Action,
    Action_Forward,
    FailurePolicy,
    Notification,
    Passing,
    Registration,
    Response,
    Subscription,
    channel,
    read,
)
from wit_world.imports.types import Kinds, Peer, Sender

# The tool calls of each session since its last turn.
calls: Counter[str] = Counter()


class Handler(Passing):
    def init(self, config: str, saved: str | None) -> Registration:
        updates = Subscription("session/update", Sender.AGENT, Kinds.NOTIFICATION, with_body=False)
        turns = Subscription("session/prompt", Sender.AGENT, Kinds.RESPONSE, with_body=False)
        return Registration([updates, turns], on_failure=FailurePolicy.BYPASS, guard=False)

    def on_notification(self, notification: Notification) -> Action:
        head = notification.head
        if head.session and read(head.id, "/update/sessionUpdate") == "tool_call":
            calls[head.session] += 1
        return Action_Forward()

    def on_response(self, response: Response) -> Action:
        session = response.head.session
        if session and (count := calls.pop(session, 0)):
            text = f"\n\n**{channel.proxy_id()}**: {count} tool calls in this turn.\n\n"
            content = {"type": "text", "text": text}
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            params = {"sessionId": session, "update": update}
            channel.notify(Peer.CLIENT, "session/update", json.dumps(params))
        return Action_Forward()
