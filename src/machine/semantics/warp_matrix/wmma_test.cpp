// wmma: load, multiply and store whole matrices in every layout, against the product of the
// matrices in memory; and what a program may do to the elements of a fragment.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "arith/formats.h"
#include "machine/semantics/warp_matrix/warp_registers.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

struct Shape {
  int m, n, k;
  std::string name() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  }
};

// An element type: how a small integer is written in it.
struct Element {
  std::string name;
  int bits;
  std::function<uint64_t(int)> encode;
};

uint64_t mask_of(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
Element integers(const std::string& name, int bits) {
  return {name, bits, [=](int value) { return static_cast<uint64_t>(value) & mask_of(bits); }};
}
Element f16() {
  return {"f16", 16,
          [](int value) { return uint64_t{arith::f16_from_f32_rn(static_cast<float>(value))}; }};
}
Element bf16() {
  return {"bf16", 16,
          [](int value) { return uint64_t{arith::bf16_from_f32_rn(static_cast<float>(value))}; }};
}
Element f32(const std::string& name = "f32") {
  return {name, 32,
          [](int value) { return uint64_t{std::bit_cast<uint32_t>(static_cast<float>(value))}; }};
}
Element f64() {
  return {"f64", 64, [](int value) { return std::bit_cast<uint64_t>(static_cast<double>(value)); }};
}

// A matrix of small integers in memory; the stride is in elements.
struct Matrix {
  Element element;
  int rows, columns;
  bool by_columns;
  int stride;
  std::vector<int> values;

  Matrix(Element e, int r, int c, bool col, int pad)
      : element(std::move(e)),
        rows(r),
        columns(c),
        by_columns(col),
        stride((col ? r : c) + pad),
        values(static_cast<size_t>(r * c)) {}
  int& at(int row, int column) { return values[static_cast<size_t>(row * columns + column)]; }
  size_t index(int row, int column) const {
    return static_cast<size_t>(by_columns ? column * stride + row : row * stride + column);
  }
  size_t size_words() const {
    const auto lines = static_cast<size_t>((by_columns ? columns : rows) * stride);
    return (lines * static_cast<size_t>(element.bits) + 31) / 32;
  }
  std::vector<uint32_t> words() {
    std::vector<uint32_t> all(size_words());
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) {
        const size_t bit = index(row, column) * static_cast<size_t>(element.bits);
        const uint64_t code = element.encode(at(row, column));
        all[bit / 32] |= static_cast<uint32_t>(code << (bit % 32));
        if (element.bits == 64) all[bit / 32 + 1] = static_cast<uint32_t>(code >> 32);
      }
    return all;
  }
  std::string layout() const { return by_columns ? "col" : "row"; }
};

// Registers of a fragment in PTX.
struct Fragment {
  std::string letter;
  size_t count;
  bool wide = false;
  std::string list() const { return names(letter, count); }
};

struct Product {
  Shape shape;
  std::string opcode;  // of wmma.mma behind the shape: `.f32.f32`
  std::string head = "wmma.mma.sync.aligned";
  size_t of_a, of_b, of_c, of_d;
};

std::string kernel_of(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c,
                      const Matrix& d, const std::string& between = "") {
  const auto reg = [](const std::string& letter, const Matrix& matrix) {
    return ".reg .b" + std::string(matrix.element.bits == 64 ? "64" : "32") + " %" + letter +
           "<20>;\n";
  };
  const auto load = [&](const std::string& letter, const Matrix& matrix, size_t count) {
    return "ld.param.u64 %p, [in_" + letter + "];\nwmma.load." + letter + ".sync.aligned." +
           matrix.layout() + "." + product.shape.name() + ".global." + matrix.element.name + " " +
           names(letter, count) + ", [%p], " + std::to_string(matrix.stride) + ";\n";
  };
  return ".visible .entry k(.param .u64 out, .param .u64 in_a, .param .u64 in_b,"
         ".param .u64 in_c) {\n.reg .b64 %p;\n" +
         reg("a", a) + reg("b", b) + reg("c", c) + reg("d", d) + load("a", a, product.of_a) +
         load("b", b, product.of_b) + load("c", c, product.of_c) + between + product.head + "." +
         a.layout() + "." + b.layout() + "." + product.shape.name() + product.opcode + " " +
         names("d", product.of_d) + ", " + names("a", product.of_a) + ", " +
         names("b", product.of_b) + ", " + names("c", product.of_c) +
         ";\nld.param.u64 %p, [out];\nwmma.store.d.sync.aligned." + d.layout() + "." +
         product.shape.name() + ".global." + d.element.name + " [%p], " + names("d", product.of_d) +
         ", " + std::to_string(d.stride) + ";\nret;\n}\n";
}

int times(int a, int b) { return a * b; }

