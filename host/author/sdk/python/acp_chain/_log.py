"""The host's log, for `logging`, `print`, and the tracebacks of errors.

There is no file system when the proxy runs, so sources for tracebacks are loaded before."""

from __future__ import annotations

# Tracebacks import this lazily.
import ast as ast
import io
import linecache
import logging
import os
import sys
import traceback
from types import TracebackType
from typing import Optional

from . import _wit

_SDK = os.path.dirname(__file__)
_LIBRARY = os.path.dirname(logging.__path__[0])

log = logging.getLogger("acp_chain")

NO_LOOP = (
    "there is no event loop in a proxy: await only client.request, agent.request, call.ask, gather, and "
    "coroutines of these"
)


class _Host(logging.Handler):
    """Sends log records to the host, which adds the name of the proxy, and drops those below the configured
    level."""

    def emit(self, record: logging.LogRecord) -> None:
        _wit.log(_level(record.levelno), self.format(record))


def _level(number: int) -> _wit.Level:
    if number >= logging.ERROR:
        return _wit.Level.ERROR
    if number >= logging.WARNING:
        return _wit.Level.WARN
    if number >= logging.INFO:
        return _wit.Level.INFO
    return _wit.Level.DEBUG if number >= logging.DEBUG else _wit.Level.TRACE


def start() -> None:
    """Called before the first call of the proxy, after loading."""
    logging.basicConfig(handlers=[_Host()], format="%(message)s", level=logging.NOTSET, force=True)
    # A record for each printed line.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)


def keep_sources() -> None:
    """Keeps the sources of the author's modules, for tracebacks."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and not file.startswith((_SDK, _LIBRARY)):
            lines = linecache.getlines(file)
            # Without a modification time, the file is not checked again.
            linecache.cache[file] = (sum(map(len, lines)), None, lines, file)


def failure(error: BaseException) -> str:
    """A line with the error and its position; the traceback is logged."""
    trace = _own(error.__traceback__)
    log.error("%s", "".join(traceback.format_exception(type(error), error, trace)).rstrip())
    what = "".join(traceback.format_exception_only(type(error), error)).rstrip()
    place = ""
    for frame in traceback.extract_tb(trace):
        if not frame.filename.startswith((_SDK, _LIBRARY)):
            file = os.path.basename(frame.filename)
            place = f" ({file}:{frame.lineno}, in {frame.name})"
    if what == "RuntimeError: no running event loop":
        what = f"RuntimeError: {NO_LOOP}"
    return f"{what}{place}"


def _own(trace: Optional[TracebackType]) -> Optional[TracebackType]:
    """The traceback without this package's frames at its beginning."""
    while trace and trace.tb_frame.f_code.co_filename.startswith(_SDK) and trace.tb_next:
        trace = trace.tb_next
    return trace
