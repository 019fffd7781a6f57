"""What a handler returns."""

from __future__ import annotations

from typing import Any, Optional, Sequence, TypedDict, Union

from . import _wit
from ._json import dumps

Edit = _wit.Edit
Action = _wit.Action
Returned = Union[Action, Sequence[Edit], None]


class Text(TypedDict):
    """A block of text, as it is in prompts, in updates and in results of tools."""

    type: str
    text: str


def text(text: str) -> Text:
    """A block of text, as it is in prompts, in updates and in results of tools."""
    return {"type": "text", "text": text}


def put(pointer: str, value: Any) -> Edit:
    """This value at a JSON Pointer (RFC 6901). A last part `-` adds to an array; objects that are
    missing on the way are made."""
    return _wit.put(pointer, dumps(value))


def remove(pointer: str) -> Edit:
    """What is at a JSON Pointer goes."""
    return _wit.remove(pointer)


def respond(result: Any) -> Action:
    """The request is answered with this result, and goes no further."""
    return _wit.respond(dumps(result))


def reject(code: int, message: str, data: Any = None) -> Action:
    """The request is answered with this error, and goes no further; a response goes on as this error."""
    return _wit.reject(code, message, None if data is None else dumps(data))


def replace(value: Any) -> Action:
    """The message goes on with this body, or as this result. It may differ at places that a power lets
    change. An edit keeps more: numbers that Python cannot hold, and what it does not name."""
    return _wit.replace(dumps(value))


def discard() -> Action:
    """The notification goes no further."""
    return _wit.DISCARD


def action(returned: Any, handler: Any) -> Action:
    """What becomes of a message for which a handler returned this."""
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