// D = C + A B with `combine` for a product; numbers below `limit` (negative ones too, if `sign`).
void check(const Product& product, const Element& a_type, const Element& b_type,
           const Element& c_type, const Element& d_type, bool a_col, bool b_col, bool c_col,
           bool d_col, int limit, bool sign, int (*combine)(int, int) = times) {
  const auto [m, n, k] = product.shape;
  Matrix a(a_type, m, k, a_col, a_type.bits < 8 ? 0 : 16);
  Matrix b(b_type, k, n, b_col, b_type.bits < 8 ? 0 : 32);
  Matrix c(c_type, m, n, c_col, 8), d(d_type, m, n, d_col, 16);
  Words words(static_cast<uint64_t>(m * 100 + n));
  const auto fill = [&](Matrix& matrix) {
    for (int& value : matrix.values)
      value =
          static_cast<int>(words.next() % static_cast<uint32_t>(limit)) - (sign ? limit / 2 : 0);
  };
  fill(a), fill(b), fill(c);
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      d.at(row, column) = c.at(row, column);
      for (int i = 0; i < k; ++i) d.at(row, column) += combine(a.at(row, i), b.at(i, column));
    }
  TestKernel test(kernel_of(product, a, b, c, d), {}, "sm_90a");
  test.buffer(d.size_words());
  for (Matrix* matrix : {&a, &b, &c}) test.buffer(matrix->size_words(), matrix->words());
  EXPECT_EQ(test.run(1, 32).words(0), d.words())
      << product.head << product.shape.name() << product.opcode << a_col << b_col << c_col << d_col;
}

// In all layouts of all four matrices.
void check_layouts(const Product& product, const Element& a, const Element& b, const Element& c,
                   const Element& d, int limit, bool sign) {
  for (int layouts = 0; layouts < 16; ++layouts)
    check(product, a, b, c, d, layouts & 1, layouts & 2, layouts & 4, layouts & 8, limit, sign);
}

TEST(Wmma, Halves) {
  for (const Shape& shape : {Shape{16, 16, 16}, Shape{8, 32, 16}, Shape{32, 8, 16}}) {
    check_layouts({shape, ".f32.f32", "wmma.mma.sync.aligned", 8, 8, 8, 8}, f16(), f16(), f32(),
                  f32(), 40, true);
    check_layouts({shape, ".f16.f16", "wmma.mma.sync.aligned", 8, 8, 4, 4}, f16(), f16(), f16(),
                  f16(), 10, true);
    check({shape, ".f32.f16", "wmma.mma.sync.aligned", 8, 8, 4, 8}, f16(), f16(), f16(), f32(),
          false, true, false, false, 40, true);
    check({shape, ".f16.f32", "wmma.mma.sync.aligned", 8, 8, 8, 4}, f16(), f16(), f32(), f16(),
          false, true, true, false, 10, true);
  }
}

TEST(Wmma, Bfloats) {
  const auto product = [](Shape shape, size_t of_a, size_t of_b) {
    return Product{shape, ".f32.bf16.bf16.f32", "wmma.mma.sync.aligned", of_a, of_b, 8, 8};
  };
  check_layouts(product({16, 16, 16}, 4, 4), bf16(), bf16(), f32(), f32(), 40, true);
  check_layouts(product({8, 32, 16}, 2, 8), bf16(), bf16(), f32(), f32(), 40, true);
  check_layouts(product({32, 8, 16}, 8, 2), bf16(), bf16(), f32(), f32(), 40, true);
}

TEST(Wmma, Tf32AndDoubles) {
  check_layouts({{16, 16, 8}, ".f32.tf32.tf32.f32", "wmma.mma.sync.aligned", 4, 4, 8, 8},
                f32("tf32"), f32("tf32"), f32(), f32(), 40, true);
  for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp"})
    check_layouts({{8, 8, 4},
                   std::string(rounding) + ".f64.f64.f64.f64",
                   "wmma.mma.sync.aligned",
                   1,
                   1,
                   2,
                   2},
                  f64(), f64(), f64(), f64(), 1000, true);
}

TEST(Wmma, Bytes) {
  const auto product = [](Shape shape, const std::string& types, size_t of_a, size_t of_b) {
    return Product{shape, ".s32." + types + ".s32", "wmma.mma.sync.aligned", of_a, of_b, 8, 8};
  };
  const Element s8 = integers("s8", 8), u8 = integers("u8", 8), s32 = integers("s32", 32);
  check_layouts(product({16, 16, 16}, "s8.s8", 2, 2), s8, s8, s32, s32, 256, true);
  check_layouts(product({8, 32, 16}, "u8.u8", 1, 4), u8, u8, s32, s32, 256, false);
  check_layouts(product({32, 8, 16}, "s8.s8", 4, 1), s8, s8, s32, s32, 256, true);
}

