// mma.sync on f64: every output is a chain of fma, k ascending. A vector holds the eight columns. A
// result that is NaN is computed again, one fma at a time, by the rule of which NaN survives
// (float64.h); so are all results of the other rounding modes, which wmma has.

#include <cstring>

#include "arith/float64.h"
#include "arith/fragments.h"
#include "arith/mma.h"

namespace lw::arith::LW_SIMD_NAMESPACE {

namespace {

using Registers = const void* const*;

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kLanes = 32;

struct Tiles {
  double a[kRows][16];
  double b[16][kColumns];
  double sums[kRows][kColumns];
};

double element(Registers registers, int r, int lane) {
  return static_cast<const double*>(registers[r])[lane];
}

void take_operands(const Mma& self, Registers a, Registers b, Registers c, Tiles& tiles) {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int r = 0; r < self.a_registers; ++r) {
      Place place = place_in_a(self.form.shape.m, 1, lane, r, 0);
      tiles.a[place.row][place.column] = element(a, r, lane);
    }
    for (int r = 0; r < self.b_registers; ++r) {
      Place place = place_in_b(1, lane, r, 0);
      tiles.b[place.row][place.column] = element(b, r, lane);
    }
    for (int r = 0; r < self.c_registers; ++r) {
      Place place = place_in_c(1, lane, r, 0);
      tiles.sums[place.row][place.column] = element(c, r, lane);
    }
  }
}

double chain(const Tiles& tiles, Place place, const MmaForm& form, double sum) {
  for (int k = 0; k < form.shape.k; ++k)
    sum = fma_f64(tiles.a[place.row][k], tiles.b[k][place.column], sum, form.rounding);
  return sum;
}

}  // namespace

void double_mma(const Mma& self, Registers a, Registers b, Registers c, void* const* d) {
  Tiles tiles;
  take_operands(self, a, b, c, tiles);
  for (int row = 0; row < self.form.shape.m; ++row)
    for (int k = 0; k < self.form.shape.k; ++k)
      for (int column = 0; column < kColumns; ++column)
        tiles.sums[row][column] =
            __builtin_fma(tiles.a[row][k], tiles.b[k][column], tiles.sums[row][column]);
  const bool nearest = self.form.rounding == Rounding::kNearestEven;
  double results[4][kLanes];
  for (int r = 0; r < self.c_registers; ++r)
    for (int lane = 0; lane < kLanes; ++lane) {
      Place place = place_in_c(1, lane, r, 0);
      double sum = tiles.sums[place.row][place.column];
      if (!nearest || is_nan(sum)) [[unlikely]]
        sum = chain(tiles, place, self.form, element(c, r, lane));
      results[r][lane] = sum;
    }
  for (int r = 0; r < self.c_registers; ++r) std::memcpy(d[r], results[r], sizeof results[r]);
}

}  // namespace lw::arith::LW_SIMD_NAMESPACE
