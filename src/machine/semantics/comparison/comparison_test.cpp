#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "machine/semantics/test_instruction.h"

namespace lw::machine {
namespace {

struct Operator {
  const char* name;
  bool less, equal, greater, unordered;  // when it holds
};

constexpr Operator kIntegers[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},
    {"lt", true, false, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"ge", false, true, true, false}};
constexpr Operator kFloats[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},
    {"lt", true, false, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"ge", false, true, true, false},
    {"equ", false, true, false, true}, {"neu", true, false, true, true},
    {"ltu", true, false, false, true}, {"leu", true, true, false, true},
    {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true}};

template <class T>
bool holds(const Operator& op, T a, T b) {
  if (a < b) return op.less;
  if (a == b) return op.equal;
  return a > b ? op.greater : op.unordered;
}

template <class T>
void check_integers(const std::string& type) {
  constexpr int kWidth = static_cast<int>(sizeof(T)) * 8;
  std::vector<Values> sources = {sample(kWidth, 1), sample(kWidth, 2)};
  for (uint32_t lane = 0; lane < 32; lane += 5) sources[1][lane] = sources[0][lane];
  for (const Operator& op : kIntegers) {
    Instruction instruction{
        "setp." + std::string(op.name) + "." + type + " %p, %a, %b;", 1, {kWidth, kWidth}};
    expect_instruction(instruction, sources, [&](uint32_t lane) {
      return holds(op, static_cast<T>(sources[0][lane]), static_cast<T>(sources[1][lane]));
    });
  }
}

TEST(Comparison, Integers) {
  check_integers<uint16_t>("u16");
  check_integers<int16_t>("s16");
  check_integers<uint32_t>("u32");
  check_integers<int32_t>("s32");
  check_integers<uint64_t>("u64");
  check_integers<int64_t>("s64");
}

Values float_sample(uint64_t seed) {
  Values values = sample(32, seed);
  const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 1e-41f};
  for (uint32_t lane = 0; lane < 24; ++lane)
    values[lane] = std::bit_cast<uint32_t>(special[(lane * (seed + 2) + seed) % 8]);
  return values;
}

TEST(Comparison, Floats) {
  std::vector<Values> sources = {float_sample(1), float_sample(2)};
  for (const Operator& op : kFloats) {
    Instruction instruction{"setp." + std::string(op.name) + ".f32 %p, %a, %b;", 1, {32, 32}};
    expect_instruction(instruction, sources, [&](uint32_t lane) {
      return holds(op, std::bit_cast<float>(static_cast<uint32_t>(sources[0][lane])),
                   std::bit_cast<float>(static_cast<uint32_t>(sources[1][lane])));
    });
  }
}

TEST(Comparison, FlushingMakesSubnormalsEqual) {
  Values tiny(32, std::bit_cast<uint32_t>(1e-41f));
  Values zero(32, 0);
  expect_instruction({"setp.eq.ftz.f32 %p, %a, %b;", 1, {32, 32}}, {tiny, zero},
                     [](uint32_t) { return 1; });
  expect_instruction({"setp.eq.f32 %p, %a, %b;", 1, {32, 32}}, {tiny, zero},
                     [](uint32_t) { return 0; });
}

TEST(Comparison, JoinsAPredicateAndGivesTheComplement) {
  std::vector<Values> s = {sample(32, 1), sample(32, 2)};
  auto first = [&](uint32_t lane) { return s[0][lane] < s[1][lane]; };
  auto second = [&](uint32_t lane) { return s[0][lane] > 1000; };
  std::string begin = "{ .reg .pred %q, %r; setp.gt.u32 %q, %a, 1000; ";
  expect_instruction({begin + "setp.lt.and.u32 %p, %a, %b, %q; }", 1, {32, 32}}, s,
                     [&](uint32_t lane) { return first(lane) && second(lane); });
  expect_instruction({begin + "setp.lt.or.u32 %p, %a, %b, !%q; }", 1, {32, 32}}, s,
                     [&](uint32_t lane) { return first(lane) || !second(lane); });
  expect_instruction({begin + "setp.lt.xor.u32 %r|%p, %a, %b, %q; }", 1, {32, 32}}, s,
                     [&](uint32_t lane) { return !first(lane) != second(lane); });
}

TEST(Comparison, SetAndSelect) {
  std::vector<Values> s = {sample(32, 1), sample(32, 2)};
  expect_instruction({"set.lt.u32.u32 %d, %a, %b;", 32, {32, 32}}, s,
                     [&](uint32_t lane) { return s[0][lane] < s[1][lane] ? 0xffffffffu : 0u; });
  expect_instruction({"set.ge.f32.s32 %d, %a, %b;", 32, {32, 32}}, s, [&](uint32_t lane) {
    return static_cast<int32_t>(s[0][lane]) >= static_cast<int32_t>(s[1][lane])
               ? std::bit_cast<uint32_t>(1.0f)
               : 0u;
  });
  expect_instruction({"setp.lt.u32 %p, %a, %b; selp.b32 %d, %a, %b, %p;", 32, {32, 32}}, s,
                     [&](uint32_t lane) { return std::min(s[0][lane], s[1][lane]); });
  expect_instruction({"slct.b32.s32 %d, %a, %b, %b;", 32, {32, 32}}, s, [&](uint32_t lane) {
    return static_cast<int32_t>(s[1][lane]) >= 0 ? s[0][lane] : s[1][lane];
  });
}

}  // namespace
}  // namespace lw::machine
