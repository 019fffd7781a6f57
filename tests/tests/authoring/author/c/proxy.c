// Reports what it finds in a prompt, and which reads are refused.
#include "acp_chain.h"

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  acp_json_free(config);
  if (saved != NULL) proxy_string_free(saved);
  *ret = (acp_registration_t){.on_failure = ACP_FAILURE_POLICY_REFUSE};
  subscribe(ret, "session/prompt", ACP_SENDER_CLIENT, ACP_KINDS_REQUEST, true);
  return true;
}

// The report on a prompt in which it finds nothing.
static proxy_string_t of_reads(acp_message_id_t id) {
  proxy_string_t why;
  bool is_session, is_missing, is_refused;
  if (!body_is(id, "/sessionId", SPAN("\"s\""), &is_session, &why)) return why;
  if (!body_is(id, "/missing", SPAN("\"s\""), &is_missing, &why)) return why;
  if (!is_session || is_missing) return CONCAT(SPAN("it is read wrongly"));
  if (body_is(id, "no pointer", SPAN("\"s\""), &is_refused, &why)) return CONCAT(SPAN("it was read"));
  proxy_string_t said = CONCAT(SPAN("refused: "), why);
  proxy_string_free(&why);
  return said;
}

bool exports_handler_on_request(acp_request_t *prompt, acp_action_t *ret, proxy_string_t *err) {
  span found = json_member(prompt->params, SPAN("é€😀\"\\/\n"));
  *err = found.len ? CONCAT(SPAN("found "), found) : of_reads(prompt->head.id);
  acp_request_free(prompt);
  return false;
}
