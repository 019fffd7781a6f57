// Uses all of the interface, version 0.1.2: each function and each case of each type. What is asked of it
// is in the method: `_every/reject` is rejected.
#include "json.h"

#include <string.h>

static span text(const char *text) { return (span){(uint8_t *)text, strlen(text)}; }

static proxy_string_t own(const char *chars) { return CONCAT(text(chars)); }

static const acp_action_t forward = {.tag = ACP_ACTION_FORWARD};
static const acp_action_t hold = {.tag = ACP_ACTION_HOLD};
static const acp_action_t discard = {.tag = ACP_ACTION_DISCARD};

static acp_action_t respond(proxy_string_t json) {
  return (acp_action_t){.tag = ACP_ACTION_RESPOND, .val.respond = json};
}

static acp_rpc_error_t error(const char *message, const char *data) {
  acp_rpc_error_t made = {.code = -32050, .message = own(message)};
  if (data) made.data = (acp_option_json_t){true, own(data)};
  return made;
}

static acp_action_t reject(const char *message, const char *data) {
  return (acp_action_t){.tag = ACP_ACTION_REJECT, .val.reject = error(message, data)};
}

static const char *const CODES[] = {"denied", "unknown-message", "invalid", "full", "other"};

// What a call of the channel failed with, as JSON.
static proxy_string_t failed(channel_channel_error_t *failure) {
  bool says = failure->message.len > 0;
  proxy_string_t made = CONCAT(SPAN("{\"code\":\""), text(CODES[failure->code]), SPAN("\",\"says\":"),
                               says ? SPAN("true}") : SPAN("false}"));
  channel_channel_error_free(failure);
  return made;
}

// A call that was to work. If it did not, the proxy ends here.
static void must(bool done) {
  if (!done) __builtin_trap();
}

static channel_channel_error_t failure;

// What is held: a request of the client's, and what was asked for its sake.
static acp_message_id_t held, asked;
// A request that waits for some time, and the number of that.
static acp_message_id_t sleeper, pause;
// A request that waits for a stored value, and the number of the request for the value.
static acp_message_id_t keeping, value;
// The call of a tool that waits, and what its caller was asked.
static acp_message_id_t call, caller;

static bool is(proxy_string_t method, const char *name) { return span_is(method, text(name)); }

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret,
                          proxy_string_t *err) {
  span wrong = json_member(*config, SPAN("fail"));
  if (wrong.len) return *err = own("it was told to fail"), false;
  span body = saved ? CONCAT(SPAN("restored "), *saved) : SPAN("new");
  channel_log(CHANNEL_LEVEL_INFO, &body);
  acp_subscription_t *all = allocate(4 * sizeof *all);
  all[0] = (acp_subscription_t){own("_every/*"), ACP_SENDER_CLIENT, ACP_KINDS_REQUEST, true};
  all[1] = (acp_subscription_t){own("_every/*"), ACP_SENDER_ANY, ACP_KINDS_NOTIFICATION, true};
  all[2] = (acp_subscription_t){own("_every/*"), ACP_SENDER_AGENT, ACP_KINDS_RESPONSE, true};
  all[3] = (acp_subscription_t){own("_every/unread"), ACP_SENDER_CLIENT, ACP_KINDS_REQUEST, false};
  *ret = (acp_registration_t){{all, 4}, ACP_FAILURE_POLICY_RESTART, .guard = false};
  return true;
}

static void say_all(void) {
  static const uint8_t LEVELS[] = {CHANNEL_LEVEL_TRACE, CHANNEL_LEVEL_DEBUG, CHANNEL_LEVEL_INFO,
                                   CHANNEL_LEVEL_WARN, CHANNEL_LEVEL_ERROR};
  span said = SPAN("said");
  for (size_t i = 0; i < sizeof LEVELS; i++) channel_log(LEVELS[i], &said);
}

