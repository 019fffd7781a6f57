// Counts the tool calls of a turn, and shows the number at its end.
#include <map>

#include "acp_chain.hpp"

// The tool calls of each session since its last turn.
static std::map<std::string, unsigned, std::less<>> calls;

acp::Result<acp::Registration> acp::init(std::string_view config, std::optional<std::string_view> saved) {
  return Registration{
      .subscriptions =
          {
              {.method = "session/update", .sender = Sender::agent, .kinds = {.notification = true}},
              {.method = "session/prompt", .sender = Sender::agent, .kinds = {.response = true}},
          },
      .on_failure = FailurePolicy::bypass,
  };
}

acp::Result<acp::Action> acp::on_notification(const Notification &update) {
  const Head &head = update.head;
  auto kind = read(head.id, "/update/sessionUpdate");
  if (!kind) return std::unexpected(kind.error());
  if (head.session && json::text(*kind) == "tool_call") calls[std::string(*head.session)]++;
  return Forward{};
}

// Shows the number, under the name of the proxy.
static acp::Result<void> tell(std::string_view session, unsigned count) {
  std::string counted = std::to_string(count) + (count == 1 ? " tool call" : " tool calls");
  std::string text = "\n\n**" + acp::proxy_id() + "**: " + counted + " in this turn.\n\n";
  std::string content = R"({"type": "text", "text": )" + json::quote(text) + "}";
  std::string update = R"({"sessionUpdate": "agent_message_chunk", "content": )" + content + "}";
  std::string params = R"({"sessionId": )" + json::quote(session) + R"(, "update": )" + update + "}";
  return acp::notify(acp::Peer::client, "session/update", params);
}

acp::Result<acp::Action> acp::on_response(const Response &turn) {
  auto counted = calls.find(turn.head.session.value_or(""));
  if (counted == calls.end()) return Forward{};
  auto told = tell(counted->first, counted->second);
  calls.erase(counted);
  if (!told) return std::unexpected(told.error());
  return Forward{};
}
