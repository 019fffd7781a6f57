#include "json.h"

#include <stdlib.h>
#include <string.h>

void *reallocate(void *memory, size_t size) {
  memory = realloc(memory, size ? size : 1);
  if (!memory) abort();
  return memory;
}

void *allocate(size_t size) { return reallocate(NULL, size); }

static const uint8_t *skip_space(const uint8_t *at, const uint8_t *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
  return at;
}

// The end of the string that starts at `at`.
static const uint8_t *skip_string(const uint8_t *at, const uint8_t *end) {
  for (at++; at < end && *at != '"'; at++)
    if (*at == '\\') at++;
  return at < end ? at + 1 : end;
}

// The value at `at`. No recursion, so that deep nesting cannot exhaust the stack.
static span value_at(const uint8_t *at, const uint8_t *end) {
  const uint8_t *start = at;
  size_t depth = 0;
  while (at < end) {
    uint8_t c = *at;
    if (c == '"') {
      at = skip_string(at, end);
      if (depth == 0) break;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']' || c <= ' ')) break;
    at++;
    if (c == '{' || c == '[') depth++;
    if ((c == '}' || c == ']') && --depth == 0) break;
  }
  return (span){(uint8_t *)start, at - start};
}

bool span_is(span s, span other) {
  return s.len == other.len && memcmp(s.ptr, other.ptr, s.len) == 0;
}

static uint32_t hex(const uint8_t *digits) {
  uint32_t code = 0;
  for (int i = 0; i < 4; i++) code = code << 4 | ((digits[i] & 15) + (digits[i] > '9' ? 9 : 0));
  return code;
}

// Writes the character of an escape in UTF-8, and returns its length; `at` is after the backslash.
static size_t unescape(const uint8_t **at, uint8_t *utf8) {
  static const char SPELT[] = "bfnrt", MEANT[] = "\b\f\n\r\t";
  static const uint8_t LEADS[] = {0, 0xC0, 0xE0, 0xF0};
  uint8_t escaped = *(*at)++;
  if (escaped != 'u') {
    const char *known = strchr(SPELT, escaped);
    *utf8 = known ? MEANT[known - SPELT] : escaped;
    return 1;
  }
  uint32_t code = hex(*at);
  *at += 4;
  // A surrogate pair: two escapes, neither of which is a character alone.
  if (code >> 11 == 0x1B) {
    uint32_t low = (*at)[0] == '\\' && (*at)[1] == 'u' ? hex(*at + 2) : 0;
    bool is_pair = code >> 10 == 0x36 && low >> 10 == 0x37;
    code = is_pair ? 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF) : 0xFFFD;
    if (is_pair) *at += 6;
  }
  size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  *utf8 = LEADS[more] | code >> 6 * more;
  for (size_t i = 1; i <= more; i++) utf8[i] = 0x80 | (code >> 6 * (more - i) & 0x3F);
  return more + 1;
}

bool json_is(span string, span text) {
  if (string.len < 2 || *string.ptr != '"') return false;
  const uint8_t *at = string.ptr + 1, *end = string.ptr + string.len - 1;
  size_t len = 0;
  while (at < end) {
    uint8_t said[4] = {*at++};
    size_t size = *said == '\\' ? unescape(&at, said) : 1;
    if (text.len - len < size || memcmp(text.ptr + len, said, size) != 0) return false;
    len += size;
  }
  return len == text.len;
}

span json_member(span object, span name) {
  const uint8_t *at = object.ptr, *end = at + object.len;
  span last = {0};
  if (object.len == 0 || *at != '{') return last;
  while ((at = skip_space(at + 1, end)) < end && *at == '"') {
    span key = {(uint8_t *)at, skip_string(at, end) - at};
    at = skip_space(skip_space(at + key.len, end) + 1, end);  // over the colon
    span value = value_at(at, end);
    if (json_is(key, name)) last = value;
    at = skip_space(at + value.len, end);
  }
  return last;
}

bool json_next(span array, span *element) {
  if (array.len == 0 || *array.ptr != '[') return false;
  const uint8_t *end = array.ptr + array.len;
  const uint8_t *at = element->len ? skip_space(element->ptr + element->len, end) : array.ptr;
  if (at >= end || *at == ']') return false;
  *element = value_at(skip_space(at + 1, end), end);  // over the bracket or the comma
  return element->len > 0;
}

// `snprintf` would more than double the component.
span decimal(unsigned number, uint8_t *end) {
  uint8_t *at = end;
  do *--at = '0' + number % 10;
  while (number /= 10);
  return (span){at, end - at};
}

proxy_string_t json_shout(span string) {
  proxy_string_t loud = CONCAT(string);
  for (size_t i = 0; i < loud.len; i++) {
    uint8_t *c = loud.ptr + i;
    if (*c >= 'a' && *c <= 'z') {
      *c -= 'a' - 'A';
    } else if (*c == '\\' && c[1] != 'u') {
      i += 1;
    } else if (*c == '\\') {
      i += 5;
      // The escapes \u0061 to \u007a are letters too, with the capitals \u0041 to \u005a.
      uint8_t low = c[5] | 0x20;
      bool letter = (c[4] == '6' && low != '0') || (c[4] == '7' && (low <= '9' || low == 'a'));
      if (c[2] == '0' && c[3] == '0' && letter) c[4] -= 2;
    }
  }
  return loud;
}

proxy_string_t json_concat(size_t count, const span *parts) {
  size_t len = 0;
  for (size_t i = 0; i < count; i++) len += parts[i].len;
  uint8_t *ptr = allocate(len), *at = ptr;
  for (size_t i = 0; i < count; at += parts[i++].len) memcpy(at, parts[i].ptr, parts[i].len);
  return (proxy_string_t){ptr, len};
}
