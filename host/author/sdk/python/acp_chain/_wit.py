"""The adapter to the WIT: the host's functions that a proxy calls, and the exported functions.

No other file of this package imports `wit_world`, which componentize-py makes from the project's WIT."""

from __future__ import annotations

from typing import Any, Callable, Literal, Optional, ParamSpec, Protocol, Self, Sequence, TypeVar, Union

from componentize_py_types import Err, Ok
from wit_world import exports
from wit_world.imports import channel, types

try:
    from wit_world.imports import calls  # type: ignore[attr-defined, unused-ignore]
except ImportError:  # A world without tools, resources or prompts lacks this import.
    pass

P = ParamSpec("P")
R = TypeVar("R")

Sender = Literal["client", "agent"]
Kind = Literal["request", "notification", "response"]
FailurePolicy = Literal["restart", "bypass", "refuse"]

Action = types.Action
Edit = types.Edit
Head = types.Head
Level = channel.Level

_PEERS: dict[str, types.Peer] = {"client": types.Peer.CLIENT, "agent": types.Peer.AGENT}
_SENDERS: dict[types.Peer, Sender] = {types.Peer.CLIENT: "client", types.Peer.AGENT: "agent"}
_WANTED: dict[Optional[str], types.Sender] = {
    None: types.Sender.ANY,
    "client": types.Sender.CLIENT,
    "agent": types.Sender.AGENT,
}
_KINDS: dict[str, types.Kinds] = {kind.name.lower(): kind for kind in types.Kinds if kind.name}

ACTIONS = (
    types.Action_Forward,
    types.Action_Edit,
    types.Action_Replace,
    types.Action_Respond,
    types.Action_Reject,
    types.Action_Discard,
)
FORWARD: Action = types.Action_Forward()
HOLD: Action = types.Action_Hold()
DISCARD: Action = types.Action_Discard()


Code = Literal["denied", "unknown-message", "invalid", "full", "other"]

_CODES: dict[channel.ErrorCode, Code] = {
    channel.ErrorCode.DENIED: "denied",
    channel.ErrorCode.UNKNOWN_MESSAGE: "unknown-message",
    channel.ErrorCode.INVALID: "invalid",
    channel.ErrorCode.FULL: "full",
    channel.ErrorCode.OTHER: "other",
}


class ChannelError(Exception):
    """Why a call to the host failed."""

    code: Code

    def __init__(self, error: channel.ChannelError) -> None:
        self.code = _CODES[error.code]
        super().__init__(error.message)


# An unpaired surrogate, which a text from JSON may have, would end the instance when passed to the host.


def told(text: str) -> str:
    """A text for people: `?` replaces unpaired surrogates."""
    return text.encode(errors="replace").decode()


def checked(text: str) -> str:
    """A name: an unpaired surrogate is an error, since the host has no such name."""
    text.encode()
    return text


def _raising(call: Callable[P, R]) -> Callable[P, R]:
    """Wraps a function of the host to raise a `ChannelError`."""

    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        for arg in args:
            if isinstance(arg, str):
                checked(arg)
        try:
            return call(*args, **kwargs)
        except Err as error:
            raise ChannelError(error.value) from None

    return called


_request = _raising(channel.request)
_notify = _raising(channel.notify)
ask = _raising(channel.ask_caller)
settle = _raising(channel.settle)
_fail = _raising(channel.fail)
cancel = _raising(channel.cancel)
wake_after = _raising(channel.wake_after)
read = _raising(channel.read)
save = _raising(channel.save)
_load_value = _raising(channel.load_value)
_store_value = _raising(channel.store_value)
_progress = _raising(channel.report_progress)
meta = _raising(channel.call_meta)
tools_changed = _raising(channel.tools_changed)
resources_changed = _raising(channel.resources_changed)
resource_changed = _raising(channel.resource_changed)
prompts_changed = _raising(channel.prompts_changed)
proxy_id = channel.proxy_id


def log(level: Level, text: str) -> None:
    channel.log(level, told(text))


def fail(message: int, reason: str) -> None:
    _fail(message, told(reason))


def progress(call: int, progress: float, total: Optional[float], message: Optional[str]) -> None:
    _progress(call, progress, total, None if message is None else told(message))


def request(to: Sender, method: str, params: str) -> int:
    return _request(_PEERS[to], method, params)


def notify(to: Sender, method: str, params: str) -> None:
    _notify(_PEERS[to], method, params)


def load_value(project: Optional[str], key: str) -> int:
    return _load_value(_keeper(project), key)


def store_value(project: Optional[str], key: str, version: int, value: Optional[str]) -> int:
    return _store_value(_keeper(project), key, version, value)


def _keeper(project: Optional[str]) -> channel.Keeper:
    return channel.Keeper_User() if project is None else channel.Keeper_Project(checked(project))


def sender(head: Head) -> Sender:
    return _SENDERS[head.sender]


# Actions. Bodies are JSON text.


def put(pointer: str, value: str) -> Edit:
    return Edit(checked(pointer), types.Change_Set(value))


def remove(pointer: str) -> Edit:
    return Edit(checked(pointer), types.Change_Remove())


def edit(edits: list[Edit]) -> Action:
    return types.Action_Edit(edits)


def respond(result: str) -> Action:
    return types.Action_Respond(result)


