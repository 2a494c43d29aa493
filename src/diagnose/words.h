#pragma once
// Words for hints.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lw::diagnose {

// The word of `known` that `word` was most likely meant to be; empty if none is near.
std::string nearest(std::string_view word, std::span<const std::string_view> known);
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// "`a`, `b` or `c`"
std::string list_words(const std::vector<std::string>& words);

}  // namespace lw::diagnose
