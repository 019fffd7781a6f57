"""A call from the agent: to a tool, a resource, a prompt, or a completion."""

from __future__ import annotations

import inspect
import typing
from types import CoroutineType
from typing import Any, Callable, Literal, Optional

from . import _tasks, _wit
from ._json import loads
from ._log import log

When = Callable[[Optional[str]], bool]
"""Whether a session has the tool, resource or prompt. Called when the session's agent lists them."""


class Call:
    """A call to a tool, a resource or a prompt. A parameter of this type receives the call."""

    __slots__ = ("_id", "session")

    session: Optional[str]
    """The session that the call belongs to; None until the agent has named it."""

    def __init__(self, id: int, session: Optional[str]) -> None:
        self._id = id
        self.session = session

    def progress(self, progress: float, total: Optional[float] = None, message: Optional[str] = None) -> None:
        """Reports the progress. `progress` must grow from one report to the next; `total` is its final value.
        A caller that did not request progress receives no reports."""
        try:
            _wit.progress(self._id, progress, total, message)
        except _wit.ChannelError as refused:
            # Ignored, since the call can continue without the report.
            log.debug("progress was not reported: %s", refused)

    @property
    def meta(self) -> dict[str, Any]:
        """The `_meta` of the caller's MCP request."""
        meta: dict[str, Any] = loads(_wit.meta(self._id))
        return meta

    def can(self, capability: Literal["elicitation", "sampling", "roots"]) -> bool:
        """Whether the caller declares this capability."""
        capabilities = self.meta.get("io.modelcontextprotocol/clientCapabilities")
        return isinstance(capabilities, dict) and capability in capabilities

    async def ask(self, method: str, params: Any = None) -> Any:
        """Sends a request to the caller, and waits for its result: `elicitation/create`, `sampling/createMessage` or
        `roots/list` of MCP, if the caller declares the capability."""
        id = self._id
        return await _tasks.answer(method, lambda method, json: _wit.ask(id, method, json), params)


class Function:
    """A function of the author: the parameters from the agent, and the parameter that receives the call."""

    def __init__(self, function: Callable[..., Any], what: str) -> None:
        self.function = function
        try:
            hints = typing.get_type_hints(function, include_extras=True)
        except NameError as error:
            raise TypeError(f"{what}: {error}; the types must be defined in its module") from None
        self.call_as: Optional[str] = None
        self.parameters: dict[str, inspect.Parameter] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if hints.get(name) is Call:
                self.call_as = name
            elif parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                self.parameters[name] = parameter.replace(annotation=hints.get(name, Any))
            else:
                raise TypeError(f"{what}: its parameter {parameter} cannot be passed by name")

    async def __call__(self, given: dict[str, Any], call: Call) -> Any:
        if self.call_as is not None:
            given = {**given, self.call_as: call}
        return await finished(self.function(**given))


async def finished(returned: Any) -> Any:
    """The result of a function, `async` or not."""
    return await returned if type(returned) is CoroutineType else returned
