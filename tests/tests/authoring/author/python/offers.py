"""Resources, prompts and completion: what the agent has of a proxy besides tools."""

from typing import Annotated

from acp_chain import Call, Proxy, client, prompts_changed, reject, resource_changed, resources_changed, text

proxy = Proxy(instructions="Read the notes first.")
notes = {"one": "1", "two": "2"}


def like(value, known):
    return [name for name in notes if name.startswith(value)]


async def like_or_known(value, known):
    return [*like(value, known), *known.values()]


@proxy.resource("notes:/index", mime_type="text/plain")
def index():
    """All notes."""
    return "\n".join(notes)


@proxy.resource("notes:/{name}", complete={"name": like})
def note(name):
    return notes.get(name)


@proxy.resource("files:/{+path}", title="Files")
async def file(path, call: Call):
    read = await client.request("fs/read_text_file", {"sessionId": call.session, "path": path})
    return [{"text": read["content"], "mimeType": "text/x-rust"}, b"\x00\x01"]


@proxy.resource("notes:/secret")
def secret():
    return reject(-32050, "not for you")


@proxy.resource("notes:/late")
def late():
    raise ValueError("too late")


@proxy.prompt(complete={"note": like_or_known})
def review(note: Annotated[str, "Its name."], tone: str = "kindly"):
    """Reviews a note."""
    return [f"Review {notes[note]}, {tone}.", text("Be brief.")]


@proxy.prompt
def talk():
    """Begins a talk."""
    resources_changed()
    resource_changed("notes:/index")
    prompts_changed()
    return {"messages": [{"role": "assistant", "content": text("Yes?")}]}


Handler, Resources = proxy.Handler, proxy.Resources
Prompts, Completion = proxy.Prompts, proxy.Completion
