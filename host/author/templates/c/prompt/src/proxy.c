// Asks the agent for brief answers.
#include "acp_chain.h"

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  acp_json_free(config);
  if (saved != NULL) proxy_string_free(saved);
  // If the proxy breaks, prompts are forwarded unchanged.
  *ret = (acp_registration_t){.on_failure = ACP_FAILURE_POLICY_BYPASS};
  subscribe(ret, "session/prompt", ACP_SENDER_CLIENT, ACP_KINDS_REQUEST, false);
  return true;
}

bool exports_handler_on_request(acp_request_t *request, acp_action_t *ret, proxy_string_t *err) {
  acp_request_free(request);
  *ret = edit("/prompt/-", "{\"type\":\"text\",\"text\":\"Be brief.\"}");
  return true;
}
