// A proxy that shouts: it turns the text of prompts into capitals, adds a file that it asks the
// client for, and counts the chunks that stream back.
//
// Who owns what (the rule of wit-bindgen's C): the arguments of an exported function are ours to
// free, what is returned is freed by the bindings, what is passed to an import stays ours.
#include "json.h"

#include <stdlib.h>

// A prompt that waits for the file.
typedef struct held {
  struct held *next;
  acp_message_id_t prompt, file;
  proxy_string_t params;
} held;

// The chunks of a session since its last answer.
typedef struct count {
  struct count *next;
  proxy_string_t session;
  unsigned chunks;
} count;

static proxy_string_t file;  // the path as a JSON string; empty without one
static held *waiting;
static count *counts;

static const acp_action_t forward = {.tag = ACP_ACTION_FORWARD};
static const acp_action_t hold = {.tag = ACP_ACTION_HOLD};

static acp_action_t replace(proxy_string_t body) {
  return (acp_action_t){.tag = ACP_ACTION_REPLACE, .val.replace = body};
}

// Settles a held message, and frees the action. An error would only say that the host has
// settled the message already (a deadline, the end of the connection).
static void settle(acp_message_id_t id, acp_action_t action) {
  channel_channel_error_t error;
  if (!channel_settle(id, &action, &error)) channel_channel_error_free(&error);
  acp_action_free(&action);
}

static void warn(span text) { channel_log(CHANNEL_LEVEL_WARN, &text); }

static span session_of(const acp_head_t *head) {
  return head->session.is_some ? head->session.val : SPAN("");
}

// Takes the prompt out of the list that waits for this file (or is this prompt).
static held *take(acp_message_id_t id) {
  for (held **at = &waiting; *at; at = &(*at)->next) {
    held *found = *at;
    if (found->file != id && found->prompt != id) continue;
    *at = found->next;
    return found;
  }
  return NULL;
}

static count *count_of(span session) {
  for (count *at = counts; at; at = at->next)
    if (span_is(at->session, session)) return at;
  count *new = allocate(sizeof(count));
  *new = (count){.next = counts, .session = CONCAT(session)};
  return counts = new;
}

static acp_subscription_t subscription(const char *method, acp_peer_t sender, acp_kinds_t kinds,
                                       bool with_body) {
  acp_subscription_t s = {.sender = {true, sender}, .kinds = kinds, .with_body = with_body};
  proxy_string_dup(&s.method, method);
  return s;
}

bool exports_handler_init(acp_json_t *config, exports_handler_list_subscription_t *ret,
                          proxy_string_t *err) {
  file = CONCAT(json_member(*config, SPAN("file")));
  acp_json_free(config);

  ret->len = 3;
  ret->ptr = allocate(ret->len * sizeof *ret->ptr);
  ret->ptr[0] = subscription("session/prompt", ACP_PEER_CLIENT, ACP_KINDS_REQUEST, true);
  ret->ptr[1] = subscription("session/prompt", ACP_PEER_AGENT, ACP_KINDS_RESPONSE, true);
  ret->ptr[2] = subscription("session/update", ACP_PEER_AGENT, ACP_KINDS_NOTIFICATION, false);
  return true;
}

bool exports_handler_on_request(acp_request_t *request, acp_action_t *ret, proxy_string_t *err) {
  acp_message_id_t prompt = request->head.id;
  proxy_string_t params = request->params;
  acp_head_free(&request->head);

  span block = {0};
  while (json_next(json_member(params, SPAN("prompt")), &block))
    if (span_is(json_member(block, SPAN("type")), SPAN("\"text\"")))
      json_shout(json_member(block, SPAN("text")));
  *ret = replace(params);
  if (!file.len) return true;

  acp_message_id_t id;
  channel_channel_error_t error;
  proxy_string_t method = SPAN("fs/read_text_file");
  proxy_string_t ask = CONCAT(SPAN("{\"sessionId\":"), json_member(params, SPAN("sessionId")),
                              SPAN(",\"path\":"), file, SPAN("}"));
  if (channel_request(ACP_PEER_CLIENT, &method, &ask, &id, &error)) {
    held *new = allocate(sizeof(held));
    *new = (held){.next = waiting, .prompt = prompt, .file = id, .params = params};
    waiting = new;
    *ret = hold;
  } else {
    channel_channel_error_free(&error);
    warn(SPAN("the client could not be asked for the file"));
  }
  proxy_string_free(&ask);
  return true;
}