// The error of a call that cannot work.
static proxy_string_t refused(const char *kind) {
  span method = SPAN("initialize"), body = SPAN("{}"), broken = SPAN("{");
  acp_message_id_t id;
  if (!strcmp(kind, "denied")) must(!channel_request(ACP_PEER_AGENT, &method, &body, &id, &failure));
  if (!strcmp(kind, "invalid")) method = SPAN("_every/x"), must(!channel_notify(ACP_PEER_AGENT, &method, &broken, &failure));
  acp_action_t action = forward;
  if (!strcmp(kind, "unknown")) must(!channel_settle(1, &action, &failure));
  return failed(&failure);
}

// Requests a stored value, or stores or removes one.
static void request_value(proxy_string_t method) {
  channel_keeper_t user = {.tag = CHANNEL_KEEPER_USER};
  channel_keeper_t project = {.tag = CHANNEL_KEEPER_PROJECT, .val.project = SPAN("s")};
  span key = SPAN("key"), stored = SPAN("stored");
  if (is(method, "_every/load")) must(channel_load_value(&user, &key, &value, &failure));
  if (is(method, "_every/store")) must(channel_store_value(&user, &key, 0, &stored, &value, &failure));
  if (is(method, "_every/remove")) must(channel_store_value(&project, &key, 0, NULL, &value, &failure));
}

bool exports_handler_on_request(acp_request_t *request, acp_action_t *ret, proxy_string_t *err) {
  proxy_string_t method = request->head.method;
  acp_message_id_t id = request->head.id;
  span path = SPAN("/x"), told = SPAN("_every/told"), body = SPAN("{}");
  *ret = forward;
  if (is(method, "_every/edit")) {
    acp_edit_t *edits = allocate(2 * sizeof *edits);
    edits[0] = (acp_edit_t){own("/a"), {.tag = ACP_CHANGE_SET, .val.set = own("1")}};
    edits[1] = (acp_edit_t){own("/b"), {.tag = ACP_CHANGE_REMOVE}};
    *ret = (acp_action_t){.tag = ACP_ACTION_EDIT, .val.edit = {edits, 2}};
  } else if (is(method, "_every/replace")) {
    *ret = (acp_action_t){.tag = ACP_ACTION_REPLACE, .val.replace = own("{\"other\":true}")};
  } else if (is(method, "_every/respond")) {
    *ret = respond(own("{\"answered\":true}"));
  } else if (is(method, "_every/reject")) {
    *ret = reject("no", "[1]");
  } else if (is(method, "_every/err")) {
    acp_request_free(request);
    *err = own("cannot decide");
    return false;
  } else if (is(method, "_every/read")) {
    channel_option_json_t part;
    must(channel_read(id, &path, &part, &failure));
    *ret = respond(part.is_some ? part.val : own("\"nothing\""));
  } else if (is(method, "_every/unread")) {
    *ret = respond(request->params.len ? own("\"read\"") : own("\"unread\""));
  } else if (is(method, "_every/save")) {
    span state = SPAN("state");
    must(channel_save(&state, &failure));
    *ret = respond(own("true"));
  } else if (is(method, "_every/id")) {
    proxy_string_t name;
    channel_proxy_id(&name);
    *ret = respond(CONCAT(SPAN("\""), name, SPAN("\"")));
  } else if (is(method, "_every/log")) {
    say_all();
  } else if (is(method, "_every/notify")) {
    must(channel_notify(ACP_PEER_CLIENT, &told, &body, &failure));
    must(channel_notify(ACP_PEER_AGENT, &told, &body, &failure));
  } else if (is(method, "_every/hold")) {
    span method = SPAN("_every/asked");
    must(channel_request(ACP_PEER_CLIENT, &method, &body, &asked, &failure));
    held = id;
    *ret = hold;
  } else if (is(method, "_every/wake")) {
    must(channel_wake_after(500, &pause, &failure));
    sleeper = id;
    *ret = hold;
  } else if (is(method, "_every/oversleep")) {
    must(!channel_wake_after(4000000, &pause, &failure));
    *ret = respond(failed(&failure));
  } else if (is(method, "_every/load") || is(method, "_every/store") || is(method, "_every/remove")) {
    request_value(method);
    keeping = id;
    *ret = hold;
  } else if (is(method, "_every/give-up")) {
    held = id;
    *ret = hold;
  } else if (is(method, "_every/denied") || is(method, "_every/invalid") || is(method, "_every/unknown")) {
    char kind[16] = {0};
    memcpy(kind, method.ptr + 7, method.len - 7);
    *ret = respond(refused(kind));
  } else if (is(method, "_every/changed")) {
    span uri = SPAN("every:/one");
    must(channel_tools_changed(&failure));
    must(channel_resources_changed(&failure));
    must(channel_prompts_changed(&failure));
    must(channel_resource_changed(&uri, &failure));
  }
  acp_request_free(request);
  return true;
}

