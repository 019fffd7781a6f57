"""A proxy that shouts: it turns the text of prompts into capitals, adds a file that it asks the
client for, and counts the chunks that stream back."""

import functools
import json
import re
from collections import Counter

from componentize_py_types import Err, Ok
from wit_world import exports
from wit_world.imports import channel
from wit_world.imports.channel import Level
from wit_world.imports.types import (
    Action,
    Action_Edit,
    Action_Forward,
    Action_Hold,
    Action_Reject,
    Change_Set,
    Edit,
    FailurePolicy,
    Head,
    Kinds,
    Notification,
    Peer,
    Registration,
    Request,
    Response,
    Result,
    RpcError,
    Sender,
    Subscription,
)

# The state is the module's: a `Handler` is made anew for every call.
config = {}
held = []  # (prompt, file, edits): prompts that wait for the file
chunks = Counter()  # by session, since its last answer


def shout(text: str) -> str:
    """ASCII letters only: `upper` would turn "ß" into "SS"."""
    return re.sub("[a-z]+", lambda letters: letters[0].upper(), text)


def put(pointer: str, value) -> Edit:
    return Edit(pointer, Change_Set(json.dumps(value)))


def take(id: int):
    """Takes the prompt with this number, or the one that waits for the file with this number."""
    for one in held:
        if id in one[:2]:
            held.remove(one)
            return one
    return None


def on_file(prompt: int, edits: list[Edit], outcome: Result[str, RpcError]) -> None:
    match json.loads(outcome.value) if isinstance(outcome, Ok) else outcome.value:
        case {"content": str(content)}:
            edits.append(put("/prompt/-", {"type": "text", "text": shout(content)}))
        case other:
            channel.log(Level.WARN, f"the client did not give {config['file']}: {other}")
    channel.settle(prompt, Action_Edit(edits))


def on_turn(head: Head, outcome: Result[str, RpcError]) -> Action:
    count = {"chunks": chunks.pop(head.session, 0)}
    if not isinstance(outcome, Ok):
        return Action_Forward()
    # A mark may only stand under our own name.
    return Action_Edit([put(f"/_meta/acp-chain~1{channel.proxy_id()}", count)])


def catching(handle):
    """An exception becomes the handler's `err`, and with our policy the message goes on unchanged.
    Uncaught, it would be a trap and the end of this instance."""

    @functools.wraps(handle)
    def call(*given):
        try:
            return handle(*given)
        except Exception as error:
            raise Err(f"{type(error).__name__}: {error}") from error

    return call


class Handler(exports.Handler):
    @catching
    def init(self, table: str, saved: str | None) -> Registration:
        config.update(json.loads(table))
        subscriptions = [
            Subscription("session/prompt", Sender.CLIENT, Kinds.REQUEST, with_body=True),
            Subscription("session/prompt", Sender.AGENT, Kinds.RESPONSE, with_body=False),
            Subscription("session/update", Sender.AGENT, Kinds.NOTIFICATION, with_body=False),
        ]
        return Registration(subscriptions, on_failure=FailurePolicy.BYPASS, guard=False)

    @catching
    def on_request(self, request: Request) -> Action:
        blocks = json.loads(request.params)["prompt"]
        edits = [
            put(f"/prompt/{n}/text", shout(block["text"]))
            for n, block in enumerate(blocks)
            if block["type"] == "text"
        ]
        if "file" not in config:
            return Action_Edit(edits)
        ask = {"sessionId": request.head.session, "path": config["file"]}
        file = channel.request(Peer.CLIENT, "fs/read_text_file", json.dumps(ask))
        held.append((request.head.id, file, edits))
        return Action_Hold()

    @catching
    def on_notification(self, notification: Notification) -> Action:
        head = notification.head
        if channel.read(head.id, "/update/sessionUpdate") == '"agent_message_chunk"':
            chunks[head.session] += 1
        return Action_Forward()

    @catching
    def on_response(self, response: Response) -> Action:
        head = response.head
        if found := take(head.id):
            prompt, _, edits = found
            on_file(prompt, edits, response.outcome)
        elif head.method == "session/prompt":
            return on_turn(head, response.outcome)
        return Action_Forward()

    @catching
    def on_cancel(self, id: int) -> None:
        if found := take(id):
            prompt, file, _ = found
            channel.cancel(file)
            channel.settle(prompt, Action_Reject(RpcError(-32800, "Request cancelled", None)))
