#!/usr/bin/env python3
"""A client over the Python SDK, of a server: it plays the transcript that `../README.md` has, and prints what it got.

`remote_client.py URL FOLDER`
"""

import asyncio
import json
import sys
from collections import defaultdict

import httpx
from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, text_block
from acp.http.client import create_http_stream
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    ClientCapabilities,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
    UserMessageChunk,
)
from acp.ws.client import create_websocket_stream


def say(step: str, **got: object) -> None:
    print(json.dumps({step: got}), flush=True)


class Client:
    def __init__(self) -> None:
        self.texts: dict[str, str] = defaultdict(str)  # session → what streamed back
        self.changed = asyncio.Condition()

    async def session_update(self, session_id, update, **_):
        if isinstance(update, UserMessageChunk | AgentMessageChunk):
            self.texts[session_id] += update.content.text
            async with self.changed:
                self.changed.notify_all()

    async def until(self, session: str, end: str) -> str:
        """Waits until what streamed back ends with this, and takes it out. Answers may overtake what streams."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.texts[session].endswith(end))
        return self.texts.pop(session)

    async def request_permission(self, session_id, tool_call, options, **_):
        say("permission", title=tool_call.title, options=[option.option_id for option in options])
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=options[0].option_id))

    async def read_text_file(self, session_id, path, **_):
        return ReadTextFileResponse(content="Always be kind.")


async def main(url: str, folder: str) -> None:
    # By HTTP/1.1: of what comes on several streams of an HTTP/2 connection at once, httpcore 1.0 may hand over some only
    # when more comes (`_read_lock` in its `http2.py`). The server's comments do so, but only every 15 seconds.
    http = httpx.AsyncClient(timeout=None)
    stream = await create_websocket_stream(url) if url.startswith("ws") else create_http_stream(url, client=http)
    client = Client()
    agent = connect_to_agent(client, stream)

    async def new_session() -> str:
        session = (await agent.new_session(cwd=folder)).session_id
        say("session", id=session)
        return session

    async def prompt(session: str, *blocks: str) -> str:
        answer = await agent.prompt(session_id=session, prompt=[text_block(text) for text in blocks])
        return answer.stop_reason

    files = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True))
    initialized = await agent.initialize(PROTOCOL_VERSION, client_capabilities=files)
    say(
        "initialize",
        agent=initialized.agent_info and initialized.agent_info.name,
        loadSession=initialized.agent_capabilities.load_session,
    )

    one = await new_session()
    stopped = await prompt(
        one,
        "streamed in pieces",
        "permission edit Write the notes /project/notes.txt",
        "key AKIAIOSFODNN7EXAMPLQ, the end",
    )
    say("prompt", text=await client.until(one, "]"), stopReason=stopped)

    two = await new_session()
    running = asyncio.create_task(prompt(two, "echo running.\nwait"))
    await client.until(two, "running.")
    stopped = await prompt(one, "echo meanwhile.")
    say("meanwhile", text=await client.until(one, "meanwhile."), stopReason=stopped)
    await agent.cancel(session_id=two)
    say("cancel", stopReason=await running)

    try:
        await prompt(one, 'fail {"code":-32042,"message":"no luck","data":{"n":1}}')
    except RequestError as error:
        say("error", code=error.code, message=str(error), data=error.data)

    # With what stands around it, it stays below the 1 MiB that WebSocket clients take.
    large = "x" * (2**20 - 4096) + "."
    stopped = await prompt(one, f"echo {large}")
    say("large", same=await client.until(one, ".") == large, stopReason=stopped)

    await agent.load_session(cwd=folder, session_id="stored")
    say("load", text=await client.until("stored", "answer."))

    await agent.close()
    await http.aclose()
    say("closed")


asyncio.run(main(*sys.argv[1:]))
