#include "arith/integer.h"

#include <gtest/gtest.h>

#include <bit>

#include "machine/semantics/test_instruction.h"

namespace lw::machine {
namespace {

template <class T>
uint64_t bits(T value) {
  return static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
}

// opcode of type T on T, T, T with results of D.
template <class T, class D = T, class F>
void check(const std::string& opcode, int operands, F f) {
  constexpr int kWidth = static_cast<int>(sizeof(T)) * 8;
  Instruction instruction{
      opcode + " %d, %a", static_cast<int>(sizeof(D)) * 8, {kWidth, kWidth, kWidth}};
  if (operands > 1) instruction.text += ", %b";
  if (operands > 2) instruction.text += ", %c";
  instruction.text += ";";
  for (uint64_t seed = 1; seed < 5; ++seed) {
    std::vector<Values> sources;
    for (int i = 0; i < operands; ++i)
      sources.push_back(sample(kWidth, seed * 10 + static_cast<uint64_t>(i)));
    expect_instruction(instruction, sources, [&](uint32_t lane) {
      auto at = [&](int i) {
        return i < operands ? static_cast<T>(sources[static_cast<size_t>(i)][lane]) : T{};
      };
      return bits(static_cast<D>(f(at(0), at(1), at(2))));
    });
  }
}

using u16 = uint16_t;
using s16 = int16_t;
using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;

TEST(Integer, AddSub) {
  check<u16>("add.u16", 2, [](u16 a, u16 b, u16) { return a + b; });
  check<u32>("add.s32", 2, [](u32 a, u32 b, u32) { return a + b; });
  check<u64>("add.s64", 2, [](u64 a, u64 b, u64) { return a + b; });
  check<u16>("sub.s16", 2, [](u16 a, u16 b, u16) { return a - b; });
  check<u32>("sub.u32", 2, [](u32 a, u32 b, u32) { return a - b; });
  check<u64>("sub.u64", 2, [](u64 a, u64 b, u64) { return a - b; });
  check<s32>("add.sat.s32", 2, [](s32 a, s32 b, s32) { return arith::add_sat(a, b); });
  check<s32>("sub.sat.s32", 2, [](s32 a, s32 b, s32) { return arith::sub_sat(a, b); });
}

TEST(Integer, Multiply) {
  check<u16>("mul.lo.s16", 2, [](u16 a, u16 b, u16) { return u32{a} * b; });
  check<u32>("mul.lo.s32", 2, [](u32 a, u32 b, u32) { return a * b; });
  check<u64>("mul.lo.s64", 2, [](u64 a, u64 b, u64) { return a * b; });
  check<u32>("mul.hi.u32", 2, [](u32 a, u32 b, u32) { return u64{a} * b >> 32; });
  check<s32>("mul.hi.s32", 2, [](s32 a, s32 b, s32) { return s64{a} * b >> 32; });
  check<u64>("mul.hi.u64", 2, [](u64 a, u64 b, u64) {
    return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64);
  });
  check<u16, u32>("mul.wide.u16", 2, [](u16 a, u16 b, u16) { return u32{a} * b; });
  check<s16, s32>("mul.wide.s16", 2, [](s16 a, s16 b, s16) { return s32{a} * b; });
  check<u32, u64>("mul.wide.u32", 2, [](u32 a, u32 b, u32) { return u64{a} * b; });
  check<s32, s64>("mul.wide.s32", 2, [](s32 a, s32 b, s32) { return s64{a} * b; });
  check<u32>("mad.lo.s32", 3, [](u32 a, u32 b, u32 c) { return a * b + c; });
  check<u64>("mad.lo.u64", 3, [](u64 a, u64 b, u64 c) { return a * b + c; });
  check<u32>("mad.hi.u32", 3, [](u32 a, u32 b, u32 c) { return (u64{a} * b >> 32) + c; });
  check<u32>("mul24.lo.u32", 2,
             [](u32 a, u32 b, u32) { return u64{a & 0xffffff} * (b & 0xffffff); });
}

TEST(Integer, MadWide) {
  Instruction instruction{"mad.wide.u32 %d, %a, %b, %c;", 64, {32, 32, 64}};
  std::vector<Values> sources = {sample(32, 1), sample(32, 2), sample(64, 3)};
  expect_instruction(instruction, sources, [&](uint32_t lane) {
    return sources[0][lane] * sources[1][lane] + sources[2][lane];
  });
}

TEST(Integer, Divide) {
  check<u32>("div.u32", 2, [](u32 a, u32 b, u32) { return arith::div_int(a, b); });
  check<s32>("div.s32", 2, [](s32 a, s32 b, s32) { return arith::div_int(a, b); });
  check<s64>("div.s64", 2, [](s64 a, s64 b, s64) { return arith::div_int(a, b); });
  check<u32>("rem.u32", 2, [](u32 a, u32 b, u32) { return arith::rem_int(a, b); });
  check<s64>("rem.s64", 2, [](s64 a, s64 b, s64) { return arith::rem_int(a, b); });
}

TEST(Integer, MinMaxAbsNegSad) {
  check<s16>("min.s16", 2, [](s16 a, s16 b, s16) { return std::min(a, b); });
  check<u32>("min.u32", 2, [](u32 a, u32 b, u32) { return std::min(a, b); });
  check<s64>("max.s64", 2, [](s64 a, s64 b, s64) { return std::max(a, b); });
  check<u64>("max.u64", 2, [](u64 a, u64 b, u64) { return std::max(a, b); });
  check<s32>("max.relu.s32", 2, [](s32 a, s32 b, s32) { return std::max({a, b, 0}); });
  check<s32>("abs.s32", 1, [](s32 a, s32, s32) { return arith::abs_int(a); });
  check<s64>("neg.s64", 1, [](u64 a, u64, u64) { return u64{0} - a; });
  check<u32>("sad.u32", 3, [](u32 a, u32 b, u32 c) { return c + (a < b ? b - a : a - b); });
}

TEST(Integer, Bits) {
  check<u32>("popc.b32", 1, [](u32 a, u32, u32) { return std::popcount(a); });
  check<u64, u32>("popc.b64", 1, [](u64 a, u64, u64) { return std::popcount(a); });
  check<u32>("clz.b32", 1, [](u32 a, u32, u32) { return std::countl_zero(a); });
  check<u64, u32>("clz.b64", 1, [](u64 a, u64, u64) { return std::countl_zero(a); });
  check<u32>("brev.b32", 1, [](u32 a, u32, u32) { return arith::brev(a); });
  check<u32>("bfind.u32", 1, [](u32 a, u32, u32) { return arith::bfind(a, false); });
  check<s32, u32>("bfind.shiftamt.s32", 1, [](s32 a, s32, s32) { return arith::bfind(a, true); });
  check<u32>("bfe.u32", 3, [](u32 a, u32 b, u32 c) { return arith::bfe(a, b, c); });
  check<s32>("bfe.s32", 3, [](s32 a, s32 b, s32 c) {
    return arith::bfe(a, static_cast<u32>(b), static_cast<u32>(c));
  });
  check<u32>("bmsk.clamp.b32", 2, [](u32 a, u32 b, u32) { return arith::bmsk(a, b, false); });
  check<u32>("szext.wrap.u32", 2, [](u32 a, u32 b, u32) { return arith::szext(a, b, true); });
  check<u32>("dp4a.u32.u32", 3,
             [](u32 a, u32 b, u32 c) { return arith::dp4a(a, b, c, false, false); });
  check<u32>("dp2a.hi.s32.u32", 3,
             [](u32 a, u32 b, u32 c) { return arith::dp2a(a, b, c, true, false, true); });
}

TEST(Integer, BitFieldInsert) {
  Instruction instruction{"bfi.b32 %d, %a, %b, 5, 9;", 32, {32, 32}};
  std::vector<Values> sources = {sample(32, 1), sample(32, 2)};
  expect_instruction(instruction, sources, [&](uint32_t lane) {
    return arith::bfi(static_cast<u32>(sources[0][lane]), static_cast<u32>(sources[1][lane]), 5, 9);
  });
}

TEST(Integer, PackedHalves) {
  check<u32>("add.u16x2", 2, [](u32 a, u32 b, u32) {
    return ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) << 16);
  });
  check<u32>("min.s16x2", 2, [](u32 a, u32 b, u32) {
    auto low = std::min(static_cast<s16>(a), static_cast<s16>(b));
    auto high = std::min(static_cast<s16>(a >> 16), static_cast<s16>(b >> 16));
    return u32{static_cast<u16>(high)} << 16 | static_cast<u16>(low);
  });
}

