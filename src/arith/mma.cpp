#include "arith/mma.h"

#include <algorithm>
#include <array>

#include "arith/mma_matrix.h"
#include "base/vector_level.h"

namespace lw::arith {

namespace v2 {
MmaFunction float_mma_function(const MmaForm& form, const MmaRules& rules);
void double_mma(const Mma& self, const void* const* a, const void* const* b, const void* const* c,
                void* const* d);
}  // namespace v2
namespace v3 {
MmaFunction float_mma_function(const MmaForm& form, const MmaRules& rules);
void double_mma(const Mma& self, const void* const* a, const void* const* b, const void* const* c,
                void* const* d);
}  // namespace v3
namespace v4 {
MmaFunction float_mma_function(const MmaForm& form, const MmaRules& rules);
void double_mma(const Mma& self, const void* const* a, const void* const* b, const void* const* c,
                void* const* d);
}  // namespace v4

namespace {

using namespace mma_detail;

// --- floating point, any rules: one block_sum after another ---

uint32_t sum_of_blocks(const Mma& self, const uint32_t* a, const uint32_t* b, uint32_t c) {
  const MmaRules& rules = self.rules;
  const Format& a_format = rules.emulated ? kF16 : format_of(self.form.a);
  const Format& b_format = rules.emulated ? kF16 : format_of(self.form.b);
  uint32_t sum = rules.emulated ? 0 : c;
  std::array<uint32_t, 32> x, y;
  size_t length = static_cast<size_t>(rules.block_length);
  for (int block = 0; block < self.form.shape.k / rules.block_length; ++block) {
    for (int j = 0; j < rules.block_length; ++j) {
      int k = product_of_block(rules, block, j);
      x[j] = a[k];
      y[j] = b[k];
    }
    sum = block_sum(a_format, {x.data(), length}, b_format, {y.data(), length}, sum, rules.block);
  }
  return rules.emulated ? rounded_add(self.form.c, sum, c) : sum;
}

void plain_float_mma(const Mma& self, Registers a, Registers b, Registers c, void* const* d) {
  Matrix<uint32_t> rows, columns;
  take_a(self.form, self.a_registers, a, rows, operand_code(self.form.a, self.rules.emulated));
  take_b(self.form, self.b_registers, b, columns, operand_code(self.form.b, self.rules.emulated));
  each_result(self.form, c, d, [&](int row, int column, uint32_t addend) {
    return sum_of_blocks(self, &rows.at(row, 0), &columns.at(column, 0), addend);
  });
}

// --- integers: exact, modulo 2^32 or clamped once ---

void integer_mma(const Mma& self, Registers a, Registers b, Registers c, void* const* d) {
  Matrix<int32_t> rows, columns;
  take_a(self.form, self.a_registers, a, rows, integer_code(self.form.a));
  take_b(self.form, self.b_registers, b, columns, integer_code(self.form.b));
  each_result(self.form, c, d, [&](int row, int column, uint32_t addend) {
    const int32_t* x = &rows.at(row, 0);
    const int32_t* y = &columns.at(column, 0);
    int32_t products = 0;  // at most 64 * 2^16
    for (int k = 0; k < self.form.shape.k; ++k) products += x[k] * y[k];
    int64_t sum = int64_t{static_cast<int32_t>(addend)} + products;
    if (self.form.satfinite) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(sum);
  });
}

// .b1: the number of set bits of the xor or the and of a row and a column.
void bit_mma(const Mma& self, Registers a, Registers b, Registers c, void* const* d) {
  int words = self.form.shape.k / 32;
  int row_blocks = self.form.shape.m / 8;
  each_result(self.form, c, d, [&](int row, int column, uint32_t addend) {
    for (int w = 0; w < words; ++w) {
      int t = w % 4;
      uint32_t x = word_at<uint32_t>(a, w / 4 * row_blocks + row / 8, row % 8 * 4 + t);
      uint32_t y = word_at<uint32_t>(b, w / 4, column * 4 + t);
      uint32_t bits = self.form.bits == BitOperation::kXor ? x ^ y : x & y;
      addend += static_cast<uint32_t>(std::popcount(bits));
    }
    return addend;
  });
}

// --- which function a form has ---

MmaFunction fast_float_function(const MmaForm& form, const MmaRules& rules) {
  static const auto find =
      base::choose_level(v2::float_mma_function, v3::float_mma_function, v4::float_mma_function);
  return find(form, rules);
}

bool is_integer_form(const MmaForm& form) {
  if (form.c != MmaType::kS32) return false;
  MmaShape s = form.shape;
  if (is_int8(form.a) && is_int8(form.b))
    return s == MmaShape{8, 8, 16} || s == MmaShape{16, 8, 16} || s == MmaShape{16, 8, 32};
  if (is_int4(form.a) && is_int4(form.b))
    return s == MmaShape{8, 8, 32} || s == MmaShape{16, 8, 32} || s == MmaShape{16, 8, 64};
  return false;
}

bool is_bit_form(const MmaForm& form) {
  MmaShape s = form.shape;
  return form.a == MmaType::kB1 && form.b == MmaType::kB1 && form.c == MmaType::kS32 &&
         !form.satfinite &&
         (s == MmaShape{8, 8, 128} || s == MmaShape{16, 8, 128} || s == MmaShape{16, 8, 256});
}

bool is_double_form(const MmaForm& form, MmaTarget target) {
  MmaShape s = form.shape;
  bool wide = s == MmaShape{16, 8, 4} || s == MmaShape{16, 8, 8} || s == MmaShape{16, 8, 16};
  return form.a == MmaType::kF64 && form.b == MmaType::kF64 && form.c == MmaType::kF64 &&
         (s == MmaShape{8, 8, 4} || (wide && target.sm >= 90));
}

// Registers of a lane that hold so many elements of a matrix.
int registers_for(int elements, MmaType type) {
  int per_register = std::max(1, 32 / element_bits(type));
  return elements / 32 / per_register;
}

MmaFunction function_of(const MmaForm& form, MmaTarget target,
                        const std::optional<MmaRules>& rules) {
  if (rules) {
    MmaFunction fast = fast_float_function(form, *rules);
    return fast != nullptr ? fast : plain_float_mma;
  }
  if (is_integer_form(form)) return integer_mma;
  if (is_bit_form(form)) return bit_mma;
  if (is_double_form(form, target))
    return base::choose_level(v2::double_mma, v3::double_mma, v4::double_mma);
  return nullptr;
}

}  // namespace

std::optional<Mma> find_mma(const MmaForm& form, MmaTarget target) {
  if (target.sm < 80) return std::nullopt;
  std::optional<MmaRules> rules = mma_rules(form, target);
  MmaFunction function = function_of(form, target, rules);
  if (function == nullptr) return std::nullopt;
  MmaShape s = form.shape;
  return Mma{form,
             rules.value_or(MmaRules{}),
             function,
             registers_for(s.m * s.k, form.a),
             registers_for(s.n * s.k, form.b),
             registers_for(s.m * s.n, form.c)};
}

}  // namespace lw::arith
