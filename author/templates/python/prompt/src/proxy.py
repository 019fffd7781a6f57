"""Asks the agent for brief answers."""

from acp_chain import Action, FailurePolicy, Passing, Registration, Request, Subscription, edit
from wit_world.imports.types import Kinds, Sender


class Handler(Passing):
    def init(self, config: str, saved: str | None) -> Registration:
        prompts = Subscription("session/prompt", Sender.CLIENT, Kinds.REQUEST, with_body=False)
        # A prompt is better without it than not sent at all.
        return Registration([prompts], on_failure=FailurePolicy.BYPASS, guard=False)

    def on_request(self, request: Request) -> Action:
        return edit("/prompt/-", {"type": "text", "text": "Be brief."})
