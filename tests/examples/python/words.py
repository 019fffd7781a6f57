"""A proxy with a tool: it counts the words of a text for the agent."""

import re
from dataclasses import dataclass

from acp_chain import Proxy

proxy = Proxy()


@dataclass
class Count:
    words: int


@proxy.tool(read_only=True, open_world=False)
def count(text: str) -> Count:
    """Counts the words of a text: what stands between spaces, tabs and line breaks."""
    return Count(len(re.findall(r"[^ \t\r\n]+", text)))


Handler, Tools = proxy.Handler, proxy.Tools
