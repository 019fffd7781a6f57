// Just enough JSON for a proxy: finding values in a text, and putting texts together.
//
// A `std::string_view` is a part of a JSON text and owns nothing. What the host hands over is valid JSON, and
// that is taken as given here; a value that is not there is empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace json {

// The value of a member of an object. However a name is spelt, it is the same one; of two members of one name the last
// counts.
std::string_view member(std::string_view object, std::string_view name);

// The values of an array.
std::vector<std::string_view> elements(std::string_view array);

// What a JSON string says, in UTF-8; empty, if it is none.
std::string text(std::string_view string);

// A text as a JSON string.
std::string quote(std::string_view text);

}  // namespace json
