#include "rules.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

namespace {

using Words = std::vector<std::string_view>;

// The commands between `;`, `&` and line breaks, each with its parts between `|`. Quotes are ignored,
// since a shell may also run their contents.
std::vector<std::vector<Words>> take_apart(std::string_view line) {
  std::vector<std::vector<Words>> all{{{}}};
  size_t start = 0;
  for (size_t at = 0; at <= line.size(); at++) {
    char c = at < line.size() ? line[at] : ' ';
    if (std::string_view(" \t\n;&|\"'()").find(c) == std::string_view::npos) continue;
    if (at > start) all.back().back().push_back(line.substr(start, at - start));
    start = at + 1;
    if (c == '|') all.back().emplace_back();
    if (c == ';' || c == '&' || c == '\n') all.push_back({{}});
  }
  return all;
}

bool is(std::string_view word, auto... any) { return ((word == any) || ...); }

bool has(const Words &words, auto... any) {
  return std::ranges::any_of(words, [&](auto word) { return is(word, any...); });
}

// Whether the short option is in a group such as `-abc`, or the long one is present.
bool has_option(const Words &words, char brief, std::string_view full) {
  return std::ranges::any_of(words, [&](auto word) {
    bool is_brief = word.size() > 1 && word[0] == '-' && word[1] != '-';
    return word == full || (is_brief && word.find(brief) != word.npos);
  });
}

bool is_shell(std::string_view word) {
  return is(word, "sh", "bash", "zsh", "dash", "python", "python3", "perl", "node", "eval");
}

// Whether a shell receives a download by `$(…)`, `<(…)` or backticks, with only options in between.
bool inserts_a_download(const Words &words) {
  bool given = false, inserted = false;
  for (auto word : words) {
    if (inserted && is(word, "curl", "wget")) return true;
    if (given && is(word, "`curl", "`wget")) return true;
    bool is_mark = word.find_first_not_of("$<") == word.npos;
    given = is_shell(word) || (given && (is_mark || word[0] == '-'));
    inserted = given && is_mark;
  }
  return false;
}

bool runs_a_download(const std::vector<Words> &pipe) {
  bool downloaded = false;
  for (const Words &part : pipe) {
    if (inserts_a_download(part) || (downloaded && std::ranges::any_of(part, is_shell))) return true;
    downloaded |= has(part, "curl", "wget");
  }
  return false;
}

bool removes_everything(const Words &words) {
  bool is_deep = has_option(words, 'r', "--recursive") || has_option(words, 'R', "--recursive");
  return has(words, "rm") && is_deep && has(words, "/", "/*", "~", "~/", "$HOME");
}

bool rewrites_history(const Words &words) {
  // As in `git push origin +main`.
  bool is_forced = std::ranges::any_of(words, [](auto word) { return word[0] == '+'; });
  return has(words, "git") && has(words, "push") && (is_forced || has_option(words, 'f', "--force"));
}

}  // namespace

std::optional<std::string_view> objection(std::string_view command) {
  for (const auto &pipe : take_apart(command)) {
    if (runs_a_download(pipe)) return "it runs what it downloads";
    if (std::ranges::any_of(pipe, removes_everything)) return "it removes everything";
    if (std::ranges::any_of(pipe, rewrites_history)) return "it rewrites what others have pulled";
  }
  return std::nullopt;
}
