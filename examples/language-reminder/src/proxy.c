// Adds to each prompt that the answer be in the user's language: models fall back to English.
#include "acp_chain.h"

// The block that is added to prompts.
static proxy_string_t block;

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  span language = json_member(*config, SPAN("language"));
  if (language.len < 3) {
    proxy_string_dup(err, "`language` is missing: write `config = { language = \"French\" }`");
    return false;
  }
  // The text between the quotes is already escaped for a JSON string.
  language = (span){language.ptr + 1, language.len - 2};
  block = CONCAT(SPAN("{\"type\":\"text\",\"text\":\"Answer in "), language, SPAN(".\"}\0"));
  acp_json_free(config);
  if (saved != NULL) proxy_string_free(saved);
  *ret = (acp_registration_t){.on_failure = ACP_FAILURE_POLICY_BYPASS};
  subscribe(ret, "session/prompt", ACP_SENDER_CLIENT, ACP_KINDS_REQUEST, false);
  return true;
}

bool exports_handler_on_request(acp_request_t *request, acp_action_t *ret, proxy_string_t *err) {
  acp_request_free(request);
  *ret = edit("/prompt/-", (const char *)block.ptr);
  return true;
}
