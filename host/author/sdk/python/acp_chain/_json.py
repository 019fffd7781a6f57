"""Parses and writes JSON text."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any, Callable

# A few thousand levels of nesting would exhaust the stack, and end the instance.
DEEPEST = 500

_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_decode: Callable[[str], Any] = json.JSONDecoder().decode


def loads(text: str) -> Any:
    if text.count("[") + text.count("{") > DEEPEST:
        depth = 0
        for token in _TOKENS.finditer(text):
            match token[0]:
                case "[" | "{":
                    depth += 1
                    if depth > DEEPEST:
                        raise ValueError(f"JSON is nested more than {DEEPEST} levels deep")
                case "]" | "}":
                    depth -= 1
    return _decode(text)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"a value of {type(value).__name__} cannot be serialized as JSON")


# Non-ASCII text is escaped: the host rejects unpaired surrogates, which JSON may contain.
dumps: Callable[[Any], str] = json.JSONEncoder(
    allow_nan=False, separators=(",", ":"), default=_plain
).encode
