"""Completes the arguments of prompts, and the variables of templates."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Optional, Sequence, Union

from ._actions import Action, respond
from ._call import finished
from ._json import loads

Complete = Callable[[str, dict[str, str]], Union[Sequence[str], Awaitable[Sequence[str]]]]
"""Completes a text, the best value first, given its beginning and the other known arguments."""

# The maximum number of values (MCP, `CompleteResult`).
MOST = 100


async def complete(completer: Optional[Complete], value: str, context: str) -> Action:
    """Completes an argument; without a completer, there are no values."""
    found: list[Any] = list(await finished(completer(value, loads(context)))) if completer else []
    return respond({"completion": {"values": found[:MOST], "total": len(found), "hasMore": len(found) > MOST}})
