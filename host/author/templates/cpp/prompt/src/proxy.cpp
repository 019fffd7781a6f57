// Asks the agent for brief answers.
#include "acp_chain.hpp"

acp::Result<acp::Registration> acp::init(std::string_view config, std::optional<std::string_view> saved) {
  return Registration{
      .subscriptions = {{.method = "session/prompt", .sender = Sender::client, .kinds = {.request = true}}},
      // If the proxy breaks, prompts are forwarded unchanged.
      .on_failure = FailurePolicy::bypass,
  };
}

acp::Result<acp::Action> acp::on_request(const Request &prompt) {
  return edit("/prompt/-", R"({"type": "text", "text": "Be brief."})");
}
