"""Resources, which the agent reads by their URIs."""

from __future__ import annotations

import base64
import inspect
import re
from typing import Any, Callable, Mapping, Optional
from urllib.parse import unquote

from . import _wit
from ._actions import Action, reject, respond
from ._call import Call, Function, When
from ._json import dumps
from ._completion import Complete

NOT_FOUND = -32002


class Resource:
    """A resource or a template: its function, and its entry in the list."""

    def __init__(
        self,
        function: Callable[..., Any],
        uri: str,
        *,
        name: Optional[str] = None,
        title: Optional[str] = None,
        description: Optional[str] = None,
        mime_type: Optional[str] = None,
        complete: Optional[Mapping[str, Complete]] = None,
        when: Optional[When] = None,
    ) -> None:
        what = f"the resource {uri}"
        self.uri = uri
        self.when = when
        self.pattern, variables = pattern(uri, what)
        self.without_slash = set(re.findall(r"\{(\w+)\}", uri))
        self.function = Function(function, what)
        if set(self.function.parameters) != variables:
            raise TypeError(f"{what}: its function takes the variables of the template, {sorted(variables)}")
        self.complete = complete or {}
        if unknown := set(self.complete) - variables:
            raise TypeError(f"{what}: it has no variable {min(unknown)} to complete")
        self.is_template = bool(variables)
        self.mime_type = mime_type
        members = {
            "uriTemplate" if variables else "uri": uri,
            "name": name or function.__name__,
            "title": title,
            "description": description or inspect.getdoc(function),
            "mimeType": mime_type,
        }
        self.listed = dumps({name: value for name, value in members.items() if value is not None})

    def variables(self, uri: str) -> Optional[dict[str, str]]:
        """The values of the template's variables, if it matches this URI."""
        found = self.pattern.fullmatch(uri)
        if not found:
            return None
        values = {name: unquote(value) for name, value in found.groupdict().items()}
        # An escaped `/` counts too.
        return None if any("/" in values[name] for name in self.without_slash) else values


def pattern(uri: str, what: str) -> tuple[re.Pattern[str], set[str]]:
    """A pattern of the URIs that a template (RFC 6570) matches, and its variables' names. A URI matches itself."""
    source = ""
    for part in re.split(r"(\{[^}]*\})", uri):
        if not part.startswith("{"):
            source += re.escape(part)
        elif variable := re.fullmatch(r"\{(\+?)([A-Za-z_]\w*)\}", part):
            source += f"(?P<{variable[2]}>{'.+' if variable[1] else '[^/]+'})"
        else:
            raise TypeError(f"{what}: {part} is neither {{name}} nor {{+name}}")
    try:
        made = re.compile(source, re.DOTALL)
    except re.error as error:
        raise TypeError(f"{what}: {error}") from None
    return made, set(made.groupindex)


async def read(resources: Mapping[str, Resource], call: Call, uri: str) -> Action:
    """Reads a resource: the one with this URI, or the one of the first template that matches."""
    fixed = resources.get(uri)
    for resource in [fixed] if fixed else resources.values():
        variables = resource.variables(uri)
        if variables is None:
            continue
        returned = await resource.function(variables, call)
        if isinstance(returned, _wit.ACTIONS):
            return returned
        if returned is not None:
            return respond(result(returned, resource, uri))
    return reject(NOT_FOUND, f"there is no resource `{uri}`")


def result(returned: Any, resource: Resource, uri: str) -> Any:
    """MCP's `ReadResourceResult` for the value that was read."""
    if isinstance(returned, dict) and "contents" in returned:
        return returned
    parts = returned if isinstance(returned, list) else [returned]
    about = {"uri": uri, **({"mimeType": resource.mime_type} if resource.mime_type else {})}
    return {"contents": [{**about, **contents(part)} for part in parts]}


def contents(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    if isinstance(part, bytes):
        return {"blob": base64.b64encode(part).decode()}
    if isinstance(part, dict):
        return part
    raise TypeError(
        f"a resource returned a value of {type(part).__name__}: it returns a text, bytes, a dict, a list of these, "
        "or None if there is no such resource"
    )
