// mma.sync on formats of 4, 6 and 8 bits with scales, as PTX: against sums of the elements' values
// in double, which hold them exactly; and what is cut off.

#include "arith/mma_scaled.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "arith/formats.h"
#include "machine/semantics/warp_matrix/warp_registers.h"

namespace lw::machine {
namespace {

struct Format {
  std::string name;
  int bits;
  int below;  // bits under it in its byte
  float (*value)(uint8_t);
};
const Format kFormats[] = {{"e4m3", 8, 0, arith::f32_from_e4m3},
                           {"e5m2", 8, 0, arith::f32_from_e5m2},
                           {"e3m2", 6, 0, arith::f32_from_e3m2},
                           {"e2m3", 6, 0, arith::f32_from_e2m3},
                           {"e2m1", 4, 2, arith::f32_from_e2m1}};

// Magnitudes between 2^-3 and 4, or zero, so that all sums here are exact.
uint8_t some(Words& words, const Format& format) {
  for (;;) {
    const auto code = static_cast<uint8_t>(words.next() & ((1u << format.bits) - 1));
    const double value = std::abs(static_cast<double>(format.value(code)));
    if (value == 0 || (value >= 0.125 && value <= 4)) return code;
  }
}

Registers some_bytes(Words& words, const Format& format, size_t count) {
  Registers all(count);
  for (LaneWords& lanes : all)
    for (uint32_t& word : lanes)
      for (int i = 0; i < 4; ++i) word |= uint32_t{some(words, format)} << (8 * i + format.below);
  return all;
}

// Element (line, k) of a matrix with `bits` an element in registers.
uint32_t element(const Registers& registers, int bits, int blocks, int line, int k) {
  const int each = 32 / bits;
  const auto reg = static_cast<size_t>(k / (4 * each) * blocks + line / 8);
  const auto lane = static_cast<size_t>(line % 8 * 4 + k % (4 * each) / each);
  return registers[reg][lane] >> (bits * (k % each)) & ((1u << bits) - 1);
}

double value_of(const Format& format, uint32_t byte) {
  return static_cast<double>(format.value(static_cast<uint8_t>(byte >> format.below)));
}
double accumulator(const Registers& registers, int row, int column) {
  const auto r = static_cast<size_t>(row / 8 * 2 + column % 2);
  return static_cast<double>(
      std::bit_cast<float>(registers[r][static_cast<size_t>(row % 8 * 4 + column / 2)]));
}

Registers some_floats(Words& words, size_t count) {
  Registers all(count);
  for (LaneWords& lanes : all)
    for (uint32_t& word : lanes)
      word = std::bit_cast<uint32_t>(static_cast<float>(words.next() % 200) - 100.0f);
  return all;
}

TEST(MmaScaled, EveryPairOfFormatsInBytes) {
  Words words(1);
  for (const Format& a : kFormats)
    for (const Format& b : kFormats) {
      const Registers x = some_bytes(words, a, 4), y = some_bytes(words, b, 2);
      const Registers c = some_floats(words, 4);
      const Registers d = run_warp(
          fmt::format(
              "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{}.{}.f32 {}, {}, {}, {};",
              a.name, b.name, names("d", 4), names("a", 4), names("b", 2), names("c", 4)),
          4, {x, y, c}, false, "sm_120a");
      for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
          double sum = accumulator(c, row, column);
          for (int k = 0; k < 32; ++k)
            sum += value_of(a, element(x, 8, 2, row, k)) * value_of(b, element(y, 8, 1, column, k));
          ASSERT_EQ(accumulator(d, row, column), sum) << a.name << ' ' << b.name;
        }
    }
}

TEST(MmaScaled, HalvesTakeF16) {
  Words words(2);
  const Format& e2m1 = kFormats[4];
  const Registers x = some_bytes(words, e2m1, 4), y = some_bytes(words, e2m1, 2);
  const Registers d = run_warp(
      fmt::format(
          "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e2m1.f16 {}, {}, {}, {};",
          names("d", 2), names("a", 4), names("b", 2), names("c", 2)),
      2, {x, y, Registers(2)}, false, "sm_120a");
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      double sum = 0;
      for (int k = 0; k < 32; ++k)
        sum +=
            value_of(e2m1, element(x, 8, 2, row, k)) * value_of(e2m1, element(y, 8, 1, column, k));
      const uint32_t pair =
          d[static_cast<size_t>(row / 8)][static_cast<size_t>(row % 8 * 4 + column / 2)];
      EXPECT_EQ(arith::f32_from_f16(static_cast<uint16_t>(pair >> (16 * (column % 2)))), sum);
    }
}