bool exports_handler_on_notification(acp_notification_t *told, acp_action_t *ret, proxy_string_t *err) {
  *ret = forward;
  if (is(told->head.method, "_every/discard")) *ret = discard;
  if (is(told->head.method, "_every/fail") && held) {
    span why = SPAN("gave up");
    must(channel_fail(held, &why, &failure));
    held = 0;
  }
  if (is(told->head.method, "_every/hurry") && pause) must(channel_cancel(pause, &failure));
  if (is(told->head.method, "_every/withdraw") && asked) must(channel_cancel(asked, &failure));
  acp_notification_free(told);
  return true;
}

bool exports_handler_on_response(acp_response_t *response, acp_action_t *ret, proxy_string_t *err) {
  acp_message_id_t id = response->head.id;
  bool is_err = response->outcome.is_err;
  *ret = forward;
  if (id == asked && held) {
    acp_action_t action = is_err ? reject("the client said no", NULL) : respond(own("{\"asked\":true}"));
    must(channel_settle(held, &action, &failure));
    acp_action_free(&action);
    held = asked = 0;
  } else if (id == pause && sleeper) {
    bool is_wake = is(response->head.method, "wake-after") && !is_err;
    acp_action_t action = is_wake ? respond(own("{\"woken\":true}")) : reject("not woken", NULL);
    must(channel_settle(sleeper, &action, &failure));
    acp_action_free(&action);
    sleeper = pause = 0;
  } else if (id == value && keeping) {
    proxy_string_t name = response->head.method;
    bool is_value = (is(name, "load-value") || is(name, "store-value")) && !is_err;
    acp_action_t action = is_value ? respond(CONCAT(response->outcome.val.ok)) : reject("no value", NULL);
    must(channel_settle(keeping, &action, &failure));
    acp_action_free(&action);
    keeping = value = 0;
  } else if (id == caller && call) {
    acp_action_t action = respond(own("{\"content\":[{\"type\":\"text\",\"text\":\"answered\"}]}"));
    must(channel_settle(call, &action, &failure));
    acp_action_free(&action);
    call = caller = 0;
  } else if (is(response->head.method, "_every/mend") && is_err) {
    *ret = (acp_action_t){.tag = ACP_ACTION_REPLACE, .val.replace = own("{\"mended\":true}")};
  }
  acp_response_free(response);
  return true;
}

bool exports_handler_on_cancel(acp_message_id_t id, proxy_string_t *err) {
  acp_action_t cancelled = reject("cancelled", NULL);
  cancelled.val.reject.code = -32800;
  bool settled = channel_settle(id, &cancelled, &failure);
  acp_action_free(&cancelled);
  if (!settled) channel_channel_error_free(&failure);
  held = call = 0;
  return true;
}

static void drop(proxy_string_t *session) {
  if (session) proxy_string_free(session);
}

bool exports_tools_list_tools(proxy_string_t *session, exports_tools_catalog_t *ret, proxy_string_t *err) {
  drop(session);
  proxy_string_t *all = allocate(sizeof *all);
  all[0] = own("{\"name\":\"every\",\"description\":\"Does as it is told.\",\"inputSchema\":{\"type\":\"object\"}}");
  *ret = (exports_tools_catalog_t){{true, own("Use every tool.")}, {all, 1}};
  return true;
}

