"""Gives the agent a tool that counts words."""

import json

from acp_chain import Passing
from wit_world import exports
from wit_world.exports.tools import Catalog, ToolCall
from wit_world.imports.calls import Outcome_Done

TOOL = {
    "name": "count_words",
    "description": "Counts the words of a text: what stands between spaces and line breaks.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text whose words are counted."}},
        "required": ["text"],
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


class Tools(exports.Tools):
    def list_tools(self, session: str | None) -> Catalog:
        return Catalog(instructions=None, tools=[json.dumps(TOOL)])

    def call_tool(self, call: ToolCall) -> Outcome_Done:
        """The arguments fit the schema, and no other tool is called: acp-chain sees to both."""
        words = len(json.loads(call.arguments)["text"].split())
        return Outcome_Done(json.dumps({"content": [{"type": "text", "text": str(words)}]}))


class Handler(Passing):
    """It subscribes to nothing, and so sees no message."""
