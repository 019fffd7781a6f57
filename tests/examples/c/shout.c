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
  acp_list_edit_t edits;
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

static acp_action_t edit(acp_list_edit_t edits) {
  return (acp_action_t){.tag = ACP_ACTION_EDIT, .val.edit = edits};
}

// Adds an edit to a list, which owns its texts from now on.
static void add(acp_list_edit_t *edits, proxy_string_t pointer, proxy_string_t value) {
  edits->ptr = reallocate(edits->ptr, (edits->len + 1) * sizeof *edits->ptr);
  edits->ptr[edits->len++] =
      (acp_edit_t){pointer, {.tag = ACP_CHANGE_SET, .val.set = value}};
}

// The part of a message's body at a JSON Pointer; empty if nothing is there.
static proxy_string_t body_at(acp_message_id_t id, span pointer) {
  channel_option_json_t part;
  channel_channel_error_t error;
  if (channel_read(id, &pointer, &part, &error)) return part.is_some ? part.val : (span){0};
  channel_channel_error_free(&error);
  return (span){0};
}

// Settles a held message, and frees the action. False if the host did not take it: it is not
// granted, or the message is settled already (a deadline, the end of the connection).
static bool settle(acp_message_id_t id, acp_action_t action) {
  channel_channel_error_t error;
  bool settled = channel_settle(id, &action, &error);
  if (!settled) channel_channel_error_free(&error);
  acp_action_free(&action);
  return settled;
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

static acp_subscription_t subscription(const char *method, acp_sender_t sender, acp_kinds_t kinds,
                                       bool with_body) {
  acp_subscription_t s = {.sender = sender, .kinds = kinds, .with_body = with_body};
  proxy_string_dup(&s.method, method);
  return s;
}

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  file = CONCAT(json_member(*config, SPAN("file")));
  acp_json_free(config);

  acp_subscription_t *wanted = allocate(3 * sizeof *wanted);
  wanted[0] = subscription("session/prompt", ACP_SENDER_CLIENT, ACP_KINDS_REQUEST, true);
  wanted[1] = subscription("session/prompt", ACP_SENDER_AGENT, ACP_KINDS_RESPONSE, false);
  wanted[2] = subscription("session/update", ACP_SENDER_AGENT, ACP_KINDS_NOTIFICATION, false);
  *ret = (acp_registration_t){{wanted, 3}, ACP_FAILURE_POLICY_BYPASS, .guard = false};
  return true;
}

bool exports_handler_on_request(acp_request_t *request, acp_action_t *ret, proxy_string_t *err) {
  uint8_t digits[10];
  acp_list_edit_t edits = {0};
  span blocks = json_member(request->params, SPAN("prompt")), block = {0};
  for (unsigned n = 0; json_next(blocks, &block); n++) {
    span text = json_member(block, SPAN("text"));
    if (text.len && span_is(json_member(block, SPAN("type")), SPAN("\"text\"")))
      add(&edits, CONCAT(SPAN("/prompt/"), decimal(n, digits + sizeof digits), SPAN("/text")),
          json_shout(text));
  }
  *ret = edit(edits);

  if (file.len) {
    acp_message_id_t id;
    channel_channel_error_t error;
    proxy_string_t method = SPAN("fs/read_text_file");
    span session = json_member(request->params, SPAN("sessionId"));
    proxy_string_t ask =
        CONCAT(SPAN("{\"sessionId\":"), session, SPAN(",\"path\":"), file, SPAN("}"));
    if (channel_request(ACP_PEER_CLIENT, &method, &ask, &id, &error)) {
      held *new = allocate(sizeof(held));
      *new = (held){.next = waiting, .prompt = request->head.id, .file = id, .edits = edits};
      waiting = new;
      *ret = hold;
    } else {
      channel_channel_error_free(&error);
      warn(SPAN("the client could not be asked for the file"));
    }
    proxy_string_free(&ask);
  }
  acp_request_free(request);
  return true;
}

bool exports_handler_on_notification(acp_notification_t *update, acp_action_t *ret,
                                     proxy_string_t *err) {
  proxy_string_t kind = body_at(update->head.id, SPAN("/update/sessionUpdate"));
  if (span_is(kind, SPAN("\"agent_message_chunk\""))) count_of(session_of(&update->head))->chunks++;
  proxy_string_free(&kind);
  acp_notification_free(update);
  *ret = forward;
  return true;
}

// The client's answer to our own request: the held prompt goes on, with the file or without.
static void on_file(held *prompt, acp_result_json_rpc_error_t *outcome) {
  span content = {0};
  if (!outcome->is_err) content = json_member(outcome->val.ok, SPAN("content"));
  if (content.len) {
    proxy_string_t text = json_shout(content);
    add(&prompt->edits, CONCAT(SPAN("/prompt/-")),
        CONCAT(SPAN("{\"type\":\"text\",\"text\":"), text, SPAN("}")));
    proxy_string_free(&text);
  } else {
    warn(SPAN("the client did not give the file"));
  }
  settle(prompt->prompt, edit(prompt->edits));
  free(prompt);
}

// The end of a turn: the result tells how many chunks there were.
static acp_action_t on_turn(acp_response_t *response) {
  uint8_t digits[10];
  count *turn = count_of(session_of(&response->head));
  span chunks = decimal(turn->chunks, digits + sizeof digits);
  turn->chunks = 0;
  if (response->outcome.is_err) return forward;

  acp_list_edit_t edits = {0};
  proxy_string_t name;  // a mark may only stand under it
  channel_proxy_id(&name);
  add(&edits, CONCAT(SPAN("/_meta/acp-chain~1"), name),
      CONCAT(SPAN("{\"chunks\":"), chunks, SPAN("}")));
  proxy_string_free(&name);
  return edit(edits);
}

bool exports_handler_on_response(acp_response_t *response, acp_action_t *ret,
                                 proxy_string_t *err) {
  held *prompt = take(response->head.id);
  *ret = forward;
  if (prompt)
    on_file(prompt, &response->outcome);
  else if (span_is(response->head.method, SPAN("session/prompt")))
    *ret = on_turn(response);
  acp_response_free(response);
  return true;
}

bool exports_handler_on_cancel(acp_message_id_t id, proxy_string_t *err) {
  held *prompt = take(id);
  if (!prompt) return true;
  channel_channel_error_t error;
  if (!channel_cancel(prompt->file, &error)) channel_channel_error_free(&error);
  acp_action_t cancelled = {.tag = ACP_ACTION_REJECT, .val.reject.code = -32800};
  proxy_string_dup(&cancelled.val.reject.message, "Request cancelled");
  acp_list_edit_free(&prompt->edits);
  free(prompt);
  if (settle(id, cancelled)) return true;
  proxy_string_dup(err, "the prompt could not be answered");
  return false;
}
