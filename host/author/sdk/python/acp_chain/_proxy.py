"""A proxy: the author's handlers, and the host's calls to them."""

from __future__ import annotations

import inspect
from types import CoroutineType
from typing import Any, Awaitable, Callable, Coroutine, Mapping, Optional, TypeVar, Union, overload

from . import _log, _tasks, _wit
from ._actions import Returned, action, reject
from ._call import Call, When
from ._completion import Complete, complete
from ._json import dumps, loads
from ._messages import Message, Notification, Request, Response
from ._prompts import Prompt, get
from ._resources import Resource, read
from ._tools import Tool, call_tool

Handled = Union[Returned, Awaitable[Returned]]
OnRequest = TypeVar("OnRequest", bound=Callable[[Request[Any]], Handled])
OnNotification = TypeVar("OnNotification", bound=Callable[[Notification[Any]], Handled])
OnResponse = TypeVar("OnResponse", bound=Callable[[Response[Any]], Handled])
OnStart = TypeVar("OnStart", bound=Callable[[Any, Any], None])
Function = TypeVar("Function", bound=Callable[..., Any])
Offered = TypeVar("Offered", Tool, Resource, Prompt)

MESSAGES: dict[_wit.Kind, type[Message[Any]]] = {
    "request": Request,
    "notification": Notification,
    "response": Response,
}


