#include "acp_chain.h"

#include <stdlib.h>
#include <string.h>

static span text(const char *text) { return (span){(uint8_t *)text, strlen(text)}; }

void subscribe(acp_registration_t *registration, const char *method, acp_sender_t sender, acp_kinds_t kinds,
               bool with_body) {
  acp_list_subscription_t *all = &registration->subscriptions;
  all->ptr = reallocate(all->ptr, (all->len + 1) * sizeof *all->ptr);
  acp_subscription_t *one = &all->ptr[all->len++];
  *one = (acp_subscription_t){.sender = sender, .kinds = kinds, .with_body = with_body};
  proxy_string_dup(&one->method, method);
}

acp_action_t forward(void) { return (acp_action_t){.tag = ACP_ACTION_FORWARD}; }

acp_action_t edit(const char *pointer, const char *json) {
  acp_edit_t *one = allocate(sizeof *one);
  one->change.tag = ACP_CHANGE_SET;
  proxy_string_dup(&one->pointer, pointer);
  proxy_string_dup(&one->change.val.set, json);
  return (acp_action_t){.tag = ACP_ACTION_EDIT, .val.edit = {one, 1}};
}

acp_action_t respond(proxy_string_t json) {
  return (acp_action_t){.tag = ACP_ACTION_RESPOND, .val.respond = json};
}

bool body_is(acp_message_id_t id, const char *pointer, span json, bool *is, proxy_string_t *err) {
  span at = text(pointer);
  channel_option_json_t part;
  channel_channel_error_t error;
  *is = false;
  if (!channel_read(id, &at, &part, &error)) return *err = error.message, false;
  if (!part.is_some) return true;
  // Texts are compared independently of their spelling.
  span inner = {json.ptr + 1, json.len - 2};
  *is = span_is(part.val, json) || (json.len > 1 && *json.ptr == '"' && json_is(part.val, inner));
  proxy_string_free(&part.val);
  return true;
}

proxy_string_t quote(span text) {
  static const char HEX[] = "0123456789abcdef";
  uint8_t *quoted = allocate(text.len * 6 + 2), *at = quoted;
  *at++ = '"';
  for (size_t i = 0; i < text.len; i++) {
    uint8_t c = text.ptr[i];
    if (c < ' ') {
      memcpy(at, "\\u00", 4);
      at[4] = HEX[c >> 4];
      at[5] = HEX[c & 15];
      at += 6;
      continue;
    }
    if (c == '"' || c == '\\') *at++ = '\\';
    *at++ = c;
  }
  *at++ = '"';
  return (proxy_string_t){quoted, at - quoted};
}

bool notify(acp_peer_t to, const char *method, span json, proxy_string_t *err) {
  span name = text(method);
  channel_channel_error_t error;
  return channel_notify(to, &name, &json, &error) || (*err = error.message, false);
}

// Defaults of optional handlers.

__attribute__((weak)) bool exports_handler_on_request(acp_request_t *request, acp_action_t *ret,
                                                      proxy_string_t *err) {
  acp_request_free(request);
  *ret = forward();
  return true;
}

__attribute__((weak)) bool exports_handler_on_notification(acp_notification_t *notification,
                                                           acp_action_t *ret, proxy_string_t *err) {
  acp_notification_free(notification);
  *ret = forward();
  return true;
}

__attribute__((weak)) bool exports_handler_on_response(acp_response_t *response, acp_action_t *ret,
                                                       proxy_string_t *err) {
  acp_response_free(response);
  *ret = forward();
  return true;
}

__attribute__((weak)) bool exports_handler_on_cancel(acp_message_id_t id, proxy_string_t *err) {
  acp_action_t cancelled = {.tag = ACP_ACTION_REJECT, .val.reject.code = -32800};
  proxy_string_dup(&cancelled.val.reject.message, "Request cancelled");
  channel_channel_error_t error;
  // Fails if the host has settled the message.
  if (!channel_settle(id, &cancelled, &error)) channel_channel_error_free(&error);
  acp_action_free(&cancelled);
  return true;
}
