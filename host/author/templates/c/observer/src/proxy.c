// Counts the tool calls of a turn, and shows the number at its end.
#include "acp_chain.h"

#include <stdlib.h>

// The tool calls of a session since its last turn.
typedef struct count {
  struct count *next;
  proxy_string_t session;
  unsigned calls;
} count;

static count *counts;

static count **find(span session) {
  count **at = &counts;
  while (*at && !span_is((*at)->session, session)) at = &(*at)->next;
  return at;
}

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  acp_json_free(config);
  if (saved != NULL) proxy_string_free(saved);
  *ret = (acp_registration_t){.on_failure = ACP_FAILURE_POLICY_BYPASS};
  subscribe(ret, "session/update", ACP_SENDER_AGENT, ACP_KINDS_NOTIFICATION, false);
  subscribe(ret, "session/prompt", ACP_SENDER_AGENT, ACP_KINDS_RESPONSE, false);
  return true;
}

bool exports_handler_on_notification(acp_notification_t *update, acp_action_t *ret, proxy_string_t *err) {
  acp_head_t *head = &update->head;
  bool is_call, is_read = body_is(head->id, "/update/sessionUpdate", SPAN("\"tool_call\""), &is_call, err);
  if (is_read && is_call && head->session.is_some) {
    count **at = find(head->session.val);
    if (!*at) {
      *at = allocate(sizeof(count));
      **at = (count){.session = CONCAT(head->session.val)};
    }
    (*at)->calls++;
  }
  acp_notification_free(update);
  *ret = forward();
  return is_read;
}

// Shows the number, under the name of the proxy.
static bool tell(count *counted, proxy_string_t *err) {
  uint8_t digits[10];
  proxy_string_t name, session = quote(counted->session);
  channel_proxy_id(&name);
  proxy_string_t params =
      CONCAT(SPAN("{\"sessionId\":"), session,
             SPAN(",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
                  "\"text\":\"\\n\\n**"),
             name, SPAN("**: "), decimal(counted->calls, digits + sizeof digits),
             counted->calls == 1 ? SPAN(" tool call") : SPAN(" tool calls"), SPAN(" in this turn.\\n\\n\"}}}"));
  bool is_sent = notify(ACP_PEER_CLIENT, "session/update", params, err);
  proxy_string_free(&params);
  proxy_string_free(&session);
  proxy_string_free(&name);
  return is_sent;
}

bool exports_handler_on_response(acp_response_t *turn, acp_action_t *ret, proxy_string_t *err) {
  count **at = find(turn->head.session.is_some ? turn->head.session.val : SPAN(""));
  count *counted = *at;
  bool is_sent = true;
  if (counted) {
    is_sent = tell(counted, err);
    *at = counted->next;
    proxy_string_free(&counted->session);
    free(counted);
  }
  acp_response_free(turn);
  *ret = forward();
  return is_sent;
}