class Proxy:
    """A proxy. Its handlers are functions, each of which subscribes to the messages that it receives.

    `on_failure` is the policy for its messages if it breaks: "restart", "bypass" for proxies whose work is optional,
    "refuse" for guards. A `guard` stands next to the agent, and no other proxy may alter its decisions.
    `instructions` are for the model: how to use the tools and resources together."""

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
        self._resources: dict[str, Resource] = {}
        self._prompts: dict[str, Prompt] = {}

    def on_request(
        self, method: str, *, sender: Optional[_wit.Sender] = None, body: bool = True
    ) -> Callable[[OnRequest], OnRequest]:
        """A handler of requests with this method, or with this prefix if it ends in `*`, from one sender or both. The
        first matching handler receives a message. With `body=False`, messages of any length are received."""
        return self._on("request", method, sender, body)

    def on_notification(
        self, method: str, *, sender: Optional[_wit.Sender] = None, body: bool = True
    ) -> Callable[[OnNotification], OnNotification]:
        """A handler of notifications, see `on_request`."""
        return self._on("notification", method, sender, body)

    def on_response(
        self, method: str, *, sender: Optional[_wit.Sender] = None, body: bool = True
    ) -> Callable[[OnResponse], OnResponse]:
        """A handler of the responses to requests of this method, see `on_request`. The sender is the neighbour that
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
        """Called once, before any message, with the proxy's configuration, and with the value that it saved before it
        broke, or None. An exception is shown to the user, and prevents the start."""
        if self._on_start is not None:
            raise TypeError("there are two functions for on_start")
        if inspect.iscoroutinefunction(start):
            raise TypeError("on_start cannot be an `async def`: requests cannot be sent yet")
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
        when: Optional[When] = None,
    ) -> Callable[[Function], Function]: ...

    def tool(self, *functions: Callable[..., Any], **given: Any) -> Any:
        """A tool for the agent. By default, its name is the function's, its description the docstring, and its input
        schema is derived from the types of the parameters.

        The hints are those of MCP: whether the tool changes nothing, whether it may destroy data, whether repeated
        calls change nothing more, and whether it works on an open world.

        `when` returns whether a session has the tool. Default: all sessions."""

        def register(function: Function) -> Function:
            _wit.check_exported("tools", "tools", "tool-proxy")
            tool = Tool(function, **given)
            add(self._tools, "tool", tool.name, tool)
            return function

        return register(*functions) if functions else register

    def resource(
        self,
        uri: str,
        *,
        name: Optional[str] = None,
        title: Optional[str] = None,
        description: Optional[str] = None,
        mime_type: Optional[str] = None,
        complete: Optional[Mapping[str, Complete]] = None,
        when: Optional[When] = None,
    ) -> Callable[[Function], Function]:
        """A resource with this URI for the agent, or the resources of a template: its variables, `{name}` or
        `{+path}`, are the parameters of the function. By default, its name is the function's, and its description the
        docstring. `complete` has functions that complete variables. `when` returns whether a session lists it."""

        def register(function: Function) -> Function:
            _wit.check_exported("resources", "resources", "resource-proxy")
            self._check_completion(complete)
            made = Resource(
                function,
                uri,
                name=name,
                title=title,
                description=description,
                mime_type=mime_type,
                complete=complete,
                when=when,
            )
            add(self._resources, "resource", uri, made)
            return function

        return register

    @overload
    def prompt(self, function: Function, /) -> Function: ...

    @overload
    def prompt(
        self,
        *,
        name: Optional[str] = None,
        title: Optional[str] = None,
        description: Optional[str] = None,
        complete: Optional[Mapping[str, Complete]] = None,
        when: Optional[When] = None,
    ) -> Callable[[Function], Function]: ...

    def prompt(self, *functions: Callable[..., Any], **given: Any) -> Any:
        """A prompt that the user picks. Its name is the function's, its description the docstring, and its arguments
        are the parameters, all of them texts. `complete` has functions that complete arguments. `when` returns whether
        a session lists the prompt."""

        def register(function: Function) -> Function:
            _wit.check_exported("prompts", "prompts", "prompt-proxy")
            self._check_completion(given.get("complete"))
            prompt = Prompt(function, **given)
            add(self._prompts, "prompt", prompt.name, prompt)
            return function

        return register(*functions) if functions else register

    @staticmethod
    def _check_completion(complete: Optional[Mapping[str, Complete]]) -> None:
        if complete:
            _wit.check_exported("`complete`", "completion", "completion-proxy")

    @property
    def Handler(self) -> _wit.Handler:
        """Must be exported by the module, `Handler = proxy.Handler`, after everything else."""
        _log.keep_sources()
        return _wit.Handler(self)

    @property
    def Tools(self) -> _wit.Tools:
        """Must be exported if the proxy has tools: `Tools = proxy.Tools`."""
        return _wit.Tools(self)

    @property
    def Resources(self) -> _wit.Resources:
        """Must be exported if the proxy has resources: `Resources = proxy.Resources`."""
        return _wit.Resources(self)

    @property
    def Prompts(self) -> _wit.Prompts:
        """Must be exported if the proxy has prompts: `Prompts = proxy.Prompts`."""
        return _wit.Prompts(self)

    @property
    def Completion(self) -> _wit.Completion:
        """Must be exported if the proxy has completions: `Completion = proxy.Completion`."""
        return _wit.Completion(self)

    # The host's calls. An uncaught exception would end the instance.

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
        return self._instructions, [tool.listed for tool in there(self._tools, session)]

    def _call_tool(self, call: int, session: Optional[str], name: str, arguments: str) -> _wit.Action:
        return self._serve(call, call_tool(self._tools.get(name), Call(call, session), name, arguments))

    def _list_resources(self, session: Optional[str]) -> tuple[Optional[str], list[str], list[str]]:
        resources = there(self._resources, session)
        fixed = [resource.listed for resource in resources if not resource.is_template]
        templates = [resource.listed for resource in resources if resource.is_template]
        # If there are tools, their list has the instructions.
        return None if self._tools else self._instructions, fixed, templates

    def _read_resource(self, call: int, session: Optional[str], uri: str) -> _wit.Action:
        return self._serve(call, read(self._resources, Call(call, session), uri))

    def _list_prompts(self, session: Optional[str]) -> list[str]:
        return [prompt.listed for prompt in there(self._prompts, session)]

    def _get_prompt(self, call: int, session: Optional[str], name: str, arguments: str) -> _wit.Action:
        return self._serve(call, get(self._prompts.get(name), Call(call, session), name, arguments))

    def _complete(
        self, call: int, session: Optional[str], reference: str, argument: str, value: str, context: str
    ) -> _wit.Action:
        return self._serve(call, self._completed(reference, argument, value, context))

    async def _completed(self, reference: str, argument: str, value: str, context: str) -> _wit.Action:
        named = loads(reference)
        completed: Any = self._resources.get(named.get("uri"))
        if named["type"] == "ref/prompt":
            completed = self._prompts.get(named["name"])
        completer = completed.complete.get(argument) if completed else None
        return await complete(completer, value, context)

    @staticmethod
    def _serve(call: int, coroutine: Coroutine[Any, Any, _wit.Action]) -> _wit.Action:
        try:
            return _tasks.run(call, coroutine)
        except BaseException as error:
            return reject(_tasks.INTERNAL, _log.failure(error))


def add(offered: dict[str, Offered], kind: str, name: str, made: Offered) -> None:
    if name in offered:
        raise TypeError(f"the {kind} {name}: there is one already")
    offered[name] = made


def there(offered: Mapping[str, Offered], session: Optional[str]) -> list[Offered]:
    """The offers that a session has."""
    try:
        return [made for made in offered.values() if made.when is None or made.when(session)]
    except BaseException as error:
        raise _wit.failed(_log.failure(error)) from None


class Neighbour:
    """A neighbour: the client or the agent."""

    def __init__(self, name: _wit.Sender) -> None:
        self._name: _wit.Sender = name

    async def request(self, method: str, params: Any = None) -> Any:
        """Sends a request, and waits for the result. An error is raised as an `RpcError`, also if the host rejects the
        request."""
        name = self._name
        return await _tasks.answer(method, lambda method, json: _wit.request(name, method, json), params)

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        _wit.notify(self._name, method, dumps(params))


client = Neighbour("client")
agent = Neighbour("agent")


async def sleep(seconds: float) -> None:
    """Waits, for 10 ms at least, and an hour at most. After long computations, the next pause is longer."""
    milliseconds = round(seconds * 1000)
    await _tasks.answer("wake-after", lambda method, json: _wit.wake_after(milliseconds), None)


def save(value: Any) -> None:
    """Saves a value, replacing the previous one: `on_start` receives it if the proxy breaks and is restarted.
    The value is dropped with the connection."""
    _wit.save(dumps(value))


def proxy_id() -> str:
    """The name of this proxy: its `id` in the manifest."""
    return _wit.proxy_id()


def mark() -> str:
    """The JSON Pointer that the proxy may set with the power `marks.add`."""
    return f"/_meta/acp-chain~1{proxy_id()}"


def tools_changed() -> None:
    """Notifies the agent that the list of tools has changed."""
    _wit.tools_changed()


def resources_changed() -> None:
    """Notifies the agent that the list of resources has changed."""
    _wit.resources_changed()


def resource_changed(uri: str) -> None:
    """Notifies subscribers that a resource has changed."""
    _wit.resource_changed(uri)


def prompts_changed() -> None:
    """Notifies the agent that the list of prompts has changed."""
    _wit.prompts_changed()
