// What proxies in C++ have in common: the interface in types of the standard library.
//
// A proxy defines `acp::init`, and of the other handlers what it wants: without them every message passes, and
// what is withdrawn is given up. What a handler is given lives until it returns. There are no exceptions: an
// error is a text that users are told, `return std::unexpected("…")`.
//
// What is missing here, such as resources, prompts and progress, is in C (`proxy.h`).
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

// What a handler gives.
template <class T>
using Result = std::expected<T, std::string>;

enum class Peer : uint8_t { client, agent };

// Whose messages a subscription is about.
enum class Sender : uint8_t { any, client, agent };

struct Kinds {
  bool request = false, notification = false, response = false;
};

// What the proxy wants to see: a method, or a prefix of it that ends in `*`. Without its body a message comes
// with an empty one, and `read` gives parts of it.
struct Subscription {
  std::string method;
  Sender sender = Sender::any;
  Kinds kinds = {};
  bool with_body = false;
};

// What becomes of a proxy that breaks.
enum class FailurePolicy : uint8_t { restart, bypass, refuse };

struct Registration {
  std::vector<Subscription> subscriptions = {};
  FailurePolicy on_failure = FailurePolicy::restart;
  // Whether others rely on this proxy to decide.
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

// A change to the place at a JSON Pointer: this JSON is put there, or, without it, what is there is removed.
struct Edit {
  std::string pointer;
  std::optional<std::string> set;
};

// What becomes of a message, in the order of the interface.
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

// The message goes on with this JSON at a JSON Pointer. A last part `-` adds to an array.
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

// A call is settled later, with `Respond` or `Reject`.
struct Pending {};
using Outcome = std::variant<std::string, Pending>;

// What a tool gives, as a text.
std::string text(std::string_view text);

Result<Catalog> list_tools(std::optional<std::string_view> session);
std::expected<Outcome, Error> call_tool(const ToolCall &call);

// What a proxy may ask the host for.

// Asks a neighbour. The answer comes to `on_response` under this number.
Result<uint64_t> request(Peer to, std::string_view method, std::string_view params);

// Tells a neighbour.
Result<void> notify(Peer to, std::string_view method, std::string_view params);

// Settles a message that a handler has answered with `Hold`, or a tool with `Pending`.
Result<void> settle(uint64_t id, const Action &action);

// Withdraws a request of the proxy's own. Its answer still comes.
Result<void> cancel(uint64_t id);

// Keeps this in place of what was kept before: `init` gets it if the proxy breaks and is started again.
Result<void> save(std::string_view state);

// The JSON at a JSON Pointer of a message; empty, if there is none. An error says why the host does not let it be read.
Result<std::string> read(uint64_t id, std::string_view pointer);

// The name of the proxy.
std::string proxy_id();

enum class Level : uint8_t { trace, debug, info, warn, error };
void log(Level level, std::string_view text);

}  // namespace acp
