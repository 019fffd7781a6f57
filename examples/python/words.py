"""A proxy with a tool: it counts the words of a text for the agent."""

import json
import re

from wit_world import exports
from wit_world.exports.tools import Catalog, ToolCall
from wit_world.imports.calls import Outcome_Done
from wit_world.imports.types import Action_Forward, FailurePolicy, Registration

TOOL = {
    "name": "count",
    "description": "Counts the words of a text: what stands between spaces, tabs and line breaks.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
    "outputSchema": {
        "type": "object",
        "properties": {"words": {"type": "integer"}},
        "required": ["words"],
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


def count(text: str) -> dict:
    return {"words": len(re.findall(r"[^ \t\r\n]+", text))}


class Tools(exports.Tools):
    def list_tools(self, session: str | None) -> Catalog:
        return Catalog(instructions=None, tools=[json.dumps(TOOL)])

    def call_tool(self, call: ToolCall) -> Outcome_Done:
        """The arguments fit the schema, and no other tool is called: the host sees to both."""
        counted = count(**json.loads(call.arguments))
        content = [{"type": "text", "text": json.dumps(counted)}]
        return Outcome_Done(json.dumps({"content": content, "structuredContent": counted}))


class Handler(exports.Handler):
    """It subscribes to nothing, and so sees no message."""

    def init(self, config: str, saved: str | None) -> Registration:
        return Registration(subscriptions=[], on_failure=FailurePolicy.RESTART, guard=False)

    def on_request(self, request):
        return Action_Forward()

    def on_notification(self, notification):
        return Action_Forward()

    def on_response(self, response):
        return Action_Forward()

    def on_cancel(self, id):
        pass
