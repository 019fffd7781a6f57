"""JSON Schemas of types, and values of those types from JSON, for the arguments of tools."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from typing import Annotated, Any, Callable, Literal, NotRequired, Required, Union

JSON = dict[str, Any]
# Converts JSON into a value of the type; the text names the value, as in `items[0].name`.
Read = Callable[[Any, str], Any]


class Mismatch(ValueError):
    """A value does not match its type. The text is for the model."""


@dataclasses.dataclass
class Shape:
    """A type."""

    schema: JSON
    read: Read


SIMPLE: dict[Any, tuple[str, str]] = {
    str: ("string", "a string"),
    bool: ("boolean", "true or false"),
    int: ("integer", "an integer"),
    float: ("number", "a number"),
    type(None): ("null", "null"),
}

TYPES = (
    "str, int, float, bool, list, dict, None, Any, Optional, Union, Literal, Annotated, "
    "a TypedDict or a dataclass, or give `input_schema`"
)


def of(hint: Any, within: tuple[type, ...] = ()) -> Shape:
    """The shape of a type. `within` are the classes that contain it."""
    if type(hint).__name__ == "TypeAliasType":
        return of(hint.__value__, within)
    if hint is Any or hint is object:
        return Shape({}, lambda value, what: value)
    if hint is None:
        hint = type(None)
    if hint in SIMPLE:
        return simple(hint)
    origin, args = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin is Annotated:
        shape = of(args[0], within)
        description = next((said for said in args[1:] if isinstance(said, str)), None)
        return described(shape, description)
    if origin is Required or origin is NotRequired:
        return of(args[0], within)
    if origin is Union or origin is types.UnionType:
        return union([of(arg, within) for arg in args])
    if origin is Literal:
        return literal(args)
    if origin is list:
        return array(of(args[0] if args else Any, within))
    if origin is dict and (not args or args[0] is str):
        return mapping(of(args[1] if args else Any, within))
    if isinstance(hint, type) and (typing.is_typeddict(hint) or dataclasses.is_dataclass(hint)):
        if hint in within:
            raise TypeError(f"{hint.__name__} contains itself; give `input_schema`")
        return record(hint, (*within, hint))
    raise TypeError(f"{hint!r} has no JSON Schema; use {TYPES}")


def described(shape: Shape, description: str | None) -> Shape:
    if description is None:
        return shape
    return Shape({**shape.schema, "description": description}, shape.read)


def simple(hint: Any) -> Shape:
    name, expected = SIMPLE[hint]

    def read(value: Any, what: str) -> Any:
        # JSON has one type of numbers, Python has two; in Python, a boolean is a number.
        if type(value) is hint:
            return value
        if hint is float and type(value) is int:
            return float(value)
        if hint is int and type(value) is float and value.is_integer():
            return int(value)
        raise Mismatch(f"{what} must be {expected}")

    return Shape({"type": name}, read)


def union(shapes: list[Shape]) -> Shape:
    def read(value: Any, what: str) -> Any:
        mismatches = []
        for shape in shapes:
            try:
                return shape.read(value, what)
            except Mismatch as mismatch:
                mismatches.append(str(mismatch))
        raise Mismatch(", or ".join(mismatches))

    schemas = [shape.schema for shape in shapes]
    if all(schema.keys() == {"type"} for schema in schemas):
        return Shape({"type": [schema["type"] for schema in schemas]}, read)
    return Shape({"anyOf": schemas}, read)


def literal(values: tuple[Any, ...]) -> Shape:
    def read(value: Any, what: str) -> Any:
        for known in values:
            if type(known) is type(value) and known == value:
                return value
        raise Mismatch(f"{what} must be one of {', '.join(map(repr, values))}")

    return Shape({"enum": list(values)}, read)


def array(items: Shape) -> Shape:
    def read(value: Any, what: str) -> Any:
        if type(value) is not list:
            raise Mismatch(f"{what} must be an array")
        return [items.read(item, f"{what}[{n}]") for n, item in enumerate(value)]

    return Shape({"type": "array", "items": items.schema}, read)


def mapping(values: Shape) -> Shape:
    def read(value: Any, what: str) -> Any:
        if type(value) is not dict:
            raise Mismatch(f"{what} must be an object")
        return {key: values.read(member, member_of(what, key)) for key, member in value.items()}

    schema: JSON = {"type": "object"}
    if values.schema:
        schema["additionalProperties"] = values.schema
    return Shape(schema, read)


def record(hint: type, within: tuple[type, ...]) -> Shape:
    """A TypedDict or a dataclass."""
    hints = typing.get_type_hints(hint, include_extras=True)
    make: Callable[..., Any] = hint
    if dataclasses.is_dataclass(hint):
        fields = [field for field in dataclasses.fields(hint) if field.init]
        hints = {field.name: hints[field.name] for field in fields}
        missing = dataclasses.MISSING
        required = [
            field.name
            for field in fields
            if field.default is missing and field.default_factory is missing
        ]
    else:
        needed = getattr(hint, "__required_keys__")
        required = [name for name in hints if name in needed]
    shapes = {name: of(member, within) for name, member in hints.items()}
    shape = members(shapes, required)
    # The generated docstring of a dataclass is not a description.
    doc = inspect.getdoc(hint) if "__doc__" in vars(hint) else None
    if doc and not doc.startswith((f"{hint.__name__}(", "dict(")):
        shape.schema["description"] = doc
    return Shape(shape.schema, lambda value, what: make(**shape.read(value, what)))


def members(shapes: dict[str, Shape], required: list[str]) -> Shape:
    """An object with these members and no others."""

    def read(value: Any, what: str) -> Any:
        if type(value) is not dict:
            raise Mismatch(f"{what} must be an object")
        for name in required:
            if name not in value:
                raise Mismatch(f"{member_of(what, name)} is missing")
        for name in value:
            if name not in shapes:
                raise Mismatch(f"{member_of(what, name)} is not known: there are {', '.join(shapes) or 'none'}")
        return {name: shapes[name].read(member, member_of(what, name)) for name, member in value.items()}

    properties = {name: shape.schema for name, shape in shapes.items()}
    schema: JSON = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return Shape(schema, read)


def member_of(what: str, name: str) -> str:
    return f"{what}.{name}" if what else name
