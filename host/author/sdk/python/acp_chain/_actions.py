"""The actions that handlers return."""

from __future__ import annotations

from typing import Any, Optional, Sequence, TypedDict, Union

from . import _wit
from ._json import dumps

Edit = _wit.Edit
Action = _wit.Action
Returned = Union[Action, Sequence[Edit], None]


class Text(TypedDict):
    """A block of text, for prompts, updates and results of tools."""

    type: str
    text: str


def text(text: str) -> Text:
    """A block of text, for prompts, updates and results of tools."""
    return {"type": "text", "text": text}


def put(pointer: str, value: Any) -> Edit:
    """Sets the value at a JSON Pointer (RFC 6901). A last part `-` adds to an array; missing objects
    are created."""
    return _wit.put(pointer, dumps(value))


def remove(pointer: str) -> Edit:
    """Removes the value at a JSON Pointer."""
    return _wit.remove(pointer)


def respond(result: Any) -> Action:
    """Answers the request with this result, instead of forwarding it."""
    return _wit.respond(dumps(result))


def reject(code: int, message: str, data: Any = None) -> Action:
    """Answers the request with this error, instead of forwarding it; or replaces a response by this error."""
    return _wit.reject(code, message, None if data is None else dumps(data))


def replace(value: Any) -> Action:
    """Forwards the message with this body, or as this result. The body may differ only at places that a power
    allows to change. Edits keep all other bytes unchanged, even numbers that Python cannot represent."""
    return _wit.replace(dumps(value))


def discard() -> Action:
    """Drops the notification."""
    return _wit.DISCARD


def action(returned: Any, handler: Any) -> Action:
    """The host's action for a handler's result."""
    if returned is None:
        return _wit.FORWARD
    if isinstance(returned, (list, tuple)) and all(type(edit) is Edit for edit in returned):
        return _wit.edit(list(returned)) if returned else _wit.FORWARD
    if isinstance(returned, _wit.ACTIONS):
        return returned
    name = getattr(handler, "__name__", handler)
    raise TypeError(
        f"{name} returned a value of {type(returned).__name__}: a handler returns None, a list of edits, "
        "respond(…), reject(…), replace(…) or discard()"
    )
