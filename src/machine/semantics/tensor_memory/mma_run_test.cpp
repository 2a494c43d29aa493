// Kernels that multiply: operands in every layout of shared memory, and A in tensor memory. The
// test lays the operands out as the manual draws the canonical layouts, atom by atom; the sums are
// of small integers and exact.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "machine/semantics/tensor_memory/operand_image.h"
#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

using arith::TensorType;

constexpr uint32_t kColumns = 16;

struct Format {
  ProductKind kind;
  const char* name;
  TensorType type;
  uint32_t code;  // in the instruction descriptor
};

struct Case {
  Format format;
  Layout a, b;
  uint32_t m = 128;
  uint32_t steps = 1;
  bool a_in_tensor_memory = false;
  bool scaled = false;
  const char* kept = "";  // lanes that are not written
  int d_shift = 0;        // after the first step D counts 2^-d_shift
};

// Scales: 2^(row mod 3) in byte 1 of cells from column 40 on, and 2^(column mod 2 - 1) in byte 2 of
// column 44, in every quarter of the lanes.
constexpr uint32_t kByteOfA = 1, kByteOfB = 2;
std::string write_scales() {
  std::string text = "  add.u32 %r50, %base, 40;\n  and.b32 %r51, %t, 31;\n";
  for (int column = 0; column < 4; ++column)
    text += fmt::format(R"(
  add.u32 %r52, %r51, {};
  rem.u32 %r52, %r52, 3;
  add.u32 %r52, %r52, 127;
  shl.b32 %r52, %r52, 8;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r50+{}], {{%r52}};)",
                        32 * column, column);
  return text + R"(
  and.b32 %r52, %t, 1;
  add.u32 %r52, %r52, 126;
  shl.b32 %r52, %r52, 16;
  add.u32 %r53, %r50, 4;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r53], {%r52};)";
}

// The kernel: thread t of 128. Parameters: out (128 lanes x 16 columns), image (of shared memory),
// words of it, A and B descriptors without start, where B begins (bytes), instruction descriptor,
// steps, and what A and B go on by. A in tensor memory is its rows, as they follow each other.
std::string kernel_of(const Case& c) {
  const std::string a = c.a_in_tensor_memory ? "[%a]" : "%rd3";
  std::string d;
  for (uint32_t i = 0; i < kColumns; ++i) d += fmt::format("{}%r{}", i ? ", " : "", 100 + i);
  std::string stores;
  for (uint32_t i = 0; i < kColumns; ++i)
    stores += fmt::format("  st.global.b32 [%rd1+{}], %r{};\n", 4 * i, 100 + i);
  return fmt::format(R"(
.extern .shared .align 1024 .b8 image[];
.shared .align 8 .b64 bar;
.shared .align 4 .b32 base;
.visible .entry k(.param .u64 out, .param .u64 from, .param .u64 a_desc, .param .u64 b_desc,
                  .param .u32 words, .param .u32 b_at, .param .u32 idesc, .param .u32 steps,
                  .param .u32 a_step, .param .u32 b_step) {{
  .reg .pred %p<9>;
  .reg .b32 %r<140>;
  .reg .b32 %t, %w, %base, %a;
  .reg .b64 %rd<12>;
  mov.u32 %t, %tid.x;
  shr.u32 %w, %t, 5;
  setp.eq.u32 %p7, %t, 0;
  setp.eq.u32 %p8, %w, 0;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %t, 64;
  add.u64 %rd1, %rd1, %rd2;
  @%p7 mbarrier.init.shared::cta.b64 [bar], 1;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64;
  ld.param.u64 %rd2, [from];
  ld.param.u32 %r1, [words];
  mov.u32 %r2, %t;
COPY:
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra COPIED;
  mul.wide.u32 %rd5, %r2, 4;
  add.u64 %rd5, %rd5, %rd2;
  ld.global.b32 %r3, [%rd5];
  shl.b32 %r4, %r2, 2;
  mov.u32 %r5, image;
  add.u32 %r4, %r4, %r5;
  st.shared.b32 [%r4], %r3;
  add.u32 %r2, %r2, 128;
  bra COPY;
COPIED:
  bar.sync 0;
  ld.shared.b32 %base, [base];
  add.u32 %a, %base, 32;
{0}
  tcgen05.wait::st.sync.aligned;
  bar.sync 0;
  @!%p7 bra ISSUED;
  mov.u32 %r10, image;
  shr.u32 %r11, %r10, 4;
  cvt.u64.u32 %rd6, %r11;
  ld.param.u64 %rd3, [a_desc];
  add.u64 %rd3, %rd3, %rd6;
  ld.param.u32 %r12, [b_at];
  shr.u32 %r12, %r12, 4;
  cvt.u64.u32 %rd7, %r12;
  ld.param.u64 %rd4, [b_desc];
  add.u64 %rd4, %rd4, %rd6;
  add.u64 %rd4, %rd4, %rd7;
  ld.param.u32 %r13, [idesc];
  ld.param.u32 %r14, [steps];
  ld.param.u32 %r15, [a_step];
  cvt.u64.u32 %rd8, %r15;
  ld.param.u32 %r15, [b_step];
  cvt.u64.u32 %rd9, %r15;
  mov.u32 %r16, 0;
  mov.b32 %r60, 8;
  mov.b32 %r61, 0;
  mov.b32 %r62, -1;
STEP:
  setp.ne.u32 %p2, %r16, 0;
  tcgen05.mma.cta_group::1.kind::{1} [%base], {2}, %rd4, %r13, {5}%p2{6};
  add.u64 %rd3, %rd3, %rd8;
  add.u64 %rd4, %rd4, %rd9;
  add.u32 %a, %a, 8;
  add.u32 %r16, %r16, 1;
  setp.lt.u32 %p3, %r16, %r14;
  @%p3 bra STEP;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
ISSUED:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0;
  @!%p4 bra ISSUED;
  tcgen05.ld.sync.aligned.32x32b.x16.b32 {{{3}}}, [%base];
  tcgen05.wait::ld.sync.aligned;
{4}
  bar.sync 0;
  @%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 64;
  ret;
}})",
                     (c.a_in_tensor_memory ? std::string(R"(
  mov.u32 %r20, image;
  mul.lo.u32 %r21, %t, 32;
  add.u32 %r20, %r20, %r21;
  ld.shared.v4.b32 {%r30, %r31, %r32, %r33}, [%r20];
  ld.shared.v4.b32 {%r34, %r35, %r36, %r37}, [%r20+16];
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%a], {%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37};)")
                                           : "") +
                         (c.scaled ? write_scales() : ""),
                     c.format.name, a, d, stores, c.scaled ? "[%r50], [%r53], " : c.kept,
                     c.d_shift ? fmt::format(", {}", c.d_shift) : "");
}

