"""What proxies in Python have in common: a handler that lets everything pass, and short names."""

import functools
import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports.types import (
    Action,
    Action_Edit,
    Action_Forward,
    Action_Reject,
    Action_Respond,
    Change_Set,
    Edit,
    FailurePolicy,
    Notification,
    Registration,
    Request,
    Response,
    RpcError,
    Subscription,
)
from wit_world.imports import channel

_CANCELLED = -32800


def _catching(handle):
    """An exception becomes the `err` of a handler. Uncaught, it would be the end of this instance."""

    @functools.wraps(handle)
    def call(*given):
        try:
            return handle(*given)
        except Err:
            raise
        except Exception as error:
            raise Err(f"{type(error).__name__}: {error}") from error

    return call


class Passing(exports.Handler):
    """Lets every message pass, and gives up what is withdrawn. A proxy is a class `Handler` that has
    functions of its own in place of some of these.

    It is made anew for every call: what is to be remembered belongs to the module."""

    def __init_subclass__(cls) -> None:
        for name, value in vars(cls).items():
            if callable(value) and not name.startswith("_"):
                setattr(cls, name, _catching(value))

    def init(self, config: str, saved: str | None) -> Registration:
        return Registration([], on_failure=FailurePolicy.RESTART, guard=False)

    def on_request(self, request: Request) -> Action:
        return Action_Forward()

    def on_notification(self, notification: Notification) -> Action:
        return Action_Forward()

    def on_response(self, response: Response) -> Action:
        return Action_Forward()

    def on_cancel(self, id: int) -> None:
        try:
            channel.settle(id, Action_Reject(RpcError(_CANCELLED, "Request cancelled", None)))
        except Err:
            pass  # The host has taken it back.


def edit(pointer: str, value: object) -> Action:
    """The message goes on with this value at a JSON Pointer. A last part `-` adds to an array."""
    return Action_Edit([Edit(pointer, Change_Set(json.dumps(value)))])


def respond(result: object) -> Action:
    """The request is answered with this, and goes no further."""
    return Action_Respond(json.dumps(result))


def read(id: int, pointer: str) -> object:
    """What is at a JSON Pointer of a message that came without its body; none, if nothing is."""
    part = channel.read(id, pointer)
    return None if part is None else json.loads(part)
