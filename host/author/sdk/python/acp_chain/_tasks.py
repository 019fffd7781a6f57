"""Coroutines, stepped by hand: there is no event loop, and all code runs within a call of the host.

A handler that ends within the call that started it answers that call. Otherwise its message is held: the handler
continues when the awaited answer arrives, and its message is settled when it ends."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Coroutine, Generator, Optional

from . import _wit
from ._actions import action, reject
from ._json import dumps, loads
from ._log import NO_LOOP, failure, log
from ._messages import RpcError, result

CANCELLED = -32800
INTERNAL = -32603


class Cancelled(BaseException):
    """Raised in a handler whose message was cancelled."""


class Waiting:
    """An awaitable of this module, which a coroutine yields."""

    __slots__ = ("task",)

    task: Optional[Task]

    def __init__(self) -> None:
        self.task = None

    def come(self) -> None:
        """Resumes the waiting task."""
        task, self.task = self.task, None
        if task is not None:
            task.step()


class Answer(Waiting):
    """The answer to the proxy's own request."""

    __slots__ = ("id", "outcome")

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id
        self.outcome: Optional[_wit.Outcome] = None
        PENDING[id] = self

    def __await__(self) -> Generator[Waiting, None, Any]:
        try:
            yield self
        except BaseException:
            # The request is still answered.
            PENDING[self.id] = None
            try:
                _wit.cancel(self.id)
            except _wit.ChannelError:
                pass  # The request has been answered in the meantime.
            raise
        assert self.outcome is not None
        return loads(result(self.outcome))


# The proxy's own unanswered requests; None if no task waits for the answer any more.
PENDING: dict[int, Optional[Answer]] = {}


async def answer(method: str, send: Callable[[str, str], int], params: Any) -> Any:
    """Sends a request, and waits for its answer."""
    try:
        id = send(method, dumps(params))
    except _wit.ChannelError as error:
        message = f"{method} was not sent: {error}"
        log.warning(message)
        raise RpcError(INTERNAL, message) from error
    return await Answer(id)


def answered(id: int, outcome: _wit.Outcome) -> bool:
    """Handles a response. False if it does not answer one of the proxy's own requests."""
    if id not in PENDING:
        return False
    answer = PENDING.pop(id)
    if answer is not None:
        answer.outcome = outcome
        answer.come()
    return True


class Task:
    """A running coroutine."""

    __slots__ = ("coroutine", "is_done")

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.coroutine = coroutine
        self.is_done = False

    def step(self, thrown: Optional[BaseException] = None) -> None:
        """Runs the coroutine until it waits or ends."""
        try:
            waited = self.coroutine.throw(thrown) if thrown else self.coroutine.send(None)
            while not isinstance(waited, Waiting):
                waited = self.coroutine.throw(RuntimeError(NO_LOOP))
        except StopIteration as end:
            self.is_done = True
            self.ended(end.value, None)
        except BaseException as error:
            self.is_done = True
            self.ended(None, error)
        else:
            waited.task = self

    def ended(self, value: Any, error: Optional[BaseException]) -> None:
        raise NotImplementedError


class Held(Task):
    """A waiting handler, with its message."""

    __slots__ = ("id", "is_cancelled", "outcome")

    def __init__(self, id: int, coroutine: Coroutine[Any, Any, Any]) -> None:
        super().__init__(coroutine)
        self.id = id
        self.is_cancelled = False
        self.outcome: Optional[tuple[Any, Optional[BaseException]]] = None

    def ended(self, value: Any, error: Optional[BaseException]) -> None:
        if self.id in HELD:
            del HELD[self.id]
            self.settle(value, error)
        else:
            # The handler ended within the call that started it, and answers that call.
            self.outcome = value, error

    def settle(self, value: Any, error: Optional[BaseException]) -> None:
        try:
            try:
                settled = self.action(value, error)
            except BaseException as raised:
                _wit.fail(self.id, failure(raised))
                return
            try:
                _wit.settle(self.id, settled)
            except _wit.ChannelError as refused:
                if refused.code == "unknown-message":
                    raise
                log.error("%s", refused)
                _wit.fail(self.id, str(refused))
        except _wit.ChannelError as refused:
            # The message was held for too long, and the host has settled it.
            if not (self.is_cancelled and refused.code == "unknown-message"):
                log.error("message %d is not settled: %s", self.id, refused)

    def action(self, value: Any, error: Optional[BaseException]) -> _wit.Action:
        if isinstance(error, Cancelled) or (self.is_cancelled and value is None and error is None):
            return reject(CANCELLED, "Request cancelled")
        if error is not None:
            raise error
        return action(value, self.coroutine)


# The waiting handlers, by their messages.
HELD: dict[int, Held] = {}


def run(id: int, coroutine: Coroutine[Any, Any, Any]) -> _wit.Action:
    """Runs the handler of a message. Returns its decision, or holds the message until the handler ends."""
    task = Held(id, coroutine)
    task.step()
    if task.outcome is not None:
        return task.action(*task.outcome)
    HELD[id] = task
    return _wit.HOLD


def cancel(id: int) -> None:
    """Cancels the handler of a held message that its sender cancelled, or that the host has settled."""
    if task := HELD.get(id):
        task.is_cancelled = True
        task.step(Cancelled("the message was cancelled"))


class Part(Task):
    """A coroutine of a `gather`."""

    __slots__ = ("error", "group", "value")

    def __init__(self, group: Group, awaitable: Awaitable[Any]) -> None:
        super().__init__(of(awaitable))
        self.group = group
        self.value: Any = None
        self.error: Optional[BaseException] = None

    def ended(self, value: Any, error: Optional[BaseException]) -> None:
        self.value, self.error = value, error
        if error is not None or self.group.is_done():
            self.group.come()


class Group(Waiting):
    """Concurrent coroutines."""

    __slots__ = ("parts",)

    def __init__(self, awaitables: tuple[Awaitable[Any], ...]) -> None:
        super().__init__()
        self.parts = [Part(self, awaitable) for awaitable in awaitables]

    def is_done(self) -> bool:
        return all(part.is_done for part in self.parts)

    def __await__(self) -> Generator[Waiting, None, list[Any]]:
        try:
            for part in self.parts:
                part.step()
                self.check(part)
            if not self.is_done():
                yield self
            for part in self.parts:
                self.check(part)
        except BaseException:
            self.task = None
            for part in self.parts:
                if not part.is_done:
                    part.step(Cancelled("another coroutine of the gather failed, or the message was cancelled"))
            raise
        return [part.value for part in self.parts]

    @staticmethod
    def check(part: Part) -> None:
        if part.error is not None:
            raise part.error


async def gather(*awaitables: Awaitable[Any]) -> list[Any]:
    """Runs all of these concurrently, and returns their results, in this order. If one raises, the others are
    cancelled."""
    return await Group(awaitables)


async def of(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
