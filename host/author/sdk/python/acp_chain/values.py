"""Values that outlast the connection, with the power `values.keep`: texts under keys, for the user or for a project.

    await values.update("user", "prompts", lambda prompts: str(int(prompts or 0) + 1))

The functions raise an `RpcError` like requests; then the earlier value stays. What only a restart of the proxy needs is
saved with `save` instead."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Literal, Optional, Union

from . import _tasks, _wit
from ._messages import RpcError

__all__ = ["Keeper", "Project", "Value", "load", "store", "update"]

_ATTEMPTS = 64


@dataclass(frozen=True)
class Project:
    """The project in which the session with this id is."""

    session: str


Keeper = Union[Literal["user"], Project]
"""Whose values: the user's, which are the same in all projects, or those of a project."""


@dataclass(frozen=True)
class Value:
    """A value, as it was loaded."""

    value: Optional[str]
    """The text; None if there is no value under the key."""

    version: int
    """The version of the value, which no other value under its key has had; 0 if there is none."""

    since: Optional[str]
    """The time since which the keeper has had values (RFC 3339); None if it has none. A proxy that remembers an earlier
    time sees that somebody has removed them."""


async def load(of: Keeper, key: str) -> Value:
    """Loads the value under a key of at most 256 bytes."""
    project = _project(of)
    return _loaded(await _tasks.answer("load-value", lambda method, json: _wit.load_value(project, key), None))


async def store(of: Keeper, key: str, version: int, value: Optional[str]) -> Union[int, Value]:
    """Stores a value of at most 64 KiB, or removes it (None), if its version is still this one: 0 if there is none.
    Returns the new version, 0 of a removed value; or the value that another connection has stored since this one was
    loaded."""
    project = _project(of)
    stored = await _tasks.answer(
        "store-value", lambda method, json: _wit.store_value(project, key, version, value), None
    )
    conflict = stored.get("conflict")
    return int(stored["version"]) if conflict is None else _loaded(conflict)


async def update(of: Keeper, key: str, change: Callable[[Optional[str]], Optional[str]]) -> Value:
    """Loads a value, changes it, and stores it; again with the new value if another connection has stored one
    meanwhile, so `change` may be called up to 64 times. Returns the value that is now stored; its `since` is from before
    the change."""
    found = await load(of, key)
    for _ in range(_ATTEMPTS):
        value = change(found.value)
        if value == found.value:
            return found
        stored = await store(of, key, found.version, value)
        if not isinstance(stored, Value):
            return replace(found, value=value, version=stored)
        found = stored
    message = f"{key!r} is not stored: other connections have changed it {_ATTEMPTS} times"
    raise RpcError(_tasks.INTERNAL, message)


def _project(of: Keeper) -> Optional[str]:
    if of == "user":
        return None
    if not isinstance(of, Project):
        raise TypeError(f'{of!r} has no values: use "user" or values.Project(session)')
    return of.session


def _loaded(value: Any) -> Value:
    return Value(value["value"], value["version"], value.get("since"))
