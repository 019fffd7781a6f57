"""Prompts that the user picks."""

from __future__ import annotations

import inspect
import typing
from typing import Annotated, Any, Callable, Mapping, Optional

from . import _wit
from ._actions import Action, reject, respond, text
from ._call import Call, Function, When
from ._completion import Complete
from ._json import dumps, loads

INVALID_PARAMS = -32602


class Prompt:
    """A prompt: its function, and its entry in the list."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: Optional[str] = None,
        title: Optional[str] = None,
        description: Optional[str] = None,
        complete: Optional[Mapping[str, Complete]] = None,
        when: Optional[When] = None,
    ) -> None:
        self.name = name or function.__name__
        self.when = when
        what = f"the prompt {self.name}"
        self.function = Function(function, what)
        parameters = self.function.parameters.values()
        self.complete = complete or {}
        if unknown := set(self.complete) - set(self.function.parameters):
            raise TypeError(f"{what}: it has no argument {min(unknown)} to complete")
        members = {
            "name": self.name,
            "title": title,
            "description": description or inspect.getdoc(function),
            "arguments": [argument(parameter) for parameter in parameters],
        }
        self.listed = dumps({name: value for name, value in members.items() if value is not None})


def argument(parameter: inspect.Parameter) -> dict[str, Any]:
    """The entry of an argument: `Annotated` has its description, and a default makes it optional."""
    listed: dict[str, Any] = {"name": parameter.name, "required": parameter.default is parameter.empty}
    if typing.get_origin(parameter.annotation) is Annotated:
        described = [said for said in parameter.annotation.__metadata__ if isinstance(said, str)]
        if described:
            listed["description"] = described[0]
    return listed


async def get(prompt: Optional[Prompt], call: Call, name: str, arguments: str) -> Action:
    """Calls a prompt's function."""
    if prompt is None:
        return reject(INVALID_PARAMS, f"there is no prompt `{name}` any more")
    known = prompt.function.parameters
    given = {name: value for name, value in loads(arguments).items() if name in known}
    returned = await prompt.function(given, call)
    return returned if isinstance(returned, _wit.ACTIONS) else respond(result(returned))


def result(returned: Any) -> Any:
    """MCP's `GetPromptResult` for the value that a prompt returned."""
    if isinstance(returned, dict) and "messages" in returned:
        return returned
    return {"messages": [message(said) for said in (returned if isinstance(returned, list) else [returned])]}


def message(said: Any) -> Any:
    """A message: a text or a block becomes a message of the user."""
    if isinstance(said, str):
        said = text(said)
    if not isinstance(said, dict):
        raise TypeError(
            f"a prompt returned a value of {type(said).__name__}: it returns a text, a block, a message, or a list of "
            "these"
        )
    return said if "role" in said else {"role": "user", "content": said}