bool exports_tools_call_tool(exports_tools_tool_call_t *given, calls_outcome_t *ret, acp_rpc_error_t *err) {
  acp_message_id_t id = given->id;
  bool fails = json_member(given->arguments, SPAN("fail")).len;
  bool asks = json_member(given->arguments, SPAN("ask")).len;
  exports_tools_tool_call_free(given);
  if (fails) return *err = error("not this", "{}"), false;
  double total = 2;
  proxy_string_t message = SPAN("half");
  must(channel_report_progress(id, 1, &total, &message, &failure));
  proxy_string_t meta;
  must(channel_call_meta(id, &meta, &failure));
  proxy_string_free(&meta);
  if (!asks) {
    *ret = (calls_outcome_t){CALLS_OUTCOME_DONE, {own("{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}")}};
    return true;
  }
  span method = SPAN("elicitation/create");
  span body = SPAN("{\"message\":\"Well?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}");
  if (!channel_ask_caller(id, &method, &body, &caller, &failure)) {
    proxy_string_t code = failed(&failure);
    *ret = (calls_outcome_t){CALLS_OUTCOME_DONE,
                           {CONCAT(SPAN("{\"content\":[],\"structuredContent\":"), code, SPAN("}"))}};
    proxy_string_free(&code);
    return true;
  }
  call = id;
  *ret = (calls_outcome_t){.tag = CALLS_OUTCOME_PENDING};
  return true;
}

bool exports_resources_list_resources(proxy_string_t *session, exports_resources_catalog_t *ret,
                                      proxy_string_t *err) {
  drop(session);
  proxy_string_t *all = allocate(sizeof *all), *templates = allocate(sizeof *templates);
  all[0] = own("{\"uri\":\"every:/one\",\"name\":\"one\"}");
  templates[0] = own("{\"uriTemplate\":\"every:/{name}\",\"name\":\"any\"}");
  *ret = (exports_resources_catalog_t){.resources = {all, 1}, .templates = {templates, 1}};
  return true;
}

bool exports_resources_read_resource(exports_resources_resource_read_t *read, calls_outcome_t *ret,
                                     acp_rpc_error_t *err) {
  bool known = is(read->uri, "every:/one");
  exports_resources_resource_read_free(read);
  if (!known) return *err = error("no such resource", NULL), err->code = -32002, false;
  *ret = (calls_outcome_t){CALLS_OUTCOME_DONE, {own("{\"contents\":[{\"uri\":\"every:/one\",\"text\":\"1\"}]}")}};
  return true;
}

bool exports_prompts_list_prompts(proxy_string_t *session, exports_prompts_list_json_t *ret, proxy_string_t *err) {
  drop(session);
  proxy_string_t *all = allocate(sizeof *all);
  all[0] = own("{\"name\":\"ask\",\"arguments\":[{\"name\":\"what\",\"required\":true}]}");
  *ret = (exports_prompts_list_json_t){all, 1};
  return true;
}

bool exports_prompts_get_prompt(exports_prompts_prompt_call_t *given, calls_outcome_t *ret, acp_rpc_error_t *err) {
  exports_prompts_prompt_call_free(given);
  *ret = (calls_outcome_t){
      CALLS_OUTCOME_DONE,
      {own("{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"What?\"}}]}")}};
  return true;
}

bool exports_completion_complete(exports_completion_completion_call_t *given, calls_outcome_t *ret,
                                 acp_rpc_error_t *err) {
  proxy_string_t value = CONCAT(given->value);
  exports_completion_completion_call_free(given);
  *ret = (calls_outcome_t){CALLS_OUTCOME_DONE,
                         {CONCAT(SPAN("{\"completion\":{\"values\":[\""), value, SPAN("-every\"]}}"))}};
  proxy_string_free(&value);
  return true;
}