// Scales near 1.
Registers some_scales(Words& words, bool ue4m3) {
  Registers all(1);
  for (uint32_t& word : all[0])
    for (int i = 0; i < 4; ++i) {
      const uint32_t byte = ue4m3 ? 0x30 + words.next() % 16 : 126 + words.next() % 3;
      word |= byte << (8 * i);
    }
  return all;
}
double scale_value(bool ue4m3, uint32_t byte) {
  return ue4m3 ? static_cast<double>(arith::f32_from_e4m3(static_cast<uint8_t>(byte)))
               : std::ldexp(1.0, static_cast<int>(byte) - 127);
}

struct Scaled {
  std::string opcode;
  int k;
  int scales;
  bool ue4m3;
};

void check_scales(const Scaled& form, uint32_t byte, uint32_t thread_a, uint32_t thread_b) {
  Words words(byte * 16 + thread_a * 4 + thread_b + static_cast<uint32_t>(form.k));
  const Format& e2m1 = kFormats[4];
  const bool packed = form.k == 64;
  const Registers x = packed ? words.registers(4) : some_bytes(words, e2m1, 4);
  const Registers y = packed ? words.registers(2) : some_bytes(words, e2m1, 2);
  const Registers c = some_floats(words, 4);
  const Registers of_a = some_scales(words, form.ue4m3), of_b = some_scales(words, form.ue4m3);
  Registers both = {of_a[0], of_b[0]};
  const Registers d = run_warp(fmt::format("{} {}, {}, {}, {}, %e0, {{{}, {}}}, %e1, {{{}, {}}};",
                                           form.opcode, names("d", 4), names("a", 4), names("b", 2),
                                           names("c", 4), byte, thread_a, byte, thread_b),
                               4, {x, y, c, both}, false, "sm_120a");
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      const uint32_t a_word = of_a[0][static_cast<size_t>(row % 8 * 4 + row / 8) + 2 * thread_a];
      const uint32_t b_word = of_b[0][static_cast<size_t>(column * 4) + thread_b];
      double sum = accumulator(c, row, column);
      for (int k = 0; k < form.k; ++k) {
        const int chunk = k / (form.k / form.scales);
        const int shift = 8 * (static_cast<int>(byte) + chunk);
        const uint32_t p = element(x, packed ? 4 : 8, 2, row, k) >> (packed ? 0 : 2);
        const uint32_t q = element(y, packed ? 4 : 8, 1, column, k) >> (packed ? 0 : 2);
        sum += static_cast<double>(e2m1.value(static_cast<uint8_t>(p))) *
               static_cast<double>(e2m1.value(static_cast<uint8_t>(q))) *
               scale_value(form.ue4m3, a_word >> shift & 0xff) *
               scale_value(form.ue4m3, b_word >> shift & 0xff);
      }
      ASSERT_EQ(accumulator(d, row, column), sum) << form.opcode << ' ' << row << ' ' << column;
    }
}

