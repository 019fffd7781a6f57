"""Messages that handlers receive."""

from __future__ import annotations

from typing import Any, Generic, Optional, TypeVar

from . import _wit
from ._json import loads

T = TypeVar("T")


class RpcError(Exception):
    """A JSON-RPC error in an answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class Message(Generic[T]):
    """Common properties of requests, notifications and responses."""

    __slots__ = ("_body", "_head", "_parsed")

    def __init__(self, head: _wit.Head, body: Any) -> None:
        self._head = head
        self._body = body

    @property
    def session(self) -> Optional[str]:
        """The session that the message names, if any."""
        return self._head.session

    @property
    def method(self) -> str:
        """The method; for a response, that of the request."""
        return self._head.method

    @property
    def sender(self) -> _wit.Sender:
        """The neighbour that sent the message."""
        return _wit.sender(self._head)

    @property
    def size(self) -> int:
        """The size of the body in bytes."""
        return self._head.size

    @property
    def json(self) -> str:
        """The body as JSON text. With `body=False`, it is read on first use."""
        if self._body == "":
            self._body = _wit.read(self._head.id, "") or "null"
        text: str = self._body
        return text

    def read(self, pointer: str) -> Any:
        """The value at a JSON Pointer (RFC 6901) of the body; None if there is none. It is read from the host's
        copy, so a large body is not passed to the proxy."""
        part = _wit.read(self._head.id, pointer)
        return None if part is None else loads(part)

    def _parse(self) -> Any:
        if not hasattr(self, "_parsed"):
            self._parsed: Any = loads(self.json)
        return self._parsed


class Request(Message[T]):
    __slots__ = ()

    @property
    def params(self) -> T:
        """The parameters, parsed once. Changing them has no effect on the message."""
        params: T = self._parse()
        return params


class Notification(Message[T]):
    __slots__ = ()

    @property
    def params(self) -> T:
        """The parameters, parsed once. Changing them has no effect on the message."""
        params: T = self._parse()
        return params


class Response(Message[T]):
    """A response: a result or an error."""

    __slots__ = ("error",)

    error: Optional[RpcError]
    """The error; None if there is a result."""

    def __init__(self, head: _wit.Head, outcome: _wit.Outcome) -> None:
        try:
            super().__init__(head, result(outcome))
            self.error = None
        except RpcError as error:
            super().__init__(head, "null")
            self.error = error

    @property
    def result(self) -> T:
        """The result, parsed once; None if there is an error."""
        result: T = self._parse()
        return result


def result(outcome: _wit.Outcome) -> str:
    """The result of an answer as JSON text; an error is raised."""
    value = outcome.value
    if isinstance(value, str):
        return value
    raise RpcError(value.code, value.message, None if value.data is None else data(value.data))


def data(text: str) -> Any:
    """The data of an error. Data that cannot be parsed stays a text, so that the error is raised in any case."""
    try:
        return loads(text)
    except ValueError:
        return text
