// The SDK for proxies in C++: the interface in types of the standard library.
//
// A proxy defines `acp::init`, and any of the other handlers: without them every message is forwarded, and
// cancelled messages are rejected. A handler's arguments are valid until it returns. There are no exceptions: an
// error is a text that is shown to the user, `return std::unexpected("…")`.
//
// Other functions, such as resources, prompts and progress, are available in C (`proxy.h`).
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "json.hpp"

namespace acp {

// The result of a handler.
template <class T>
using Result = std::expected<T, std::string>;

enum class Peer : uint8_t { client, agent };

// The sender of the messages of a subscription.
enum class Sender : uint8_t { any, client, agent };

struct Kinds {
  bool request = false, notification = false, response = false;
};

// A subscription to a method, or to a prefix that ends in `*`. Without bodies, messages have an empty one, and
// `read` returns parts of it.
struct Subscription {
  std::string method;
  Sender sender = Sender::any;
  Kinds kinds = {};
  bool with_body = false;
};

// What happens when a proxy breaks.
enum class FailurePolicy : uint8_t { restart, bypass, refuse };

struct Registration {
  std::vector<Subscription> subscriptions = {};
  FailurePolicy on_failure = FailurePolicy::restart;
  // Whether the user relies on this proxy's decisions.
  bool guard = false;
};

struct Error {
  int32_t code;
  std::string message;
  std::optional<std::string> data = {};
};

struct Head {
  uint64_t id;
  Peer sender;
  std::string_view method;
  std::optional<std::string_view> session;
  uint64_t size;
};

struct Request {
  Head head;
  std::string_view params;
};

struct Notification {
  Head head;
  std::string_view params;
};

struct Response {
  Head head;
  std::expected<std::string_view, Error> outcome;
};

// A change at a JSON Pointer: the value is set to this JSON, or removed without one.
struct Edit {
  std::string pointer;
  std::optional<std::string> set;
};

// The decision about a message, in the order of the interface.
struct Forward {};
using Edits = std::vector<Edit>;
struct Replace {
  std::string json;
};
struct Respond {
  std::string json;
};
struct Reject {
  Error error;
};
struct Discard {};
struct Hold {};
using Action = std::variant<Forward, Edits, Replace, Respond, Reject, Discard, Hold>;

// Forwards the message with this JSON at a JSON Pointer. A last part `-` adds to an array.
inline Action edit(std::string pointer, std::string json) { return Edits{{std::move(pointer), std::move(json)}}; }

Result<Registration> init(std::string_view config, std::optional<std::string_view> saved);
Result<Action> on_request(const Request &request);
Result<Action> on_notification(const Notification &notification);
Result<Action> on_response(const Response &response);
Result<void> on_cancel(uint64_t id);

// Tools, in a proxy whose world exports them.

struct Catalog {
  std::optional<std::string> instructions = {};
  std::vector<std::string> tools = {};
};

struct ToolCall {
  uint64_t id;
  std::optional<std::string_view> session;
  std::string_view name, arguments;
};

// The call is settled later, with `Respond` or `Reject`.
struct Pending {};
using Outcome = std::variant<std::string, Pending>;

// A tool's result, as a text.
std::string text(std::string_view text);

Result<Catalog> list_tools(std::optional<std::string_view> session);
std::expected<Outcome, Error> call_tool(const ToolCall &call);

// Functions of the host.

// Sends a request to a neighbour. `on_response` receives the answer under the returned number.
Result<uint64_t> request(Peer to, std::string_view method, std::string_view params);

// Sends a notification to a neighbour.
Result<void> notify(Peer to, std::string_view method, std::string_view params);

// Settles a message for which a handler returned `Hold`, or a tool `Pending`.
Result<void> settle(uint64_t id, const Action &action);

// Cancels a request of this proxy. The request is still answered.
Result<void> cancel(uint64_t id);

// Saves a state, replacing the previous one: `init` receives it if the proxy breaks and is restarted.
Result<void> save(std::string_view state);

// The JSON at a JSON Pointer of a message; empty if there is none. An error if the host denies reading it.
Result<std::string> read(uint64_t id, std::string_view pointer);

// The name of the proxy.
std::string proxy_id();

enum class Level : uint8_t { trace, debug, info, warn, error };
void log(Level level, std::string_view text);

}  // namespace acp
