"""Asks the agent for brief answers."""

from acp_chain import Proxy, put, text

# If the proxy breaks, prompts are forwarded unchanged.
proxy = Proxy(on_failure="bypass")


@proxy.on_request("session/prompt", sender="client", body=False)
def brief(prompt):
    return [put("/prompt/-", text("Be brief."))]


Handler = proxy.Handler
