"""A case for each promise of the SDK: the method of a message says which."""

import asyncio
import logging
import sys
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

from acp_chain import (
    Call,
    Cancelled,
    Proxy,
    RpcError,
    ToolResult,
    agent,
    client,
    discard,
    gather,
    reject,
    remove,
    replace,
    respond,
    sleep,
    text,
    values,
)

proxy = Proxy(instructions="Use them one by one.")
log = logging.getLogger("cases")


def fail(what):
    raise ValueError(f"no {what}")


@proxy.on_start
def start(config, saved):
    if "fail" in config:
        fail(config["fail"])


@proxy.on_request("test/pause")
async def on_pause(message):
    await sleep(0.5)
    return respond("late")


@proxy.on_request("test/count")
async def on_count(message):
    of = values.Project(message.params["project"])
    count = await values.update(of, "count", lambda count: str(int(count or 0) + 1))
    return respond(count.value)


@proxy.on_request("test/store")
async def on_store(message):
    match await values.store(values.Project(message.params["project"]), "count", 0, None):
        case values.Value(value=value):
            return respond(value)


@proxy.on_request("test/fail")
def on_fail(request):
    fail("luck")


@proxy.on_request("test/fail-later")
async def on_fail_later(request):
    fail(await agent.request("test/what"))


@proxy.on_request("test/exit")
def on_exit(request):
    sys.exit(3)


@proxy.on_request("test/wrong")
def on_wrong(request):
    return "something"


@proxy.on_request("test/say")
def on_say(request):
    print("printed")
    log.debug("debug")
    log.warning("warned of %s", "it")
    return respond(request.params)


@proxy.on_request("test/read", body=False)
def on_read(request):
    return respond([request.read("/a/1"), request.read("/none"), request.params, request.size, request.sender])


@proxy.on_request("test/reject")
def on_reject(request):
    return reject(-32001, "not today", {"try": "tomorrow"})


@proxy.on_request("test/replace")
async def on_replace(request):
    return replace({**request.params, "more": 1})


@proxy.on_request("test/wait")
async def on_wait(request):
    try:
        return respond(await agent.request("test/what", request.params))
    except RpcError as error:
        return respond([error.code, error.message, error.data])
    finally:
        log.info("cleaned up")


@proxy.on_request("test/stay")
async def on_stay(request):
    try:
        await agent.request("test/what")
    except Cancelled:
        return respond("kept")


@proxy.on_request("test/gather")
async def on_gather(request):
    async def sum_up():
        return await client.request("test/one") + await client.request("test/two")

    return respond(await gather(sum_up(), agent.request("test/three")))


@proxy.on_request("test/sleep")
async def on_sleep(request):
    await asyncio.sleep(request.params["seconds"])


@proxy.on_response("test/what-comes")
def on_response(response):
    return [remove("/secret")] if response.error is None else reject(1, f"{response.error}")


@proxy.on_notification("test/*")
def on_notification(notification):
    return discard()


@dataclass
class Place:
    """Where something is."""

    file: str
    line: int = 1


@proxy.tool(read_only=True, title="A place")
def place(
    place: Place, how: Annotated[Literal["up", "down"], "Which way."] = "up", by: Optional[int] = None
) -> Place:
    """Moves a place."""
    return Place(place.file, place.line + (by or 1) * (1 if how == "up" else -1))


@proxy.tool
async def greet(call: Call):
    call.progress(1, 2, "asking")
    name = await call.ask("elicitation/create", {"message": "Who?", "requestedSchema": {"type": "object"}})
    return [f"Hello {name['content']['name']}", text("!")]


@proxy.tool
def lookup(key: str):
    return {"found": {"a": 1}[key]}


@proxy.tool
def leave():
    sys.exit(4)


@proxy.tool(input_schema={"type": "object"})
def raw(**given):
    if given.get("reject"):
        return reject(-32602, "never")
    return ToolResult(["given"], structured=given, is_error=True)


Handler, Tools = proxy.Handler, proxy.Tools
