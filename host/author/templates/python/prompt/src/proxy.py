"""Asks the agent for brief answers."""

from acp_chain import Proxy, put, text

# A prompt is better without it than not sent at all.
proxy = Proxy(on_failure="bypass")


@proxy.on_request("session/prompt", sender="client", body=False)
def brief(prompt):
    return [put("/prompt/-", text("Be brief."))]


Handler = proxy.Handler
