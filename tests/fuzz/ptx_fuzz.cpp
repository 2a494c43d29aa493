// Any bytes as PTX: the parser and the verifier end and emit, and a text that parses prints to one
// that parses to the same module.

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/verifier.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Words and single characters; together they are the text.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (size_t start = 0, end = 0; start < text.size(); start = end) {
    end = start + 1;
    while (is_of_word(text[start]) && end < text.size() && is_of_word(text[end])) ++end;
    pieces.push_back(text.substr(start, end - start));
  }
  return pieces;
}

// Moves, doubles, drops or replaces a run of words by others of the same text.
std::string mutate_words(std::string_view text, std::mt19937& random) {
  std::vector<std::string_view> pieces = pieces_of(text);
  if (pieces.empty()) return {};
  const auto pick = [&](size_t end) { return static_cast<std::ptrdiff_t>(random() % end); };
  const auto from = pick(pieces.size());
  const auto to = from + pick(std::min<size_t>(pieces.size() - from, 12)) + 1;
  const std::vector<std::string_view> run(pieces.begin() + from, pieces.begin() + to);
  const auto place = pick(pieces.size());
  switch (random() % 3) {
    case 0:
      pieces.insert(pieces.begin() + place, run.begin(), run.end());
      break;
    case 1:
      pieces.erase(pieces.begin() + from, pieces.begin() + to);
      break;
    default:
      pieces[place] = run.front();
  }
  std::string result;
  for (std::string_view piece : pieces) result += piece;
  return result;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string result = mutate_words(text, random);
  const size_t length = std::min(result.size(), max_size);
  std::memcpy(data, result.data(), length);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lw;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  diagnose::Emitter emitter;
  const auto module = ptx::parse(text, "fuzz", emitter);
  LW_CHECK(module.has_value() == emitter.empty());
  if (!module) return 0;
  ptx::verify(*module, emitter);
  diagnose::Emitter again;
  const std::string printed = ptx::print(*module);
  const auto second = ptx::parse(printed, "fuzz", again);
  LW_CHECK(second.has_value(), printed);
  LW_CHECK(*second == *module, printed);
  return 0;
}