TEST(Integer, LogicAndShift) {
  check<u16>("and.b16", 2, [](u16 a, u16 b, u16) { return a & b; });
  check<u32>("or.b32", 2, [](u32 a, u32 b, u32) { return a | b; });
  check<u64>("xor.b64", 2, [](u64 a, u64 b, u64) { return a ^ b; });
  check<u16>("not.b16", 1, [](u16 a, u16, u16) { return ~a; });
  check<u32>("cnot.b32", 1, [](u32 a, u32, u32) { return a == 0; });
}

// %a of one width, %b a count.
template <class T, class F>
void check_shift(const std::string& opcode, F f) {
  constexpr int kWidth = static_cast<int>(sizeof(T)) * 8;
  Instruction instruction{opcode + " %d, %a, %b;", kWidth, {kWidth, 32}};
  for (uint64_t seed = 1; seed < 5; ++seed) {
    std::vector<Values> sources = {sample(kWidth, seed), sample(32, seed + 50)};
    for (uint32_t lane = 0; lane < 20; ++lane) sources[1][lane] %= 70;
    expect_instruction(instruction, sources, [&](uint32_t lane) {
      return bits(f(static_cast<T>(sources[0][lane]), static_cast<u32>(sources[1][lane])));
    });
  }
}

TEST(Integer, Shifts) {
  check_shift<u16>("shl.b16", [](u16 a, u32 n) { return arith::shl(a, n); });
  check_shift<u32>("shl.b32", [](u32 a, u32 n) { return arith::shl(a, n); });
  check_shift<u64>("shl.b64", [](u64 a, u32 n) { return arith::shl(a, n); });
  check_shift<s16>("shr.s16", [](s16 a, u32 n) { return arith::shr(a, n); });
  check_shift<u32>("shr.u32", [](u32 a, u32 n) { return arith::shr(a, n); });
  check_shift<s64>("shr.s64", [](s64 a, u32 n) { return arith::shr(a, n); });
}

