#include "arith/mma_sparse.h"

#include <algorithm>

#include "arith/block_sum.h"
#include "arith/mma_matrix.h"

namespace lw::arith {

namespace {

using namespace mma_detail;

bool is_integer(const MmaForm& form) { return form.c == MmaType::kS32; }

// Elements of A in a chunk, and of them those that are given.
struct Chunk {
  int length;
  int given;
};
Chunk chunk_of(MmaType type) {
  if (type == MmaType::kTf32) return {2, 1};
  return is_int4(type) ? Chunk{8, 4} : Chunk{4, 2};
}

int metadata_bits(const MmaForm& form) { return form.shape.k / chunk_of(form.a).length * 4; }

// The four bits of one chunk of a row.
uint32_t bits_of_chunk(const SparseMma& self, const uint32_t* metadata, int row, int chunk) {
  const int quad = row % 8 * 4, upper = row / 8;
  const int bits = metadata_bits(self.form);
  const bool rows_apart = element_bits(self.form.a) <= 8;  // a word belongs to one row
  int lane = quad + self.selector, shift = 16 * upper + 4 * chunk;
  if (bits == 32 && !rows_apart) {
    lane = quad + 2 * self.selector + chunk / 4;
    shift = 16 * upper + 4 * (chunk % 4);
  } else if (bits == 32) {
    lane = quad + 2 * self.selector + upper;
    shift = 4 * chunk;
  } else if (bits == 64) {
    lane = quad + 2 * (chunk / 8) + upper;
    shift = 4 * (chunk % 8);
  }
  return metadata[lane] >> shift & 15;
}

// Which k the j-th given element of a row has.
int place_of(const SparseMma& self, const uint32_t* metadata, int row, int j) {
  const auto [length, given] = chunk_of(self.form.a);
  const int chunk = j / given, within = j % given;
  const uint32_t bits = bits_of_chunk(self, metadata, row, chunk);
  int place = 0;
  if (given == 1) place = static_cast<int>(bits & 3) / 2;
  if (given == 2) place = static_cast<int>(bits >> (2 * within) & 3);
  if (given == 4) place = static_cast<int>(bits >> (within / 2 * 2) & 3) * 2 + within % 2;
  return chunk * length + place;
}

// The sums of rows of A with columns of B: what is multiplied differs.

void integers(const SparseMma& self, Registers a, Registers b, Registers c,
              const uint32_t* metadata, void* const* d) {
  Matrix<int32_t> rows, columns;
  take_a(self.form, self.a_registers, a, rows, integer_code(self.form.a));
  take_b(self.form, self.b_registers, b, columns, integer_code(self.form.b));
  each_result(self.form, c, d, [&](int row, int column, uint32_t addend) {
    int64_t sum = static_cast<int32_t>(addend);
    for (int j = 0; j < self.form.shape.k / 2; ++j)
      sum += int64_t{rows.at(row, j)} * columns.at(column, place_of(self, metadata, row, j));
    if (self.form.satfinite) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(sum);
  });
}

void floats(const SparseMma& self, Registers a, Registers b, Registers c, const uint32_t* metadata,
            void* const* d) {
  const MmaRules& rules = self.rules;
  const auto decoded_as = [&](MmaType type) {
    return [&rules, type, code = operand_code(type, rules.emulated)](uint32_t bits) {
      return decode(rules.emulated ? kF16 : format_of(type), code(bits));
    };
  };
  const int a_fraction = (rules.emulated ? kF16 : format_of(self.form.a)).fraction_bits;
  const int b_fraction = (rules.emulated ? kF16 : format_of(self.form.b)).fraction_bits;
  Matrix<Decoded> rows, columns;
  take_a(self.form, self.a_registers, a, rows, decoded_as(self.form.a));
  take_b(self.form, self.b_registers, b, columns, decoded_as(self.form.b));
  const auto length = static_cast<size_t>(rules.block_length);
  each_result(self.form, c, d, [&](int row, int column, uint32_t addend) {
    uint32_t sum = rules.emulated ? 0 : addend;
    std::array<Decoded, 32> x, y;
    for (int block = 0; block < self.form.shape.k / 2 / rules.block_length; ++block) {
      for (int i = 0; i < rules.block_length; ++i) {
        const int j = product_of_block(rules, block, i);
        x[i] = rows.at(row, j);
        y[i] = columns.at(column, place_of(self, metadata, row, j));
      }
      sum = block_sum({x.data(), length}, a_fraction, {y.data(), length}, b_fraction, sum,
                      rules.block);
    }
    return rules.emulated ? rounded_add(self.form.c, sum, addend) : sum;
  });
}

bool is_integer_form(const MmaForm& form) {
  const int k = form.shape.k;
  if (!is_integer(form)) return false;
  if (is_int8(form.a) && is_int8(form.b)) return k == 32 || k == 64;
  return is_int4(form.a) && is_int4(form.b) && (k == 64 || k == 128);
}

// The dense instruction with half of k.
std::optional<MmaRules> float_rules(const MmaForm& form, MmaTarget target) {
  MmaForm half = form;
  half.shape.k /= 2;
  return mma_rules(half, target);
}

bool selector_exists(const MmaForm& form, int selector) {
  return selector >= 0 && selector < 64 / metadata_bits(form);
}

int registers_for(int elements, MmaType type) { return elements * element_bits(type) / (32 * 32); }

}  // namespace

void SparseMma::run(const void* const* a, const void* const* b, const void* const* c,
                    const uint32_t* metadata, void* const* d) const {
  (is_integer(form) ? integers : floats)(*this, a, b, c, metadata, d);
}

std::optional<SparseMma> find_sparse_mma(const MmaForm& form, int selector, MmaTarget target) {
  const auto [m, n, k] = form.shape;
  if (target.sm < 80 || m != 16 || n != 8) return std::nullopt;
  const auto rules = float_rules(form, target);
  if (!rules && !is_integer_form(form)) return std::nullopt;
  if (!selector_exists(form, selector)) return std::nullopt;
  return SparseMma{form,
                   rules.value_or(MmaRules{}),
                   selector,
                   registers_for(m * k / 2, form.a),
                   registers_for(n * k, form.b),
                   registers_for(m * n, form.c)};
}

}  // namespace lw::arith
