// The JSON functions that a proxy needs: they find values in a text, and build texts.
//
// A `std::string_view` is a part of a JSON text and owns nothing. The functions require valid JSON, which the host
// guarantees; a missing value is empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace json {

// The value of a member of an object. Names are compared independently of their spelling; of two members with the same
// name, the last counts.
std::string_view member(std::string_view object, std::string_view name);

// The values of an array.
std::vector<std::string_view> elements(std::string_view array);

// The text of a JSON string, in UTF-8; empty if it is not a string.
std::string text(std::string_view string);

// A text as a JSON string.
std::string quote(std::string_view text);

}  // namespace json
