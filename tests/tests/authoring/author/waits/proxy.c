// Adds a file of the client's to each prompt, which waits for it.
#include "acp_chain.h"

#include <stdlib.h>

// A prompt that waits, and the request for the file.
typedef struct held {
  struct held *next;
  acp_message_id_t prompt, file;
} held;

static held *waiting;

// Takes out what waits for this file, or is this prompt; 0 if nothing does. Gives the other of both.
static acp_message_id_t take(acp_message_id_t id) {
  for (held **at = &waiting; *at; at = &(*at)->next) {
    held found = **at;
    if (found.prompt != id && found.file != id) continue;
    free(*at);
    *at = found.next;
    return found.prompt == id ? found.file : found.prompt;
  }
  return 0;
}

// Settles a prompt that waits. False if the host does not let it.
static bool settle(acp_message_id_t prompt, acp_action_t action) {
  channel_channel_error_t error;
  bool settled = channel_settle(prompt, &action, &error);
  if (!settled) channel_channel_error_free(&error);
  acp_action_free(&action);
  return settled;
}

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  acp_json_free(config);
  if (saved != NULL) proxy_string_free(saved);
  *ret = (acp_registration_t){.on_failure = ACP_FAILURE_POLICY_BYPASS};
  subscribe(ret, "session/prompt", ACP_SENDER_CLIENT, ACP_KINDS_REQUEST, false);
  return true;
}

bool exports_handler_on_request(acp_request_t *prompt, acp_action_t *ret, proxy_string_t *err) {
  span id = prompt->head.session.is_some ? prompt->head.session.val : SPAN("");
  proxy_string_t method = SPAN("fs/read_text_file"), session = quote(id);
  proxy_string_t params = CONCAT(SPAN("{\"path\":\"/project/RULES.md\",\"sessionId\":"), session, SPAN("}"));
  held *new = allocate(sizeof *new);
  *new = (held){.next = waiting, .prompt = prompt->head.id};
  channel_channel_error_t error;
  *ret = forward();
  if (channel_request(ACP_PEER_CLIENT, &method, &params, &new->file, &error)) {
    waiting = new;
    ret->tag = ACP_ACTION_HOLD;
  } else {
    channel_channel_error_free(&error);
    free(new);
  }
  proxy_string_free(&params);
  proxy_string_free(&session);
  acp_request_free(prompt);
  return true;
}

bool exports_handler_on_response(acp_response_t *file, acp_action_t *ret, proxy_string_t *err) {
  acp_message_id_t prompt = take(file->head.id);
  *ret = forward();
  if (prompt) {
    acp_action_t action = forward();
    span content = {0};
    if (!file->outcome.is_err) content = json_member(file->outcome.val.ok, SPAN("content"));
    if (content.len) {
      proxy_string_t block = CONCAT(SPAN("{\"type\":\"text\",\"text\":"), content, SPAN("}\0"));
      action = edit("/prompt/-", (const char *)block.ptr);
      proxy_string_free(&block);
    }
    // A prompt that cannot be changed goes on as it is.
    if (!settle(prompt, action)) settle(prompt, forward());
  }
  acp_response_free(file);
  return true;
}

bool exports_handler_on_cancel(acp_message_id_t prompt, proxy_string_t *err) {
  acp_message_id_t file = take(prompt);
  channel_channel_error_t error;
  if (file && !channel_cancel(file, &error)) channel_channel_error_free(&error);
  acp_action_t cancelled = {.tag = ACP_ACTION_REJECT, .val.reject.code = -32800};
  proxy_string_dup(&cancelled.val.reject.message, "Request cancelled");
  settle(prompt, cancelled);
  return true;
}
