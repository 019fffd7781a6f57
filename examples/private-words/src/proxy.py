"""Hides words in the results of the agent's tools before the agent's model reads them."""

from __future__ import annotations

import re
from typing import Any, Optional

from acp_chain import Proxy, Request, put, reject

# Better no result than one with such a word.
proxy = Proxy(on_failure="refuse", guard=True)

hidden: Optional[re.Pattern[str]] = None


@proxy.on_start
def start(config: Any, saved: Any) -> None:
    global hidden
    hidden = re.compile("|".join(map(re.escape, config["words"])), re.IGNORECASE)


@proxy.on_request("_acp-chain/hook/after_tool", sender="agent")
def hide(request: Request[Any]) -> Any:
    assert hidden
    result = request.params
    found = {at: text for at, text in enumerate(result["output"]) if hidden.search(text)}
    if not found:
        return None
    if result["canChange"]:
        return [put(f"/output/{at}", hidden.sub("***", text)) for at, text in found.items()]
    # Some agents take no other texts, so their model gets this reason in place of the result.
    return reject(-32600, "the result has a word that the user keeps private")


Handler = proxy.Handler