bool exports_handler_on_notification(acp_notification_t *update, acp_action_t *ret,
                                     proxy_string_t *err) {
  channel_option_json_t kind;
  channel_channel_error_t error;
  proxy_string_t pointer = SPAN("/update/sessionUpdate");
  if (channel_read(update->head.id, &pointer, &kind, &error)) {
    if (kind.is_some && span_is(kind.val, SPAN("\"agent_message_chunk\"")))
      count_of(session_of(&update->head))->chunks++;
    channel_option_json_free(&kind);
  } else {
    channel_channel_error_free(&error);
  }
  acp_notification_free(update);
  *ret = forward;
  return true;
}

// The client's answer to our own request: the held prompt goes on, with the file or without.
static void on_file(held *prompt, acp_result_json_error_t *outcome) {
  span content = {0};
  if (!outcome->is_err) content = json_member(outcome->val.ok, SPAN("content"));
  span blocks = json_member(prompt->params, SPAN("prompt"));
  if (content.len && blocks.len) {
    json_shout(content);
    span none = {0};
    span end = {blocks.ptr + blocks.len - 1, 0};  // before the bracket
    proxy_string_t block =
        CONCAT(json_next(blocks, &none) ? SPAN(",") : SPAN(""),
               SPAN("{\"type\":\"text\",\"text\":"), content, SPAN("}"));
    json_splice(&prompt->params, end, block);
    proxy_string_free(&block);
  } else {
    warn(SPAN("the client did not give the file"));
  }
  settle(prompt->prompt, replace(prompt->params));
  free(prompt);
}

// Writes a number so that it ends at `end`. `snprintf` would more than double the component.
static span decimal(unsigned number, uint8_t *end) {
  uint8_t *at = end;
  do *--at = '0' + number % 10;
  while (number /= 10);
  return (span){at, end - at};
}

// The end of a turn: the result tells how many chunks there were.
static acp_action_t on_turn(span session, proxy_string_t result) {
  uint8_t digits[10];
  count *turn = count_of(session);
  proxy_string_t chunks =
      CONCAT(SPAN("{\"chunks\":"), decimal(turn->chunks, digits + sizeof digits), SPAN("}"));
  turn->chunks = 0;

  span meta = json_member(result, SPAN("_meta"));
  if (meta.len && *meta.ptr == '{') {
    json_set(&result, meta, SPAN("shout"), chunks);
  } else {
    proxy_string_t object = CONCAT(SPAN("{\"shout\":"), chunks, SPAN("}"));
    json_set(&result, result, SPAN("_meta"), object);
    proxy_string_free(&object);
  }
  proxy_string_free(&chunks);
  return replace(result);
}

bool exports_handler_on_response(acp_response_t *response, acp_action_t *ret,
                                 proxy_string_t *err) {
  acp_result_json_error_t *outcome = &response->outcome;
  held *prompt = take(response->head.id);
  *ret = forward;
  if (prompt) {
    on_file(prompt, outcome);
  } else if (span_is(response->head.method, SPAN("session/prompt")) && !outcome->is_err) {
    *ret = on_turn(session_of(&response->head), outcome->val.ok);
    outcome->val.ok = (proxy_string_t){0};  // returned: not ours to free any more
  }
  acp_response_free(response);
  return true;
}

void exports_handler_on_cancel(acp_message_id_t id) {
  held *prompt = take(id);
  if (!prompt) return;
  channel_channel_error_t error;
  if (!channel_cancel(prompt->file, &error)) channel_channel_error_free(&error);
  acp_action_t cancelled = {.tag = ACP_ACTION_REJECT, .val.reject.code = -32800};
  proxy_string_dup(&cancelled.val.reject.message, "Request cancelled");
  settle(id, cancelled);
  proxy_string_free(&prompt->params);
  free(prompt);
}
