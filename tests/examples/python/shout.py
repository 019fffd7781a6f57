"""A proxy that shouts: it turns the text of prompts into capitals, adds a file that it asks the
client for, and counts the chunks that stream back."""

import logging
import re
from collections import Counter

from acp_chain import Proxy, RpcError, client, mark, put, text

proxy = Proxy(on_failure="bypass")

config = {}
chunks = Counter()  # by session, since its last answer


def shout(text: str) -> str:
    """ASCII letters only: `upper` would turn "ß" into "SS"."""
    return re.sub("[a-z]+", lambda letters: letters[0].upper(), text)


@proxy.on_start
def start(given, saved):
    config.update(given)


@proxy.on_request("session/prompt", sender="client")
async def on_prompt(prompt):
    edits = [
        put(f"/prompt/{n}/text", shout(block["text"]))
        for n, block in enumerate(prompt.params["prompt"])
        if block["type"] == "text"
    ]
    if "file" in config:
        # The prompt waits for the answer; other messages do not.
        ask = {"sessionId": prompt.session, "path": config["file"]}
        try:
            file = await client.request("fs/read_text_file", ask)
        except RpcError as error:
            file = error
        match file:
            case {"content": str(content)}:
                edits.append(put("/prompt/-", text(shout(content))))
            case other:
                logging.warning("the client did not give %s: %s", config["file"], other)
    return edits


@proxy.on_notification("session/update", sender="agent", body=False)
def on_update(update):
    if update.read("/update/sessionUpdate") == "agent_message_chunk":
        chunks[update.session] += 1


@proxy.on_response("session/prompt", sender="agent", body=False)
def on_answer(answer):
    count = {"chunks": chunks.pop(answer.session, 0)}
    # A mark may only stand under our own name.
    return None if answer.error else [put(mark(), count)]


Handler = proxy.Handler
