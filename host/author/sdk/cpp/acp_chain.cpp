#include "acp_chain.hpp"

#include <__verbose_abort>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "proxy.h"

namespace {

// Ownership: parameters of imports are lent, results of exports are given to the host, and received values are freed.

proxy_string_t lend(std::string_view text) { return {(uint8_t *)text.data(), text.size()}; }

template <class T>
T *allocate(size_t count) {
  void *memory = std::calloc(count ? count : 1, sizeof(T));
  // Address 0 is ordinary memory in WebAssembly, and would be written to.
  if (!memory) std::abort();
  return static_cast<T *>(memory);
}

proxy_string_t give(std::string_view text) {
  auto *memory = allocate<uint8_t>(text.size());
  std::memcpy(memory, text.data(), text.size());
  return {memory, text.size()};
}

acp_option_json_t give_option(const std::optional<std::string> &text) {
  return text ? acp_option_json_t{true, give(*text)} : acp_option_json_t{};
}

std::string_view view(const proxy_string_t &text) { return {(const char *)text.ptr, text.len}; }

std::optional<std::string_view> view(const proxy_string_t *text) {
  return text ? std::optional(view(*text)) : std::nullopt;
}

std::optional<std::string_view> view(const proxy_option_string_t &text) { return view(text.is_some ? &text.val : nullptr); }

std::string take(proxy_string_t text) {
  std::string taken(view(text));
  proxy_string_free(&text);
  return taken;
}

acp_rpc_error_t give(const acp::Error &error) { return {error.code, give(error.message), give_option(error.data)}; }

acp::Head view(const acp_head_t &head) {
  return {head.id, acp::Peer(head.sender), view(head.method), view(head.session), head.size};
}

acp_action_t give(const acp::Action &action) {
  acp_action_t given = {};
  given.tag = action.index();
  if (auto *edits = std::get_if<acp::Edits>(&action)) {
    given.val.edit = {allocate<acp_edit_t>(edits->size()), edits->size()};
    for (acp_edit_t *one = given.val.edit.ptr; const acp::Edit &edit : *edits) {
      one->pointer = give(edit.pointer);
      one->change.tag = edit.set ? ACP_CHANGE_SET : ACP_CHANGE_REMOVE;
      if (edit.set) one->change.val.set = give(*edit.set);
      one++;
    }
  } else if (auto *replace = std::get_if<acp::Replace>(&action)) {
    given.val.replace = give(replace->json);
  } else if (auto *respond = std::get_if<acp::Respond>(&action)) {
    given.val.respond = give(respond->json);
  } else if (auto *reject = std::get_if<acp::Reject>(&action)) {
    given.val.reject = give(reject->error);
  }
  return given;
}

bool give(const acp::Result<acp::Action> &decided, acp_action_t *ret, proxy_string_t *err) {
  if (decided) *ret = give(*decided);
  else *err = give(decided.error());
  return decided.has_value();
}

std::string take(channel_channel_error_t error) {
  std::string why(view(error.message));
  channel_channel_error_free(&error);
  return why;
}

}  // namespace

namespace acp {

std::string text(std::string_view text) {
  return R"({"content": [{"type": "text", "text": )" + json::quote(text) + "}]}";
}

Result<uint64_t> request(Peer to, std::string_view method, std::string_view params) {
  proxy_string_t name = lend(method), body = lend(params);
  uint64_t id;
  channel_channel_error_t error;
  if (!channel_request(uint8_t(to), &name, &body, &id, &error)) return std::unexpected(take(error));
  return id;
}

Result<void> notify(Peer to, std::string_view method, std::string_view params) {
  proxy_string_t name = lend(method), body = lend(params);
  channel_channel_error_t error;
  if (!channel_notify(uint8_t(to), &name, &body, &error)) return std::unexpected(take(error));
  return {};
}

Result<void> settle(uint64_t id, const Action &action) {
  acp_action_t given = give(action);
  channel_channel_error_t error;
  bool done = channel_settle(id, &given, &error);
  acp_action_free(&given);
  if (!done) return std::unexpected(take(error));
  return {};
}

Result<void> cancel(uint64_t id) {
  channel_channel_error_t error;
  if (!channel_cancel(id, &error)) return std::unexpected(take(error));
  return {};
}

Result<void> save(std::string_view state) {
  proxy_string_t kept = lend(state);
  channel_channel_error_t error;
  if (!channel_save(&kept, &error)) return std::unexpected(take(error));
  return {};
}

Result<std::string> read(uint64_t id, std::string_view pointer) {
  proxy_string_t at = lend(pointer);
  channel_option_json_t part;
  channel_channel_error_t error;
  if (!channel_read(id, &at, &part, &error)) return std::unexpected(take(error));
  return part.is_some ? take(part.val) : std::string();
}

std::string proxy_id() {
  proxy_string_t id;
  channel_proxy_id(&id);
  return take(id);
}

void log(Level level, std::string_view text) {
  proxy_string_t said = lend(text);
  channel_log(uint8_t(level), &said);
}

// Defaults of optional handlers.

__attribute__((weak)) Result<Action> on_request(const Request &) { return Forward{}; }
__attribute__((weak)) Result<Action> on_notification(const Notification &) { return Forward{}; }
__attribute__((weak)) Result<Action> on_response(const Response &) { return Forward{}; }
__attribute__((weak)) Result<void> on_cancel(uint64_t id) {
  // Fails if the host has settled the message.
  (void)settle(id, Reject{{-32800, "Request cancelled"}});
  return {};
}

}  // namespace acp

