// Gives the agent a tool that counts words.
#include "acp_chain.hpp"

static const char TOOL[] = R"({
  "name": "count_words",
  "description": "Counts the words of a text: what stands between spaces and line breaks.",
  "inputSchema": {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "The text whose words are counted."}},
    "required": ["text"]
  },
  "annotations": {"readOnlyHint": true, "openWorldHint": false}
})";

static unsigned count(std::string_view text) {
  unsigned words = 0;
  for (bool within = false; char c : text) {
    bool is_space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!is_space && !within) words++;
    within = !is_space;
  }
  return words;
}

acp::Result<acp::Catalog> acp::list_tools(std::optional<std::string_view> session) { return Catalog{.tools = {TOOL}}; }

// acp-chain checks the arguments against the schema, and calls no other tool.
std::expected<acp::Outcome, acp::Error> acp::call_tool(const ToolCall &call) {
  unsigned words = count(json::text(json::member(call.arguments, "text")));
  return acp::text(std::to_string(words));
}

// Subscribes to nothing, and so receives no messages.
acp::Result<acp::Registration> acp::init(std::string_view config, std::optional<std::string_view> saved) {
  return Registration{};
}