TEST(MmaScaled, ScalesComeFromTheSelectedLanesAndBytes) {
  const std::string head = "mma.sync.aligned.m16n8";
  const Scaled kForms[] = {
      {head + "k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0", 32, 1,
       false},
      {head + "k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 64, 2, false},
      {head + "k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 64, 2,
       false},
      {head + "k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0", 64, 4,
       false},
      {head + "k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 64, 4,
       true}};
  for (const Scaled& form : kForms)
    for (uint32_t byte = 0; byte + static_cast<uint32_t>(form.scales) <= 4;
         byte += static_cast<uint32_t>(form.scales))
      for (uint32_t a = 0; a < 2; ++a)
        for (uint32_t b = 0; b < 4; ++b) check_scales(form, byte, a, b);
}

// One result of a matrix with the same element everywhere.
uint32_t one_sum(const arith::ScaledForm& form, uint32_t a, uint32_t b, uint32_t c,
                 uint32_t scale_a, uint32_t scale_b) {
  LaneWords x, y, z, p, q;
  x.fill(a * 0x01010101), y.fill(b * 0x01010101), z.fill(c), p.fill(scale_a), q.fill(scale_b);
  const void* as[] = {x.data(), x.data(), x.data(), x.data()};
  const void* bs[] = {y.data(), y.data()};
  const void* cs[] = {z.data(), z.data(), z.data(), z.data()};
  Registers d(4);
  void* ds[] = {d[0].data(), d[1].data(), d[2].data(), d[3].data()};
  arith::ScaledMma{form}.run(as, bs, cs, p.data(), {0, 0}, q.data(), {0, 0}, ds);
  return d[3][31];
}

TEST(MmaScaled, CutsWhatLiesBelowItsUnit) {
  const auto bits = [](double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); };
  // Bytes of 1.0: 32 products of 2^-25 under c = 2, whose unit is 2^-24, are gone; of 2^-24 they
  // are there, and together they show.
  arith::ScaledForm bytes{32, arith::kE2m1, arith::kE2m1, false, arith::ScaleType::kUe8m0, 1};
  EXPECT_EQ(one_sum(bytes, 2 << 2, 2 << 2, bits(2), 127 - 25, 127), bits(2));
  EXPECT_EQ(one_sum(bytes, 2 << 2, 2 << 2, bits(2), 127 - 24, 127), bits(2 + std::ldexp(1, -19)));
  // Packed: a group of 16 counts as a whole, and the unit is 2^-34.
  arith::ScaledForm packed{64, arith::kE2m1, arith::kE2m1, false, arith::ScaleType::kUe8m0, 2};
  const uint32_t low = 127 - 28, lower = 127 - 40;
  EXPECT_EQ(one_sum(packed, 0x22, 0x22, bits(2), low * 0x0101, 0x7f7f),
            bits(2 + std::ldexp(1, -22)));
  EXPECT_EQ(one_sum(packed, 0x22, 0x22, bits(-2), lower * 0x0101, 0x7f7f), bits(-2));
  // Scales that are no number.
  EXPECT_EQ(one_sum(bytes, 8, 8, 0, 0xff, 127), arith::kNanF32);
  EXPECT_EQ(one_sum(packed, 0x22, 0x22, 0, 0xff7f, 0x7f7f), arith::kNanF32);
  arith::ScaledForm nv{64, arith::kE2m1, arith::kE2m1, false, arith::ScaleType::kUe4m3, 4};
  EXPECT_EQ(one_sum(nv, 0x22, 0x22, 0, 0x7f383838, 0x38383838), arith::kNanF32);
  EXPECT_EQ(one_sum(nv, 0x22, 0x22, 0, 0x38383838, 0xb8b8b8b8), bits(64));  // no sign
  EXPECT_EQ(one_sum(nv, 0x22, 0x22, bits(INFINITY), 0x38383838, 0x38383838), bits(INFINITY));
}

TEST(MmaScaled, SelectorsThatDoNotExistAreSaid) {
  const std::string instruction =
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 "
      "{%f0, %f1, %f2, %f3}, {%r0, %r0, %r0, %r0}, {%r0, %r0}, {%f0, %f1, %f2, %f3}, %r0, {1, 0}, "
      "%r0, {0, 0};";
  TestKernel test(
      ".visible .entry k() {\n.reg .b32 %r<2>;\n.reg .f32 %f<4>;\n" + instruction + "\nret;\n}\n",
      {}, "sm_120a");
  EXPECT_TRUE(test.launch(1, 32).not_analysed);
}

}  // namespace
}  // namespace lw::machine
