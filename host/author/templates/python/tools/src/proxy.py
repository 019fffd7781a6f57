"""Gives the agent a tool that counts words."""

from typing import Annotated

from acp_chain import Proxy

proxy = Proxy()


@proxy.tool(read_only=True, open_world=False)
def count_words(text: Annotated[str, "The text whose words are counted."]) -> str:
    """Counts the words of a text: what stands between spaces and line breaks."""
    return str(len(text.split()))


Handler, Tools = proxy.Handler, proxy.Tools
