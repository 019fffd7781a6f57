#pragma once

#include <optional>
#include <string_view>

// The reason to refuse a command; nothing if no rule matches.
std::optional<std::string_view> objection(std::string_view command);
