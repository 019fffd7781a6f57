// Gives the agent a tool that counts words.
#include "acp_chain.h"

static const char TOOL[] =
    "{\"name\":\"count_words\","
    "\"description\":\"Counts the words of a text: what stands between spaces and line breaks.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\","
    "\"description\":\"The text whose words are counted.\"}},\"required\":[\"text\"]},"
    "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}";

// The number of words in a JSON string.
static unsigned count(span text) {
  unsigned words = 0;
  bool within = false;
  for (size_t at = 1; at + 1 < text.len; at++) {
    uint8_t c = text.ptr[at];
    bool space = c == ' ';
    if (c == '\\') {
      c = text.ptr[++at];
      space = c == 'n' || c == 't' || c == 'r';
    }
    if (!space && !within) words++;
    within = !space;
  }
  return words;
}

bool exports_tools_list_tools(proxy_string_t *session, exports_tools_catalog_t *ret, proxy_string_t *err) {
  if (session) proxy_string_free(session);
  *ret = (exports_tools_catalog_t){.tools = {allocate(sizeof(proxy_string_t)), 1}};
  proxy_string_dup(ret->tools.ptr, TOOL);
  return true;
}

// acp-chain checks the arguments against the schema, and calls no other tool.
bool exports_tools_call_tool(exports_tools_tool_call_t *call, calls_outcome_t *ret,
                             acp_rpc_error_t *err) {
  uint8_t digits[10];
  unsigned words = count(json_member(call->arguments, SPAN("text")));
  *ret = (calls_outcome_t){
      .tag = CALLS_OUTCOME_DONE,
      .val.done = CONCAT(SPAN("{\"content\":[{\"type\":\"text\",\"text\":\""),
                         decimal(words, digits + sizeof digits), SPAN("\"}]}"))};
  exports_tools_tool_call_free(call);
  return true;
}

// Subscribes to nothing, and so receives no messages.
bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  acp_json_free(config);
  if (saved != NULL) proxy_string_free(saved);
  *ret = (acp_registration_t){.on_failure = ACP_FAILURE_POLICY_RESTART};
  return true;
}