uint32_t lane_of(uint32_t m, uint32_t row) { return m == 64 ? row / 16 * 32 + row % 16 : row; }

// The rows of A as tensor memory has them: 32 bytes a lane, short formats in containers.
std::vector<std::byte> in_lanes(const Matrix& a, const Case& c) {
  std::vector<std::byte> bytes(128 * 32);
  const uint32_t size = arith::element_bytes(c.format.type);
  for (uint32_t row = 0; row < c.m; ++row)
    for (uint32_t k = 0; k < a.k; ++k) {
      uint32_t code = code_of(c.format.type, a.at(row, k));
      if (c.format.type == TensorType::kE2m1) code <<= 2;
      std::memcpy(bytes.data() + lane_of(c.m, row) * 32 + k * size, &code, size);
    }
  return bytes;
}

void check(const Case& c) {
  const uint32_t k = 32 / arith::element_bytes(c.format.type);
  const bool is_signed = c.format.type != TensorType::kU8;
  const Matrix a(c.m, k * c.steps, is_signed, 1), b(kColumns, k * c.steps, is_signed, 2);
  Image a_image = lay_out(a, c.format.type, c.a);
  const Image b_image = lay_out(b, c.format.type, c.b);
  if (c.a_in_tensor_memory) a_image.bytes = in_lanes(a, c);
  std::vector<std::byte> all = a_image.bytes;
  all.resize((all.size() + 1023) / 1024 * 1024);
  const auto b_at = static_cast<uint32_t>(all.size());
  all.insert(all.end(), b_image.bytes.begin(), b_image.bytes.end());
  std::vector<uint32_t> words((all.size() + 3) / 4);
  std::memcpy(words.data(), all.data(), all.size());

  const bool integers = arith::is_integer(c.format.type);
  uint32_t idesc = c.format.code << 7 | c.format.code << 10 | (c.a.mn_major ? 1u << 15 : 0) |
                   (c.b.mn_major ? 1u << 16 : 0) | kColumns / 8 << 17;
  idesc |= c.scaled ? kByteOfB << 4 | 1u << 23 | c.m / 128 << 27 | kByteOfA << 29
                    : (integers ? 2u : 1u) << 4 | c.m / 16 << 24;
  Options options;
  options.sm_count = 1;
  TestKernel test(kernel_of(c), options, "sm_100a");
  test.buffer(128 * kColumns);
  test.buffer(words.size(), words);
  test.parameter(a_image.descriptor);
  test.parameter(b_image.descriptor);
  for (uint32_t value : {static_cast<uint32_t>(words.size()), b_at, idesc, c.steps,
                         advance_of(c.a, a_image, k), advance_of(c.b, b_image, k)})
    test.parameter(value);
  const auto out = test.run(1, 128, b_at + static_cast<uint32_t>(b_image.bytes.size())).words(0);
  for (uint32_t row = 0; row < c.m; ++row)
    for (uint32_t column = 0; column < kColumns; ++column) {
      const bool keeps = *c.kept != 0 && (row == 3 || row >= 64);
      int sum = 0;
      float real = 0;
      for (uint32_t i = 0; i < a.k; ++i) {
        sum += a.at(row, i) * b.at(column, i);
        if (i != 0 && i % k == 0) real = std::ldexp(real, -c.d_shift);
        real += static_cast<float>(a.at(row, i) * b.at(column, i));
      }
      if (c.scaled) real *= std::exp2(static_cast<float>(row % 3 + column % 2) - 1);
      const uint32_t want = keeps      ? 0xa5a5a5a5
                            : integers ? static_cast<uint32_t>(sum)
                                       : std::bit_cast<uint32_t>(real);
      ASSERT_EQ(out[lane_of(c.m, row) * kColumns + column], want)
          << c.format.name << " type " << static_cast<int>(c.format.type) << " M " << c.m << " row "
          << row << " column " << column << " swizzles " << static_cast<int>(c.a.swizzle) << ' '
          << static_cast<int>(c.b.swizzle);
    }
}

