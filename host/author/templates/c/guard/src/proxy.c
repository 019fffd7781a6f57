// Answers permission requests by rule: allows reading and searching, and forwards all others to the
// client.
#include "acp_chain.h"

// The kinds of tool calls (`ToolKind` of the protocol) that are allowed.
static bool is_allowed(span kind) {
  return json_is(kind, SPAN("read")) || json_is(kind, SPAN("search"));
}

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  acp_json_free(config);
  if (saved != NULL) proxy_string_free(saved);
  // Better no answer than a wrong one.
  *ret = (acp_registration_t){.on_failure = ACP_FAILURE_POLICY_REFUSE, .guard = true};
  subscribe(ret, "session/request_permission", ACP_SENDER_AGENT, ACP_KINDS_REQUEST, true);
  return true;
}

// The id of the option that allows the call once; empty if there is none.
static span allow_once(span options) {
  for (span option = {0}; json_next(options, &option);)
    if (json_is(json_member(option, SPAN("kind")), SPAN("allow_once")))
      return json_member(option, SPAN("optionId"));
  return (span){0};
}

bool exports_handler_on_request(acp_request_t *request, acp_action_t *ret, proxy_string_t *err) {
  span call = json_member(request->params, SPAN("toolCall"));
  span id = allow_once(json_member(request->params, SPAN("options")));
  *ret = forward();
  if (id.len && is_allowed(json_member(call, SPAN("kind"))))
    *ret = respond(CONCAT(SPAN("{\"outcome\":{\"outcome\":\"selected\",\"optionId\":"), id, SPAN("}}")));
  acp_request_free(request);
  return true;
}
