// Answers permission requests by rule: allows reading and searching, and forwards all others to the client.
#include "acp_chain.hpp"

// The kinds of tool calls (`ToolKind` of the protocol) that are allowed.
static bool is_allowed(std::string_view kind) { return kind == "read" || kind == "search"; }

acp::Result<acp::Registration> acp::init(std::string_view config, std::optional<std::string_view> saved) {
  return Registration{
      .subscriptions = {{
          .method = "session/request_permission",
          .sender = Sender::agent,
          .kinds = {.request = true},
          .with_body = true,
      }},
      // Better no answer than a wrong one.
      .on_failure = FailurePolicy::refuse,
      .guard = true,
  };
}

acp::Result<acp::Action> acp::on_request(const Request &asked) {
  auto call = json::member(asked.params, "toolCall");
  if (!is_allowed(json::text(json::member(call, "kind")))) return Forward{};
  for (auto option : json::elements(json::member(asked.params, "options"))) {
    if (json::text(json::member(option, "kind")) != "allow_once") continue;
    std::string id(json::member(option, "optionId"));
    return Respond{R"({"outcome": {"outcome": "selected", "optionId": )" + id + "}}"};
  }
  return Forward{};
}