def reject(code: int, message: str, data: Optional[str]) -> Action:
    return types.Action_Reject(types.RpcError(code, told(message), data))


def replace(body: str) -> Action:
    return types.Action_Replace(body)


# The exported functions.

Outcome = Union[Ok[str], "Err[types.RpcError]"]


class Subscription:
    """The messages that a handler receives. It matches the same messages as in the host."""

    __slots__ = ("method", "peer", "prefix", "wit")

    def __init__(self, kind: Kind, method: str, sender: Optional[Sender], body: bool) -> None:
        if "*" in method[:-1]:
            raise ValueError(f"{method!r} is neither a method nor a prefix of methods that ends in *")
        if sender is not None and sender not in _PEERS:
            raise ValueError(f'{sender!r} is not a sender: use "client", "agent" or None')
        self.peer = _PEERS[sender] if sender else None
        self.prefix = method[:-1] if method.endswith("*") else None
        self.method = method
        self.wit = types.Subscription(method, _WANTED[sender], _KINDS[kind], body)

    def matches(self, head: Head) -> bool:
        if self.peer is not None and self.peer is not head.sender:
            return False
        if self.prefix is not None:
            return head.method.startswith(self.prefix)
        return head.method == self.method


class Registration:
    def __init__(self, on_failure: FailurePolicy, guard: bool) -> None:
        policies = {policy.name.lower(): policy for policy in types.FailurePolicy}
        if on_failure not in policies:
            raise ValueError(f'on_failure is "restart", "bypass" or "refuse", and not {on_failure!r}')
        self.on_failure = policies[on_failure]
        self.guard = guard

    def of(self, subscriptions: Sequence[Subscription]) -> types.Registration:
        wit = [subscription.wit for subscription in subscriptions]
        return types.Registration(wit, self.on_failure, self.guard)


class Receiver(Protocol):
    """The receiver of the host's calls. The text of an exception becomes an `err`."""

    def _start(self, config: str, saved: Optional[str]) -> types.Registration: ...
    def _receive(self, kind: Kind, head: Head, body: Any) -> Action: ...
    def _cancel(self, message: int) -> None: ...
    def _list_tools(self, session: Optional[str]) -> tuple[Optional[str], list[str]]: ...
    def _call_tool(self, call: int, session: Optional[str], name: str, arguments: str) -> Action: ...
    def _list_resources(self, session: Optional[str]) -> tuple[Optional[str], list[str], list[str]]: ...
    def _read_resource(self, call: int, session: Optional[str], uri: str) -> Action: ...
    def _list_prompts(self, session: Optional[str]) -> list[str]: ...
    def _get_prompt(self, call: int, session: Optional[str], name: str, arguments: str) -> Action: ...
    def _complete(
        self, call: int, session: Optional[str], reference: str, argument: str, value: str, context: str
    ) -> Action: ...


def failed(reason: str) -> Err[str]:
    """An exception of a receiver."""
    return Err(told(reason))


class Exported:
    """The host creates an instance for every call, so creation returns the same receiver."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def __call__(self) -> Self:
        return self


class Handler(Exported):
    def init(self, config: str, saved: Optional[str]) -> types.Registration:
        return self._receiver._start(config, saved)

    def on_request(self, request: types.Request) -> Action:
        return self._receiver._receive("request", request.head, request.params)

    def on_notification(self, notification: types.Notification) -> Action:
        return self._receiver._receive("notification", notification.head, notification.params)

    def on_response(self, response: types.Response) -> Action:
        return self._receiver._receive("response", response.head, response.outcome)

    def on_cancel(self, id: int) -> None:
        self._receiver._cancel(id)


# The exports that a world may lack.


class Tools(Exported):
    def list_tools(self, session: Optional[str]) -> Any:
        return _exported("tools").Catalog(*self._receiver._list_tools(session))

    def call_tool(self, call: Any) -> Any:
        return _outcome(self._receiver._call_tool(call.id, call.session, call.name, call.arguments))


class Resources(Exported):
    def list_resources(self, session: Optional[str]) -> Any:
        return _exported("resources").Catalog(*self._receiver._list_resources(session))

    def read_resource(self, read: Any) -> Any:
        return _outcome(self._receiver._read_resource(read.id, read.session, read.uri))


class Prompts(Exported):
    def list_prompts(self, session: Optional[str]) -> list[str]:
        return self._receiver._list_prompts(session)

    def get_prompt(self, call: Any) -> Any:
        return _outcome(self._receiver._get_prompt(call.id, call.session, call.name, call.arguments))


class Completion(Exported):
    def complete(self, call: Any) -> Any:
        reference, written = call.reference, (call.argument, call.value, call.context)
        return _outcome(self._receiver._complete(call.id, call.session, reference, *written))


def _outcome(action: Action) -> Any:
    match action:
        case types.Action_Respond(result):
            return calls.Outcome_Done(result)
        case types.Action_Reject(error):
            raise Err(error)
    return calls.Outcome_Pending()


def _exported(interface: str) -> Any:
    return getattr(exports, interface)


def check_exported(what: str, interface: str, world: str) -> None:
    """Raises an error if the world lacks the export for an offer."""
    if not hasattr(exports, interface):
        raise TypeError(f"a proxy with {what} includes `{world}` in wit/world.wit")
