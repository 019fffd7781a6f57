#pragma once

#include <optional>
#include <string_view>

// Why nobody should let a command pass unseen; nothing, if no rule is about it.
std::optional<std::string_view> objection(std::string_view command);