constexpr Format kHalf{ProductKind::f16, "f16", TensorType::kF16, 0};
constexpr Format kBrain{ProductKind::f16, "f16", TensorType::kBf16, 1};
constexpr Format kTensorFloat{ProductKind::tf32, "tf32", TensorType::kTf32, 2};
constexpr Format kFp8{ProductKind::f8f6f4, "f8f6f4", TensorType::kE4m3, 0};
constexpr Format kInteger{ProductKind::i8, "i8", TensorType::kS8, 1};
constexpr Format kUnsigned{ProductKind::i8, "i8", TensorType::kU8, 0};

using S = OperandSwizzle;

TEST(TensorProducts, KMajorInEverySwizzle) {
  for (const Format& format : {kHalf, kBrain, kTensorFloat, kFp8, kInteger, kUnsigned})
    for (S swizzle : {S::none, S::b32, S::b64, S::b128}) {
      const Layout layout{swizzle, false};
      check({format, layout, layout, 128, std::max(1u, layout.line() / 32)});
      check({format, layout, layout, 64, 1});
    }
}

TEST(TensorProducts, MnMajorInEverySwizzle) {
  for (const Format& format : {kHalf, kBrain, kFp8, kInteger})
    for (S swizzle : {S::none, S::b32, S::b64, S::b128})
      for (uint32_t m : {64u, 128u}) {
        check({format, {swizzle, true}, {S::b128, false}, m, 2});
        check({format, {S::b128, false}, {swizzle, true}, m, 2});
      }
  check({kTensorFloat, {S::b128_atoms32, true}, {S::b128_atoms32, true}, 128, 3});
}

TEST(TensorProducts, ShortFormatsArePacked) {
  constexpr std::pair<TensorType, uint32_t> kShort[] = {{TensorType::kE5m2, 1},
                                                        {TensorType::kE2m3, 2},
                                                        {TensorType::kE3m2, 3},
                                                        {TensorType::kE2m1, 4}};
  for (auto [type, code] : kShort) {
    const Format format{ProductKind::f8f6f4, "f8f6f4", type, code};
    check({format, {S::b128, false}, {S::b64, false}, 128, 2});
    check({format, {S::none, false}, {S::none, false}, 64, 1});
    check({format, {S::none, false}, {S::b128, false}, 128, 1, true});
  }
}

TEST(TensorProducts, AInTensorMemory) {
  for (const Format& format : {kHalf, kBrain, kTensorFloat, kFp8, kInteger})
    for (uint32_t m : {64u, 128u}) check({format, {S::none, false}, {S::b128, false}, m, 1, true});
}

TEST(TensorProducts, ScaledByBlocks) {
  constexpr std::pair<TensorType, uint32_t> kTypes[] = {
      {TensorType::kE4m3, 0}, {TensorType::kE5m2, 1}, {TensorType::kE2m1, 4}};
  for (auto [type, code] : kTypes) {
    const Format format{ProductKind::mxf8f6f4, "mxf8f6f4.block_scale", type, code};
    check({format, {S::b128, false}, {S::b128, false}, 128, 2, false, true});
    check({format, {S::none, false}, {S::b128, false}, 128, 1, true, true});
  }
}

TEST(TensorProducts, ScalesD) {
  Case c{kHalf, {S::b128, false}, {S::b128, false}, 128, 4};
  c.d_shift = 3;
  check(c);
}

TEST(TensorProducts, KeepsLanes) {
  // Lanes 3 and 64 and up keep what they have: poison.
  Case c{kHalf, {S::b128, false}, {S::b128, false}};
  c.kept = "{%r60, %r61, %r62, %r62}, ";
  check(c);
}

}  // namespace
}  // namespace lw::machine
