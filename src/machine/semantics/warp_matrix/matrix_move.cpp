// ldmatrix, stmatrix and movmatrix of 8x8 matrices of 16-bit elements (PTX: Warp Level Matrix
// Instructions).
//
// Matrix m takes its eight rows of 16 bytes from the addresses of lanes 8m to 8m+7. In registers
// lane 4r+j holds elements 2j and 2j+1 of row r, so a row is four consecutive lanes of a slot, and
// a plain load is eight copies of 16 bytes. With `.trans` rows and columns change places.

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/parallel_synchronization/mbarrier_site.h"
#include "machine/semantics/shared_place.h"
#include "machine/semantics/telling.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using base::kWarpSize;
using ptx::Mod;
using ptx::Type;

// Op: a address, b its displacement; more: the registers.
constexpr uint16_t kTransposed = 4;
constexpr uint32_t kRows = 8;
constexpr uint32_t kRowBytes = 16;

using Matrix = std::array<std::array<uint16_t, 8>, 8>;  // as it stands in a slot, too
static_assert(sizeof(Matrix) == kWarpSize * sizeof(uint32_t));

Matrix transposed(const Matrix& matrix) {
  Matrix result;
  for (uint32_t row = 0; row < kRows; ++row)
    for (uint32_t column = 0; column < kRows; ++column) result[column][row] = matrix[row][column];
  return result;
}

using RowOffsets = std::array<uint32_t, kWarpSize>;

// The offsets of the rows in shared memory, told to the order engine; false after a fault.
bool find_rows(const Op& op, Warp& warp, order::Kind kind, RowOffsets& rows) {
  if (!warp.require_aligned(op)) return false;
  const AddressOperand operand{op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
  const uint32_t count = kRows * op.extra;
  for (uint32_t lane = 0; lane < count; ++lane) {
    const auto offset =
        shared_offset(op, warp, operand, static_cast<int>(lane), kRowBytes, kRowBytes);
    if (!offset) return false;
    rows[lane] = *offset;
    if (const auto* object = warp.cta->sync.mbarriers.overlapping(*offset, kRowBytes)) {
      report(op, warp, *object, 1u << lane, "a row of a matrix overlaps it", diagnose::RuleId::kE3);
      return false;
    }
  }
  const Telling telling(op, warp);
  if (warp.order)
    warp.order->matrix_rows(*warp.order_warp, op.instruction, warp.active,
                            count == kWarpSize ? base::kAllLanes : (1u << count) - 1, rows.data(),
                            kRowBytes, kind);
  return true;
}

void run_load(const Op& op, Warp& warp) {
  RowOffsets rows;
  if (!find_rows(op, warp, order::Kind::kRead, rows)) return;
  const Slot* slots = warp.program->more(op);
  for (uint32_t index = 0; index < op.extra; ++index) {
    Matrix matrix;
    for (uint32_t row = 0; row < kRows; ++row)
      std::memcpy(&matrix[row], warp.shared + rows[kRows * index + row], kRowBytes);
    if (op.detail & kTransposed) matrix = transposed(matrix);
    std::memcpy(warp.lanes<uint32_t>(slots[index]), &matrix, sizeof matrix);
  }
}

void run_store(const Op& op, Warp& warp) {
  RowOffsets rows;
  if (!find_rows(op, warp, order::Kind::kWrite, rows)) return;
  const Slot* slots = warp.program->more(op);
  for (uint32_t index = 0; index < op.extra; ++index) {
    Matrix matrix;
    std::memcpy(&matrix, warp.lanes<uint32_t>(slots[index]), sizeof matrix);
    if (op.detail & kTransposed) matrix = transposed(matrix);
    for (uint32_t row = 0; row < kRows; ++row)
      std::memcpy(warp.shared + rows[kRows * index + row], &matrix[row], kRowBytes);
  }
}

void run_transpose(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return;
  Matrix matrix;
  std::memcpy(&matrix, warp.lanes<uint32_t>(op.a), sizeof matrix);
  matrix = transposed(matrix);
  std::memcpy(warp.lanes<uint32_t>(op.d), &matrix, sizeof matrix);
  if (warp.order) warp.order->warp_meet(*warp.order_warp, warp.active);
}

void bind_move(Decoder& decoder, program::Handlers handlers, const ptx::Operand& place,
               std::span<const Slot> registers) {
  const AddressOperand address = address_operand(decoder, place);
  Op& op = decoder.emit(handlers, {}, address.base, address.displacement);
  op.detail =
      static_cast<uint16_t>(address_bits(address) | (decoder.has(Mod::trans) ? kTransposed : 0));
  decoder.attach(op, registers);
}

}  // namespace

void bind_ldmatrix(Decoder& decoder) {
  const auto registers = decoder.results(decoder.operand(0), Type::b32);
  bind_move(decoder, aligned_handlers<run_load>, decoder.operand(1), registers);
}

void bind_stmatrix(Decoder& decoder) {
  const auto registers = decoder.sources(decoder.operand(1), Type::b32);
  bind_move(decoder, aligned_handlers<run_store>, decoder.operand(0), registers);
}

void bind_movmatrix(Decoder& decoder) {
  decoder.emit(aligned_handlers<run_transpose>, decoder.result(decoder.operand(0), Type::b32),
               decoder.source(decoder.operand(1), Type::b32));
}

}  // namespace lw::machine
