// A proxy with a tool: it counts the words of a text for the agent.
//
// Who owns what (the rule of wit-bindgen's C): the arguments of an exported function are ours to
// free, what is returned is freed by the bindings, what is passed to an import stays ours.
#include "json.h"

#include <stdlib.h>

static const char TOOL[] =
    "{\"name\":\"count\","
    "\"description\":\"Counts the words of a text: what stands between spaces, tabs and line "
    "breaks.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"
    "\"required\":[\"text\"]},"
    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"words\":{\"type\":\"integer\"}},"
    "\"required\":[\"words\"]},"
    "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}";

// Whether the character at `at` of a JSON string is a space, tab or line break; `length` is how many
// bytes it has there.
static bool is_space(const uint8_t *at, size_t left, size_t *length) {
  *length = 1;
  if (*at != '\\' || left < 2) return *at == ' ';
  *length = 2;
  if (at[1] != 'u' || left < 6) return at[1] == 'n' || at[1] == 't' || at[1] == 'r';
  *length = 6;
  span code = {(uint8_t *)at + 2, 4};
  return span_is(code, SPAN("0020")) || span_is(code, SPAN("0009")) ||
         span_is(code, SPAN("000a")) || span_is(code, SPAN("000A")) ||
         span_is(code, SPAN("000d")) || span_is(code, SPAN("000D"));
}

// The words of a JSON string, between its quotes.
static unsigned count(span text) {
  unsigned words = 0;
  bool within = false;
  for (size_t at = 1, length; at + 1 < text.len; at += length) {
    bool space = is_space(text.ptr + at, text.len - 1 - at, &length);
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

// The arguments fit the schema, and no other tool is called: the host sees to both.
bool exports_tools_call_tool(exports_tools_tool_call_t *call, calls_outcome_t *ret, acp_rpc_error_t *err) {
  uint8_t digits[10];
  unsigned words = count(json_member(call->arguments, SPAN("text")));
  span number = decimal(words, digits + sizeof digits);
  *ret = (calls_outcome_t){
      .tag = CALLS_OUTCOME_DONE,
      .val.done = CONCAT(SPAN("{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"words\\\":"), number,
                         SPAN("}\"}],\"structuredContent\":{\"words\":"), number, SPAN("}}"))};
  exports_tools_tool_call_free(call);
  return true;
}

// It subscribes to nothing, and so sees no message.

static const acp_action_t forward = {.tag = ACP_ACTION_FORWARD};

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  acp_json_free(config);
  *ret = (acp_registration_t){.on_failure = ACP_FAILURE_POLICY_RESTART};
  return true;
}

bool exports_handler_on_request(acp_request_t *request, acp_action_t *ret, proxy_string_t *err) {
  acp_request_free(request);
  *ret = forward;
  return true;
}

bool exports_handler_on_notification(acp_notification_t *update, acp_action_t *ret,
                                     proxy_string_t *err) {
  acp_notification_free(update);
  *ret = forward;
  return true;
}

bool exports_handler_on_response(acp_response_t *response, acp_action_t *ret,
                                 proxy_string_t *err) {
  acp_response_free(response);
  *ret = forward;
  return true;
}

bool exports_handler_on_cancel(acp_message_id_t id, proxy_string_t *err) { return true; }
