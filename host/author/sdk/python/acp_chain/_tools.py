"""Tools: functions that the agent calls."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from typing import Any, Callable, Mapping, Optional, Sequence

from . import _log, _schema, _wit
from ._actions import Action, reject, respond, text
from ._call import Call, When, finished
from ._json import dumps, loads

INVALID_PARAMS = -32602


@dataclasses.dataclass
class ToolResult:
    """A complete result: blocks of content, the content as data (an object), and whether the tool failed."""

    content: Sequence[Any]
    structured: Any = None
    is_error: bool = False


HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


class Tool:
    """A tool: its function, and its entry in the list."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: Optional[str] = None,
        title: Optional[str] = None,
        description: Optional[str] = None,
        input_schema: Optional[Mapping[str, Any]] = None,
        output_schema: Optional[Mapping[str, Any]] = None,
        when: Optional[When] = None,
        **hints: Optional[bool],
    ) -> None:
        self.function = function
        self.when = when
        self.name = name or function.__name__
        try:
            self.call_as, arguments, output = signature(function, input_schema)
        except TypeError as error:
            raise TypeError(f"the tool {self.name}: {error}") from None
        self.read = arguments.read
        annotations = {HINTS[hint]: value for hint, value in hints.items() if value is not None}
        members = {
            "name": self.name,
            "title": title,
            "description": description or inspect.getdoc(function),
            "inputSchema": input_schema or arguments.schema,
            "outputSchema": output_schema or output,
            "annotations": annotations or None,
        }
        self.listed = dumps({name: value for name, value in members.items() if value is not None})


def signature(
    function: Callable[..., Any], given: Optional[Mapping[str, Any]]
) -> tuple[Optional[str], _schema.Shape, Optional[_schema.JSON]]:
    """The parameter that receives the call, the arguments, and the schema of a structured result."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(f"{error}; the types of a tool must be defined in its module") from None
    call_as = None
    shapes: dict[str, _schema.Shape] = {}
    required = []
    for name, parameter in inspect.signature(function).parameters.items():
        if hints.get(name) is Call:
            call_as = name
        elif given is not None:
            pass
        elif parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"its parameter {parameter} cannot be passed by name; give `input_schema`")
        else:
            try:
                shapes[name] = _schema.of(hints.get(name, Any))
            except TypeError as error:
                raise TypeError(f"its parameter {name}: {error}") from None
            if parameter.default is parameter.empty:
                required.append(name)
            elif parameter.default is None or type(parameter.default) in (str, bool, int, float):
                shapes[name].schema = {**shapes[name].schema, "default": parameter.default}
    if given is not None:
        arguments = _schema.Shape({}, lambda value, what: value)
    else:
        arguments = _schema.members(shapes, required)
    returned = hints.get("return")
    is_record = typing.is_typeddict(returned) or dataclasses.is_dataclass(returned)
    if not is_record or returned is ToolResult:
        return call_as, arguments, None
    return call_as, arguments, _schema.of(returned).schema


async def call_tool(tool: Optional[Tool], call: Call, name: str, arguments: str) -> Action:
    """Calls a tool. An exception becomes a failed result, for the model; `reject` is a protocol error."""
    if tool is None:
        return reject(INVALID_PARAMS, f"there is no tool `{name}` any more")
    try:
        given = tool.read(loads(arguments), "")
        if tool.call_as is not None:
            given[tool.call_as] = call
        returned = await finished(tool.function(**given))
        if isinstance(returned, _wit.ACTIONS):
            return returned
        return respond(result(returned))
    except _schema.Mismatch as mismatch:
        return respond(result(ToolResult([str(mismatch)], is_error=True)))
    except Exception as error:
        _log.failure(error)
        # The text of a KeyError is only the key.
        said = str(error) if str(error) and not isinstance(error, KeyError) else repr(error)
        return respond(result(ToolResult([said], is_error=True)))


def result(returned: Any) -> dict[str, Any]:
    """MCP's `CallToolResult` for the value that a tool returned."""
    if not isinstance(returned, ToolResult):
        if returned is None:
            returned = ToolResult([])
        elif isinstance(returned, str):
            returned = ToolResult([returned])
        elif isinstance(returned, list):
            returned = ToolResult(returned)
        elif isinstance(returned, dict) or dataclasses.is_dataclass(returned):
            # The text is for agents without support for structured content.
            returned = ToolResult([dumps(returned)], structured=returned)
        else:
            raise TypeError(
                f"a tool returned a value of {type(returned).__name__}: it returns a text, a dict or a dataclass, "
                "a list of blocks, or a ToolResult"
            )
    made: dict[str, Any] = {
        "content": [text(block) if isinstance(block, str) else block for block in returned.content]
    }
    if returned.structured is not None:
        made["structuredContent"] = returned.structured
    if returned.is_error:
        made["isError"] = True
    return made
