"""What the arguments of prompts, and the variables of templates, could be."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Optional, Sequence, Union

from ._actions import Action, respond
from ._call import finished
from ._json import loads

Complete = Callable[[str, dict[str, str]], Union[Sequence[str], Awaitable[Sequence[str]]]]
"""Gives what a text that is being written could be, the best first, by what of it is there and what else is known."""

# How many there may be at once (MCP, `CompleteResult`).
MOST = 100


async def complete(completer: Optional[Complete], value: str, context: str) -> Action:
    """Completes an argument; without a completer, by nothing."""
    found: list[Any] = list(await finished(completer(value, loads(context)))) if completer else []
    return respond({"completion": {"values": found[:MOST], "total": len(found), "hasMore": len(found) > MOST}})
