// Packed integers, element by element in 64 bits.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "machine/semantics/test_instruction.h"

namespace lw::machine {
namespace {

// Elements of a type like `s16x2` or `u32`.
struct Layout {
  bool is_signed;
  int bits;
  int64_t least() const { return is_signed ? -(int64_t{1} << (bits - 1)) : 0; }
  int64_t most() const { return (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1; }
};

Layout layout_of(const std::string& type) {
  return {type[0] == 's', std::stoi(type.substr(1, type.find('x') - 1))};
}

int64_t element(uint64_t word, const Layout& layout, int index) {
  const uint64_t code = word >> (index * layout.bits) & ((uint64_t{1} << layout.bits) - 1);
  const bool negative = layout.is_signed && code >> (layout.bits - 1) != 0;
  return static_cast<int64_t>(code) - (negative ? int64_t{1} << layout.bits : 0);
}

using Function = std::function<int64_t(int64_t, int64_t)>;

uint64_t expected(const std::string& opcode, uint64_t a, uint64_t b, const Function& function) {
  const Layout layout = layout_of(opcode.substr(opcode.rfind('.') + 1));
  uint64_t result = 0;
  for (int i = 0; i < 32 / layout.bits; ++i) {
    int64_t value = function(element(a, layout, i), element(b, layout, i));
    if (opcode.find(".sat") != std::string::npos)
      value = std::min(std::max(value, layout.least()), layout.most());
    if (opcode.find(".relu") != std::string::npos) value = std::max<int64_t>(value, 0);
    result |= (static_cast<uint64_t>(value) & ((uint64_t{1} << layout.bits) - 1))
              << (i * layout.bits);
  }
  return result;
}

void check(const std::string& opcode, const Function& function, bool unary = false) {
  Instruction instruction{opcode + " %d, %a" + (unary ? ";" : ", %b;"), 32, {32, 32}};
  for (uint64_t seed = 1; seed < 12; ++seed) {
    std::vector<Values> s = {sample(32, seed)};
    if (!unary) s.push_back(sample(32, seed + 40));
    expect_instruction(instruction, s, [&](uint32_t lane) {
      return expected(opcode, s[0][lane], unary ? 0 : s[1][lane], function);
    });
  }
}

TEST(PackedInteger, SumsWrapOrClamp) {
  const Function add = [](int64_t a, int64_t b) { return a + b; };
  const Function sub = [](int64_t a, int64_t b) { return a - b; };
  for (const char* sat : {".", ".sat."}) {
    for (const char* type : {"u8x4", "s8x4", "u16x2", "s16x2"})
      check(std::string("add") + sat + type, add);
    for (const char* type : {"u8x4", "s8x4"}) check(std::string("sub") + sat + type, sub);
  }
  check("add.sat.u32", add);
}

TEST(PackedInteger, NegationWraps) {
  for (const char* type : {"s8x4", "s16x2"})
    check(
        std::string("neg.") + type, [](int64_t a, int64_t) { return -a; }, true);
}

TEST(PackedInteger, MinAndMax) {
  const Function min = [](int64_t a, int64_t b) { return std::min(a, b); };
  const Function max = [](int64_t a, int64_t b) { return std::max(a, b); };
  for (const char* type : {"u8x4", "s8x4", "u16x2", "s16x2", "relu.s8x4", "relu.s16x2"}) {
    check(std::string("min.") + type, min);
    check(std::string("max.") + type, max);
  }
}

}  // namespace
}  // namespace lw::machine
