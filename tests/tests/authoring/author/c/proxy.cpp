// Reports what it finds in a prompt, and which reads are refused.
#include "acp_chain.hpp"

acp::Result<acp::Registration> acp::init(std::string_view config, std::optional<std::string_view> saved) {
  return Registration{
      .subscriptions = {{
          .method = "session/prompt",
          .sender = Sender::client,
          .kinds = {.request = true},
          .with_body = true,
      }},
      .on_failure = FailurePolicy::refuse,
  };
}

acp::Result<acp::Action> acp::on_request(const Request &prompt) {
  auto found = json::member(prompt.params, "é€😀\"\\/\n");
  if (!found.empty()) return std::unexpected("found " + std::string(found));
  auto session = read(prompt.head.id, "/sessionId"), missing = read(prompt.head.id, "/missing");
  if (!session || *session != "\"s\"" || !missing || !missing->empty()) return std::unexpected("it is read wrongly");
  auto refused = read(prompt.head.id, "no pointer");
  return std::unexpected(refused ? "it was read" : "refused: " + refused.error());
}