TEST(Wmma, NibblesAndBits) {
  const Element s4 = integers("s4", 4), u4 = integers("u4", 4), b1 = integers("b1", 1);
  const Element s32 = integers("s32", 32);
  check({{8, 8, 32}, ".s32.s4.s4.s32", "wmma.mma.sync.aligned", 1, 1, 2, 2}, s4, s4, s32, s32,
        false, true, false, true, 16, true);
  check({{8, 8, 32}, ".s32.u4.u4.s32", "wmma.mma.sync.aligned", 1, 1, 2, 2}, u4, u4, s32, s32,
        false, true, true, false, 16, false);
  const auto bits = [&](const std::string& op, int (*combine)(int, int)) {
    check({{8, 8, 128}, ".s32.b1.b1.s32", "wmma.mma" + op + ".popc.sync.aligned", 1, 1, 2, 2}, b1,
          b1, s32, s32, false, true, false, false, 2, false, combine);
  };
  bits(".and", times);
  bits(".xor", [](int a, int b) { return a ^ b; });
}

// The directed roundings of f64: each step of the chain rounds that way.
TEST(Wmma, DoublesRoundAsAsked) {
  const auto run = [](const std::string& rounding) {
    // 1 + 2^-53 * 2^-53 in every element: only the direction shows.
    return run_warp("wmma.mma.sync.aligned.row.col.m8n8k4" + rounding +
                        ".f64.f64.f64.f64 {%dd0, %dd1}, {%da0}, {%db0}, {%dc0, %dc1};",
                    4,
                    {Registers{LaneWords{},
                               [] {
                                 LaneWords w;
                                 w.fill(0x3ca00000);
                                 return w;
                               }()},
                     Registers{LaneWords{},
                               [] {
                                 LaneWords w;
                                 w.fill(0x3ca00000);
                                 return w;
                               }()},
                     Registers{LaneWords{},
                               [] {
                                 LaneWords w;
                                 w.fill(0x3ff00000);
                                 return w;
                               }(),
                               LaneWords{},
                               [] {
                                 LaneWords w;
                                 w.fill(0x3ff00000);
                                 return w;
                               }()}},
                    true);
  };
  EXPECT_EQ(run("")[0][5], 0u);
  EXPECT_EQ(run(".rz")[0][5], 0u);
  EXPECT_EQ(run(".rm")[0][5], 0u);
  EXPECT_EQ(run(".rp")[0][5], 4u);  // four steps, each up by one place
  EXPECT_EQ(run(".rp")[2][31], 4u);
}

TEST(Wmma, ElementsMayBeScaledAndAccumulatorsConverted) {
  // d = half(2 * c) element by element, stored as halves: what epilogues do.
  std::string body = R"(.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .b64 %p;
  .reg .b16 %h<8>;
  .reg .b32 %d<4>;
  .reg .f32 %c<8>;
  ld.param.u64 %p, [in];
  wmma.load.c.sync.aligned.row.m16n16k16.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, [%p];
)";
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    body += "add.f32 %c" + n + ", %c" + n + ", %c" + n + ";\ncvt.rn.f16.f32 %h" + n + ", %c" + n +
            ";\n";
  }
  for (int i = 0; i < 4; ++i)
    body += "mov.b32 %d" + std::to_string(i) + ", {%h" + std::to_string(2 * i) + ", %h" +
            std::to_string(2 * i + 1) + "};\n";
  body += R"(ld.param.u64 %p, [out];
  wmma.store.d.sync.aligned.col.m16n16k16.f16 [%p], {%d0, %d1, %d2, %d3};
  ret;
})";
  Matrix c(f32(), 16, 16, false, 0), d(f16(), 16, 16, true, 0);
  for (int i = 0; i < 256; ++i)
    c.values[static_cast<size_t>(i)] = i, d.values[static_cast<size_t>(i)] = 2 * i;
  TestKernel test(body);
  test.buffer(d.size_words());
  test.buffer(c.size_words(), c.words());
  EXPECT_EQ(test.run(1, 32).words(0), d.words());
}

TEST(Wmma, LoadsAndStoresAreAccessesOfTheLanes) {
  // Warp 1 stores to the tile that warp 0 loads, with no barrier between.
  const std::string body = R"(.visible .entry k() {
  .reg .b32 %a, %t;
  .reg .pred %p;
  .reg .f32 %c<8>;
  .shared .align 32 .b8 tile[1024];
  mov.u32 %a, tile;
  mov.u32 %t, %tid.x;
  setp.lt.u32 %p, %t, 32;
  @%p bra LOAD;
  mov.f32 %c0, 0f00000000;
  wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%a], {%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0}, 16;
  bra END;
LOAD:
  wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, [%a], 16;
END:
  ret;
})";
  TestKernel test(body);
  order::Engine engine({}, &test.machine().order_values());
  EXPECT_TRUE(test.launch(1, 64, 0, &engine).finished) << test.why();
  EXPECT_FALSE(engine.finish().races.empty());
}

TEST(Wmma, AMatrixOutsideItsBufferIsAFault) {
  TestKernel test(R"(.visible .entry k(.param .u64 in) {
  .reg .b64 %p;
  .reg .b32 %a<8>;
  ld.param.u64 %p, [in];
  wmma.load.a.sync.aligned.row.m16n16k16.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%p], 32;
  ret;
})");
  test.buffer(200);
  const RunResult& result = test.launch(1, 32);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::out_of_bounds);
}

}  // namespace
}  // namespace lw::machine
