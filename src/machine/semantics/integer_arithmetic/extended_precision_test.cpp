// Carry chains against sums of 128 bits.

#include <gtest/gtest.h>

#include "machine/semantics/lane_kernel.h"
#include "machine/semantics/test_instruction.h"

namespace lw::machine {
namespace {

using Wide = unsigned __int128;

// The exact result and what is left above it; `in` is 0 or 1.
struct Expected {
  uint64_t value;
  bool carry;
};

Expected split(Wide sum, int bits) {
  const Wide mask = (Wide{1} << bits) - 1;
  return {static_cast<uint64_t>(sum & mask), (sum >> bits & 1) != 0};
}

Wide product(uint64_t a, uint64_t b, int bits, bool is_signed) {
  if (!is_signed) return Wide{a} * b;
  const auto extended = [&](uint64_t x) {
    return bits == 64 ? static_cast<__int128>(static_cast<int64_t>(x))
                      : static_cast<__int128>(static_cast<int32_t>(x));
  };
  return static_cast<Wide>(extended(a) * extended(b));
}

Expected expected(const std::string& what, int bits, bool is_signed, uint64_t a, uint64_t b,
                  uint64_t c, bool in) {
  const Wide mask = (Wide{1} << bits) - 1;
  if (what == "add") return split(Wide{a} + b + in, bits);
  if (what == "sub") return split(Wide{a} - b - in, bits);
  const Wide all = product(a, b, bits, is_signed);
  const Wide part = (what == "mad.lo" ? all : all >> bits) & mask;
  return split(part + c + in, bits);
}

// `what` with and without taking and leaving the code, one combination after another. %c decides
// the carry that comes in, and the one that comes out is read back by an instruction of its kind.
void check(const std::string& what, const std::string& type, bool takes, bool leaves) {
  const int bits = type.ends_with("64") ? 64 : 32;
  const bool is_sub = what == "sub";
  const bool is_mad = what.starts_with("mad");
  const std::string name = is_mad ? what.substr(0, 3) : what;
  const std::string half = is_mad ? what.substr(3) : "";
  const std::string wide = bits == 64 ? "w" : "";
  std::string code = is_sub ? "sub.cc.u32 %r0, 0, %lane;\n" : "add.cc.u32 %r0, %lane, -1;\n";
  code += name + (takes ? "c" : "") + half + (leaves ? ".cc." : ".") + type + " %" + wide + "d, %" +
          wide + "a, %" + wide + "b" + (is_mad ? ", %" + wide + "c" : "") + ";\n";
  code += is_sub ? "subc.u32 %r1, 0, 0;\nneg.s32 %r1, %r1;\n" : "addc.u32 %r1, 0, 0;\n";
  code += "mov.b32 " + std::string(bits == 64 ? "%d" : "%r2") + ", %r1;\n";
  if (bits == 32) code += "cvt.u64.u32 %wd, %r1;\n";
  for (uint64_t seed = 1; seed < 8; ++seed) {
    LaneKernel kernel(code);
    const Values a = sample(bits, seed), b = sample(bits, seed + 10), c = sample(bits, seed + 20);
    for (int lane = 0; lane < 32; ++lane) {
      kernel.a.push_back(static_cast<uint32_t>(a[lane]));
      kernel.b.push_back(static_cast<uint32_t>(b[lane]));
      kernel.c.push_back(static_cast<uint32_t>(c[lane]));
    }
    kernel.wa = a, kernel.wb = b, kernel.wc = c;
    kernel.run();
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const bool before = lane != 0;
      const Expected want =
          expected(what, bits, type[0] == 's', a[lane], b[lane], c[lane], takes && before);
      const uint64_t value = bits == 64 ? kernel.wide_results[lane] : kernel.results[lane];
      const uint64_t carry = bits == 64 ? kernel.results[lane] : kernel.wide_results[lane];
      ASSERT_EQ(value, want.value) << code << lane;
      ASSERT_EQ(carry, leaves ? want.carry : before) << code << lane;
    }
  }
}

TEST(ExtendedPrecision, EveryInstructionAgainstWideSums) {
  for (const char* what : {"add", "sub", "mad.lo", "mad.hi"})
    for (const char* type : {"u32", "s32", "u64", "s64"})
      for (bool takes : {false, true})
        for (bool leaves : {false, true})
          if (takes || leaves) check(what, type, takes, leaves);
}

TEST(ExtendedPrecision, TheCodeIsEachLanesOwnAndLivesAcrossBranches) {
  LaneKernel kernel(R"(
  and.b32 %r0, %lane, 1;
  setp.eq.u32 %p0, %r0, 1;
  add.cc.u32 %r1, %lane, 0;          // none carries
  @%p0 bra ODD;
  add.u32 %r2, %lane, 1;
  bra MEET;
ODD:
  add.cc.u32 %r2, %lane, -1;         // all of these do
MEET:
  setp.lt.u32 %p1, %lane, 16;
  @%p1 add.cc.u32 %r3, %lane, 0;     // the first half has none any more
  addc.u32 %d, 100, 0;)");
  const auto d = kernel.run();
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(d[lane], lane >= 16 && lane % 2 == 1 ? 101u : 100u) << lane;
}

TEST(ExtendedPrecision, MultipliesNumbersOfManyWords) {
  // (a, b) * (b, a) as words of 32 bits, against 128 bits.
  LaneKernel kernel(R"(
  mul.lo.u32 %r0, %a, %b;
  mul.hi.u32 %r1, %a, %b;
  mad.lo.cc.u32 %r1, %a, %a, %r1;
  madc.hi.u32 %r2, %a, %a, 0;
  mad.lo.cc.u32 %r1, %b, %b, %r1;
  madc.hi.cc.u32 %r2, %b, %b, %r2;
  addc.u32 %r3, 0, 0;
  mad.lo.cc.u32 %r2, %b, %a, %r2;
  madc.hi.u32 %r3, %b, %a, %r3;
  mov.b64 %wd, {%r0, %r1};
  xor.b32 %d, %r2, %r3;)");
  const Values a = sample(32, 5), b = sample(32, 6);
  for (int lane = 0; lane < 32; ++lane) {
    kernel.a.push_back(static_cast<uint32_t>(a[lane]));
    kernel.b.push_back(static_cast<uint32_t>(b[lane]));
  }
  kernel.run();
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const Wide all = Wide{a[lane] | b[lane] << 32} * (b[lane] | a[lane] << 32);
    EXPECT_EQ(kernel.wide_results[lane], static_cast<uint64_t>(all)) << lane;
    EXPECT_EQ(kernel.results[lane],
              static_cast<uint32_t>(all >> 64) ^ static_cast<uint32_t>(all >> 96))
        << lane;
  }
}

TEST(CarrylessProduct, IsAPolynomialProduct) {
  // Long multiplication of digits, one at a time.
  const auto coefficient = [](uint64_t a, uint64_t b, int at) {
    uint64_t sum = 0;
    for (int i = std::max(0, at - 63); i <= std::min(at, 63); ++i)
      sum ^= (a >> i & 1) & (b >> (at - i) & 1);
    return sum;
  };
  for (bool high : {false, true}) {
    Instruction instruction{
        high ? "clmad.hi.u64 %d, %a, %b, %c;" : "clmad.lo.u64 %d, %a, %b, %c;", 64, {64, 64, 64}};
    const std::vector<Values> s = {sample(64, 1), sample(64, 2), sample(64, 3)};
    expect_instruction(instruction, s, [&](uint32_t lane) {
      uint64_t sum = s[2][lane];
      for (int i = 0; i < 64; ++i)
        sum ^= coefficient(s[0][lane], s[1][lane], i + (high ? 64 : 0)) << i;
      return sum;
    });
  }
}

}  // namespace
}  // namespace lw::machine