TEST(Integer, ThreeOperandLogic) {
  Instruction lop{"lop3.b32 %d, %a, %b, %c, 0xe4;", 32, {32, 32, 32}};
  Instruction left{"shf.l.wrap.b32 %d, %a, %b, %c;", 32, {32, 32, 32}};
  Instruction right{"shf.r.clamp.b32 %d, %a, %b, %c;", 32, {32, 32, 32}};
  Instruction permute{"prmt.b32 %d, %a, %b, %c;", 32, {32, 32, 32}};
  std::vector<Values> s = {sample(32, 1), sample(32, 2), sample(32, 3)};
  auto at = [&](size_t i, uint32_t lane) { return static_cast<u32>(s[i][lane]); };
  expect_instruction(lop, s, [&](uint32_t lane) {
    return arith::lop3(at(0, lane), at(1, lane), at(2, lane), 0xe4);
  });
  expect_instruction(left, s, [&](uint32_t lane) {
    return arith::shf_l(at(0, lane), at(1, lane), at(2, lane), true);
  });
  expect_instruction(right, s, [&](uint32_t lane) {
    return arith::shf_r(at(0, lane), at(1, lane), at(2, lane), false);
  });
  expect_instruction(permute, s, [&](uint32_t lane) {
    return arith::prmt(at(0, lane), at(1, lane), at(2, lane), arith::PrmtMode::kDefault);
  });
}

}  // namespace
}  // namespace lw::machine
