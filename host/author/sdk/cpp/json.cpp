#include "json.hpp"

#include <charconv>

namespace json {
namespace {

void skip_space(std::string_view &rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
}

// The size of the string at the beginning of a text, with its quotes.
size_t string_size(std::string_view rest) {
  size_t at = 1;
  while (at < rest.size() && rest[at] != '"') at += rest[at] == '\\' ? 2 : 1;
  return std::min(at + 1, rest.size());
}

// Takes the value at the beginning of a text. No recursion, so that deep nesting cannot exhaust the stack.
std::string_view take(std::string_view &rest) {
  size_t at = 0, depth = 0;
  while (at < rest.size()) {
    char c = rest[at];
    if (c == '"') {
      at += string_size(rest.substr(at));
      if (depth == 0) break;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']' || c == ':' || static_cast<unsigned char>(c) <= ' ')) break;
    at++;
    if (c == '{' || c == '[') depth++;
    if ((c == '}' || c == ']') && --depth == 0) break;
  }
  std::string_view value = rest.substr(0, at);
  rest.remove_prefix(at);
  skip_space(rest);
  return value;
}

// Skips one of these characters.
bool skip(std::string_view &rest, std::string_view any) {
  if (rest.empty() || any.find(rest[0]) == any.npos) return false;
  rest.remove_prefix(1);
  skip_space(rest);
  return true;
}

// Whether a string has this text.
bool says(std::string_view string, std::string_view said) {
  if (string.contains('\\')) return text(string) == said;
  return string.size() == said.size() + 2 && string.substr(1, said.size()) == said;
}

uint32_t hex(std::string_view digits) {
  uint32_t code = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  return code;
}

void append(std::string &utf8, uint32_t code) {
  static constexpr unsigned char LEADS[] = {0, 0xC0, 0xE0, 0xF0};
  int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  utf8 += static_cast<char>(LEADS[more] | code >> 6 * more);
  while (more--) utf8 += static_cast<char>(0x80 | (code >> 6 * more & 0x3F));
}

}  // namespace

std::string_view member(std::string_view object, std::string_view name) {
  std::string_view last;
  skip_space(object);
  for (bool more = skip(object, "{"); more; more = skip(object, ",")) {
    std::string_view key = take(object);
    skip(object, ":");
    std::string_view value = take(object);
    if (says(key, name)) last = value;
  }
  return last;
}

std::vector<std::string_view> elements(std::string_view array) {
  std::vector<std::string_view> all;
  skip_space(array);
  for (bool more = skip(array, "["); more; more = skip(array, ","))
    if (std::string_view value = take(array); !value.empty()) all.push_back(value);
  return all;
}

std::string text(std::string_view string) {
  static constexpr std::string_view SPELT = "bfnrt", MEANT = "\b\f\n\r\t";
  std::string said;
  for (size_t at = 1; at + 1 < string.size() && string[0] == '"'; at++) {
    if (string[at] != '\\') {
      said += string[at];
      continue;
    }
    char escaped = string[++at];
    if (escaped != 'u') {
      size_t known = SPELT.find(escaped);
      said += known == SPELT.npos ? escaped : MEANT[known];
      continue;
    }
    uint32_t code = hex(string.substr(at + 1, 4));
    at += 4;
    // A surrogate pair: two escapes, neither of which is a character alone.
    if (code >> 11 == 0x1B) {
      uint32_t low = string.substr(at + 1, 2) == "\\u" ? hex(string.substr(at + 3, 4)) : 0;
      bool is_pair = code >> 10 == 0x36 && low >> 10 == 0x37;
      code = is_pair ? 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF) : 0xFFFD;
      if (is_pair) at += 6;
    }
    append(said, code);
  }
  return said;
}

std::string quote(std::string_view text) {
  static constexpr char HEX[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (char c : text) {
    if (auto code = static_cast<unsigned char>(c); code < ' ') {
      quoted += {'\\', 'u', '0', '0', HEX[code >> 4], HEX[code & 15]};
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace json