// The exported functions.

bool exports_handler_init(acp_json_t *config, proxy_string_t *saved, acp_registration_t *ret, proxy_string_t *err) {
  auto made = acp::init(view(*config), view(saved));
  acp_json_free(config);
  if (saved) proxy_string_free(saved);
  if (!made) return *err = give(made.error()), false;
  auto *all = allocate<acp_subscription_t>(made->subscriptions.size());
  *ret = {{all, made->subscriptions.size()}, uint8_t(made->on_failure), made->guard};
  for (const acp::Subscription &one : made->subscriptions) {
    uint8_t kinds = one.kinds.request * ACP_KINDS_REQUEST | one.kinds.notification * ACP_KINDS_NOTIFICATION |
                    one.kinds.response * ACP_KINDS_RESPONSE;
    *all++ = {give(one.method), uint8_t(one.sender), kinds, one.with_body};
  }
  return true;
}

bool exports_handler_on_request(acp_request_t *request, acp_action_t *ret, proxy_string_t *err) {
  bool done = give(acp::on_request({view(request->head), view(request->params)}), ret, err);
  acp_request_free(request);
  return done;
}

bool exports_handler_on_notification(acp_notification_t *notification, acp_action_t *ret, proxy_string_t *err) {
  bool done = give(acp::on_notification({view(notification->head), view(notification->params)}), ret, err);
  acp_notification_free(notification);
  return done;
}

bool exports_handler_on_response(acp_response_t *response, acp_action_t *ret, proxy_string_t *err) {
  acp::Response given = {view(response->head), {}};
  const auto &val = response->outcome.val;
  if (!response->outcome.is_err) {
    given.outcome = view(val.ok);
  } else {
    std::optional<std::string> data;
    if (val.err.data.is_some) data = view(val.err.data.val);
    given.outcome = std::unexpected(acp::Error{val.err.code, std::string(view(val.err.message)), data});
  }
  bool done = give(acp::on_response(given), ret, err);
  acp_response_free(response);
  return done;
}

bool exports_handler_on_cancel(acp_message_id_t id, proxy_string_t *err) {
  auto done = acp::on_cancel(id);
  if (!done) *err = give(done.error());
  return done.has_value();
}

#ifdef EXPORTS_TOOLS
bool exports_tools_list_tools(proxy_string_t *session, exports_tools_catalog_t *ret, proxy_string_t *err) {
  auto catalog = acp::list_tools(view(session));
  if (session) proxy_string_free(session);
  if (!catalog) return *err = give(catalog.error()), false;
  auto *all = allocate<proxy_string_t>(catalog->tools.size());
  auto instructions = give_option(catalog->instructions);
  *ret = {{instructions.is_some, instructions.val}, {all, catalog->tools.size()}};
  for (const std::string &tool : catalog->tools) *all++ = give(tool);
  return true;
}

bool exports_tools_call_tool(exports_tools_tool_call_t *call, calls_outcome_t *ret, acp_rpc_error_t *err) {
  auto outcome = acp::call_tool({call->id, view(call->session), view(call->name), view(call->arguments)});
  exports_tools_tool_call_free(call);
  if (!outcome) return *err = give(outcome.error()), false;
  ret->tag = outcome->index();
  if (auto *done = std::get_if<std::string>(&*outcome)) ret->val.done = give(*done);
  return true;
}
#endif

// A proxy that aborts writes the reason to the log of acp-chain, since there is no standard error.

[[noreturn]] static void die(std::string_view why) {
  acp::log(acp::Level::error, why);
  std::abort();
}

// The function that `assert` calls, under our own name: libc may define its own.
extern "C" void acp_chain_assert_fail(const char *what, const char *file, int line, const char *) {
  die(std::string(file) + ":" + std::to_string(line) + ": assertion failed: " + what);
}

// The standard library calls this where it would throw, and on violated preconditions.
void std::__libcpp_verbose_abort(const char *format, ...) noexcept {
  char why[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(why, sizeof why, format, values);
  va_end(values);
  die(why);
}
