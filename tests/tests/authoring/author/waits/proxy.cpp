// Adds a file of the client's to each prompt, which waits for it.
#include <map>

#include "acp_chain.hpp"

// The prompts that wait, by the request for the file.
static std::map<uint64_t, uint64_t> waiting;

acp::Result<acp::Registration> acp::init(std::string_view config, std::optional<std::string_view> saved) {
  return Registration{
      .subscriptions = {{.method = "session/prompt", .sender = Sender::client, .kinds = {.request = true}}},
      .on_failure = FailurePolicy::bypass,
  };
}

acp::Result<acp::Action> acp::on_request(const Request &prompt) {
  std::string session = json::quote(prompt.head.session.value_or(""));
  std::string params = R"({"path": "/project/RULES.md", "sessionId": )" + session + "}";
  auto file = request(Peer::client, "fs/read_text_file", params);
  if (!file) return std::unexpected(file.error());
  waiting[*file] = prompt.head.id;
  return Hold{};
}

acp::Result<acp::Action> acp::on_response(const Response &file) {
  auto held = waiting.extract(file.head.id);
  if (held.empty()) return Forward{};
  Action action = Forward{};
  std::string content(file.outcome ? json::member(*file.outcome, "content") : "");
  if (!content.empty()) action = edit("/prompt/-", R"({"type": "text", "text": )" + content + "}");
  // A prompt that cannot be changed goes on as it is.
  auto settled = settle(held.mapped(), action);
  if (!settled) settled = settle(held.mapped(), Forward{});
  if (!settled) return std::unexpected(settled.error());
  return Forward{};
}

acp::Result<void> acp::on_cancel(uint64_t prompt) {
  for (auto [file, held] : waiting) {
    if (held != prompt) continue;
    waiting.erase(file);
    (void)cancel(file);
    break;
  }
  // If not, the host has taken it back.
  (void)settle(prompt, Reject{{-32800, "Request cancelled"}});
  return {};
}
