"""Counts the tool calls of a turn, and shows the number at its end."""

from collections import Counter

from acp_chain import Proxy, client, proxy_id, text

proxy = Proxy(on_failure="bypass")

# The tool calls of each session since its last turn.
calls: Counter[str] = Counter()


@proxy.on_notification("session/update", sender="agent", body=False)
def count(update):
    if update.read("/update/sessionUpdate") == "tool_call":
        calls[update.session] += 1


@proxy.on_response("session/prompt", sender="agent", body=False)
def tell(answer):
    if count := calls.pop(answer.session, 0):
        what = "1 tool call" if count == 1 else f"{count} tool calls"
        content = text(f"\n\n**{proxy_id()}**: {what} in this turn.\n\n")
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        client.notify("session/update", {"sessionId": answer.session, "update": update})


Handler = proxy.Handler
