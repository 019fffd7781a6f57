"""Shows after each turn its cost, and the cost of the session so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from acp_chain import Notification, Proxy, Response, client, proxy_id, save, text

if TYPE_CHECKING:
    from acp_chain.acp import PromptResponse, SessionNotification

proxy = Proxy(on_failure="restart")

# The cost of each session, as last reported by its agent, and the part that was shown.
costs: dict[Optional[str], dict[str, Any]] = {}


@proxy.on_start
def start(config: Any, saved: Any) -> None:
    costs.update(saved or {})


@proxy.on_notification("session/update", sender="agent", body=False)
def note(update: Notification[SessionNotification]) -> None:
    if update.read("/update/sessionUpdate") != "usage_update":
        return
    # Agents report the cost of the whole session; some report none.
    if cost := update.read("/update/cost"):
        costs.setdefault(update.session, {"told": 0.0}).update(cost)
        save(costs)


@proxy.on_response("session/prompt", sender="agent", body=False)
def tell(turn: Response[PromptResponse]) -> None:
    cost = costs.get(turn.session)
    if not cost or cost["amount"] == cost["told"]:
        return
    spent, cost["told"] = cost["amount"] - cost["told"], cost["amount"]
    save(costs)
    said = f"this turn {spent:.2f} {cost['currency']}, this session {cost['amount']:.2f}"
    content = text(f"\n\n**{proxy_id()}**: {said}\n\n")
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    client.notify("session/update", {"sessionId": turn.session, "update": update})


Handler = proxy.Handler
