"""A proxy: the handlers of an author, and what the host calls of them."""

from __future__ import annotations

import inspect
from types import CoroutineType
from typing import Any, Awaitable, Callable, Mapping, Optional, TypeVar, Union, overload

from . import _log, _tasks, _wit
from ._actions import Returned, action, reject
from ._json import dumps, loads
from ._messages import Message, Notification, Request, Response
from ._tools import Tool, call_tool

Handled = Union[Returned, Awaitable[Returned]]
OnRequest = TypeVar("OnRequest", bound=Callable[[Request[Any]], Handled])
OnNotification = TypeVar("OnNotification", bound=Callable[[Notification[Any]], Handled])
OnResponse = TypeVar("OnResponse", bound=Callable[[Response[Any]], Handled])
OnStart = TypeVar("OnStart", bound=Callable[[Any, Any], None])
Function = TypeVar("Function", bound=Callable[..., Any])

MESSAGES: dict[_wit.Kind, type[Message[Any]]] = {
    "request": Request,
    "notification": Notification,
    "response": Response,
}


class Proxy:
    """A proxy. Its handlers are functions, each of which subscribes to the messages that it gets.

    `on_failure` says what becomes of its messages if it breaks: "restart", "bypass" for what only adds comfort,
    "refuse" for what guards. A `guard` stands next to the agent, and nobody alters what it decided.
    `instructions` tell the model how to use its tools together."""

    def __init__(
        self,
        *,
        on_failure: _wit.FailurePolicy = "restart",
        guard: bool = False,
        instructions: Optional[str] = None,
    ) -> None:
        self._registration = _wit.Registration(on_failure, guard)
        self._instructions = instructions
        self._subscriptions: list[_wit.Subscription] = []
        self._handlers: dict[_wit.Kind, list[tuple[_wit.Subscription, Callable[[Any], Any]]]] = {
            kind: [] for kind in MESSAGES
        }
        self._on_start: Optional[Callable[[Any, Any], None]] = None
        self._tools: dict[str, Tool] = {}

    def on_request(
        self, method: str, *, sender: Optional[_wit.Sender] = None, body: bool = True
    ) -> Callable[[OnRequest], OnRequest]:
        """A handler of requests: of this method, or of all that begin so if it ends in `*`; of one sender
        or both. The first that was given gets a message. Without its body, it comes at any length."""
        return self._on("request", method, sender, body)

    def on_notification(
        self, method: str, *, sender: Optional[_wit.Sender] = None, body: bool = True
    ) -> Callable[[OnNotification], OnNotification]:
        """A handler of notifications, see `on_request`."""
        return self._on("notification", method, sender, body)

    def on_response(
        self, method: str, *, sender: Optional[_wit.Sender] = None, body: bool = True
    ) -> Callable[[OnResponse], OnResponse]:
        """A handler of the responses to requests of this method, see `on_request`. The sender is who
        answers."""
        return self._on("response", method, sender, body)

    def _on(
        self, kind: _wit.Kind, method: str, sender: Optional[_wit.Sender], body: bool
    ) -> Callable[[Function], Function]:
        subscription = _wit.Subscription(kind, method, sender, body)

        def register(handler: Function) -> Function:
            self._subscriptions.append(subscription)
            self._handlers[kind].append((subscription, handler))
            return handler

        return register

    def on_start(self, start: OnStart) -> OnStart:
        """Is called once, before any message, with the proxy's configuration, and with what it saved before it
        broke (else None). What it raises, the user is told, and the proxy does not start."""
        if self._on_start is not None:
            raise TypeError("there are two functions for on_start")
        if inspect.iscoroutinefunction(start):
            raise TypeError("on_start takes no `async def`: there is nobody yet to wait for")
        self._on_start = start
        return start

    @overload
    def tool(self, function: Function, /) -> Function: ...

    @overload
    def tool(
        self,
        *,
        name: Optional[str] = None,
        title: Optional[str] = None,
        description: Optional[str] = None,
        input_schema: Optional[Mapping[str, Any]] = None,
        output_schema: Optional[Mapping[str, Any]] = None,
        read_only: Optional[bool] = None,
        destructive: Optional[bool] = None,
        idempotent: Optional[bool] = None,
        open_world: Optional[bool] = None,
    ) -> Callable[[Function], Function]: ...

    def tool(self, *functions: Callable[..., Any], **given: Any) -> Any:
        """A tool for the agent. Its name is the function's, its description the docstring, and its input
        schema comes of the types of the parameters, unless they are given.

        The hints are those of MCP: whether it changes nothing, whether it may destroy, whether calling it again
        changes nothing more, and whether it deals with an open world."""

        def register(function: Function) -> Function:
            if not _wit.exports_tools():
                raise TypeError("a proxy with tools includes `tool-proxy` in wit/world.wit, in place of `proxy`")
            tool = Tool(function, **given)
            self._tools[tool.name] = tool
            return function

        return register(*functions) if functions else register

    @property
    def Handler(self) -> _wit.Handler:
        """What the component exports: `Handler = proxy.Handler`, behind all else."""
        _log.keep_sources()
        return _wit.Handler(self)

    @property
    def Tools(self) -> _wit.Tools:
        """What it exports besides, if it has tools: `Tools = proxy.Tools`."""
        return _wit.Tools(self)

    # The host's calls. Uncaught, an exception would be the end of the instance.

    def _start(self, config: str, saved: Optional[str]) -> Any:
        _log.start()
        try:
            if self._on_start is not None:
                self._on_start(loads(config), None if saved is None else loads(saved))
            return self._registration.of(self._subscriptions)
        except BaseException as error:
            raise _wit.failed(_log.failure(error)) from None

    def _receive(self, kind: _wit.Kind, head: _wit.Head, body: Any) -> _wit.Action:
        try:
            if kind == "response" and _tasks.answered(head.id, body):
                return _wit.FORWARD
            for subscription, handler in self._handlers[kind]:
                if subscription.matches(head):
                    returned = handler(MESSAGES[kind](head, body))
                    if returned is None:
                        return _wit.FORWARD
                    if type(returned) is CoroutineType:
                        return _tasks.run(head.id, returned)
                    return action(returned, handler)
            return _wit.FORWARD
        except BaseException as error:
            raise _wit.failed(_log.failure(error)) from None

    def _cancel(self, message: int) -> None:
        try:
            _tasks.cancel(message)
        except BaseException as error:
            raise _wit.failed(_log.failure(error)) from None

    def _list_tools(self, session: Optional[str]) -> tuple[Optional[str], list[str]]:
        return self._instructions, [tool.listed for tool in self._tools.values()]

    def _call_tool(self, call: int, session: Optional[str], name: str, arguments: str) -> _wit.Action:
        try:
            return _tasks.run(call, call_tool(self._tools.get(name), call, session, name, arguments))
        except BaseException as error:
            return reject(_tasks.INTERNAL, _log.failure(error))


class Neighbour:
    """The client or the agent, as the proxy talks to it."""

    def __init__(self, name: _wit.Sender) -> None:
        self._name: _wit.Sender = name

    async def request(self, method: str, params: Any = None) -> Any:
        """Asks it, and waits for its result. Its error is an `RpcError`, and so is that the host did not
        send the request."""
        name = self._name
        return await _tasks.answer(method, lambda method, json: _wit.request(name, method, json), params)

    def notify(self, method: str, params: Any = None) -> None:
        """Tells it something."""
        _wit.notify(self._name, method, dumps(params))


client = Neighbour("client")
agent = Neighbour("agent")


def save(value: Any) -> None:
    """Keeps this in place of what was kept before: `on_start` gets it if the proxy breaks and is started
    again. It is forgotten with the connection."""
    _wit.save(dumps(value))


def proxy_id() -> str:
    """The name of this proxy: its `id` in the manifest."""
    return _wit.proxy_id()


def mark() -> str:
    """The JSON Pointer at which the proxy may leave a mark, with the power `marks.add`."""
    return f"/_meta/acp-chain~1{proxy_id()}"


def tools_changed() -> None:
    """Says that the tools are others now."""
    _wit.tools_changed()
