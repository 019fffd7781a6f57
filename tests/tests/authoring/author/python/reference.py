"""Counts the prompts of a session, and gives the agent the project's rules with the first one."""

from acp_chain import Call, Proxy, client, put, save, text

proxy = Proxy()
counts = {}


@proxy.on_start
def start(config, saved):
    counts.update(saved or {})


@proxy.on_request("session/prompt", sender="client", body=False)
async def on_prompt(prompt):
    edits = []
    if prompt.session not in counts:
        rules = {"sessionId": prompt.session, "path": "/project/AGENTS.md"}
        file = await client.request("fs/read_text_file", rules)
        edits.append(put("/prompt/-", text(file["content"])))
    # Only now: if a prompt gets no rules, the next one does.
    counts[prompt.session] = counts.get(prompt.session, 0) + 1
    save(counts)
    return edits


@proxy.tool(read_only=True, open_world=False)
def prompts(call: Call) -> str:
    """Says how many prompts this session has had."""
    return str(counts.get(call.session, 0))


Handler, Tools = proxy.Handler, proxy.Tools
