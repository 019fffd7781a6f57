// Refuses commands of the agent that should not be approved without care, and shows the reason.
#include "acp_chain.hpp"
#include "rules.hpp"

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

// The command of the request, or its title. An error refuses a request whose command cannot be read.
static acp::Result<std::string> command_of(std::string_view params) {
  // In version 2 of the protocol, the subject is a command or a call.
  auto subject = json::member(params, "subject");
  auto call = json::member(subject.empty() ? params : subject, "toolCall");
  auto said = json::member(json::member(call, "rawInput"), "command");
  if (call.empty()) said = json::member(subject, "command");
  // Some agents send a list of words.
  std::vector<std::string_view> words{said};
  if (said.empty() || said == "null") words.clear();
  if (said.starts_with('[')) words = json::elements(said);
  std::string command;
  for (auto word : words) {
    if (!word.starts_with('"')) return std::unexpected("the command is neither a text nor a list of texts");
    command += (command.empty() ? "" : " ") + json::text(word);
  }
  return command.empty() ? json::text(json::member(call, "title")) : command;
}

// The id of the option that rejects the call once; empty if there is none.
static std::string_view reject_once(std::string_view options) {
  for (auto option : json::elements(options))
    if (json::text(json::member(option, "kind")) == "reject_once") return json::member(option, "optionId");
  return {};
}

// Shows the refusal under the name of the proxy, since the client does not receive the request.
static acp::Result<void> tell(std::string_view session, std::string_view command, std::string_view reason) {
  std::string text = "\n\n**" + acp::proxy_id() + "** refused `" + std::string(command) + "`: " + std::string(reason);
  std::string content = R"({"type": "text", "text": )" + json::quote(text + ".\n\n") + "}";
  std::string update = R"({"sessionUpdate": "agent_message_chunk", "content": )" + content + "}";
  std::string params = R"({"sessionId": )" + json::quote(session) + R"(, "update": )" + update + "}";
  return acp::notify(acp::Peer::client, "session/update", params);
}

acp::Result<acp::Action> acp::on_request(const Request &asked) {
  auto command = command_of(asked.params);
  if (!command) return std::unexpected(command.error());
  auto reason = objection(*command);
  if (!reason) return Forward{};
  if (auto told = tell(asked.head.session.value_or(""), *command, *reason); !told) return std::unexpected(told.error());
  auto option = reject_once(json::member(asked.params, "options"));
  if (option.empty()) return Respond{R"({"outcome": {"outcome": "cancelled"}})"};
  return Respond{R"({"outcome": {"outcome": "selected", "optionId": )" + std::string(option) + "}}"};
}
