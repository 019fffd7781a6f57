"""Proxies for acp-chain.

    from acp_chain import Proxy, put, text

    proxy = Proxy(on_failure="bypass")


    @proxy.on_request("session/prompt", sender="client", body=False)
    def brief(prompt):
        return [put("/prompt/-", text("Be brief."))]


    Handler = proxy.Handler

A handler receives a message, and returns its decision: None forwards it, a list of `put` and `remove` changes it,
`respond` and `reject` answer it, `replace` gives it another body, `discard` drops it. A handler may be an `async def`
that awaits answers: its message is then held, and other messages are handled meanwhile.

The types of the messages are in `acp_chain.acp`, for `if TYPE_CHECKING:`."""

from . import values
from ._actions import Action, Edit, discard, put, reject, remove, replace, respond, text
from ._call import Call
from ._messages import Message, Notification, Request, Response, RpcError
from ._proxy import (
    Proxy,
    agent,
    client,
    mark,
    prompts_changed,
    proxy_id,
    resource_changed,
    resources_changed,
    save,
    sleep,
    tools_changed,
)
from ._tasks import Cancelled, gather
from ._tools import ToolResult
from ._wit import ChannelError

__all__ = [
    "Action",
    "Call",
    "Cancelled",
    "ChannelError",
    "Edit",
    "Message",
    "Notification",
    "Proxy",
    "Request",
    "Response",
    "RpcError",
    "ToolResult",
    "agent",
    "client",
    "discard",
    "gather",
    "mark",
    "prompts_changed",
    "proxy_id",
    "put",
    "reject",
    "remove",
    "replace",
    "resource_changed",
    "resources_changed",
    "respond",
    "save",
    "sleep",
    "text",
    "tools_changed",
    "values",
]
