// ldmatrix, stmatrix and movmatrix (PTX: Warp Level Matrix Instructions).
//
// 8x8 matrices of 16-bit elements: matrix m takes its eight rows of 16 bytes from the addresses of
// lanes 8m to 8m+7. In registers lane 4r+j holds elements 2j and 2j+1 of row r, so a row is four
// consecutive lanes of a slot, and a plain load is eight copies of 16 bytes. With `.trans` rows and
// columns change places.
//
// Bytes: an 8x16 matrix is the same with four bytes a lane; rows of 4- or 6-bit elements, packed at
// the start of their 16 bytes, are widened with zeros. A 16x16 matrix has 16 rows from 16 lanes; it
// is always transposed: lane 4r+j holds bytes r (first register) and r + 8 (second) of rows 4j to
// 4j+3. A 16x8 matrix is stored transposed: row 2j + e is bytes r and r + 8 from elements e and
// e + 2 of lane 4r+j. (The layouts of 16x16 and 16x8 are those that kernels on sm_100 and sm_120
// rely on; we have no such device.)

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
constexpr uint16_t kFourBits = 8;  // elements in memory
constexpr uint16_t kSixBits = 16;
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

// The offsets of `count` rows, if all lie where they should, and no mbarrier object in their midst.
template <class Address>
bool find_plain_rows(const Warp& warp, const AddressOperand& operand, uint32_t count,
                     RowOffsets& rows) {
  const uint64_t window = program::kSharedBase + (operand.generic ? Memory::kSharedWindow : 0);
  const auto add = static_cast<Address>(warp.lanes<uint64_t>(operand.displacement)[0]);
  const Address* base = warp.lanes<Address>(operand.base);
  uint64_t low = UINT64_MAX, high = 0, all = 0;
  for (uint32_t lane = 0; lane < count; ++lane) {
    const uint64_t offset = static_cast<Address>(base[lane] + add) - window;
    rows[lane] = static_cast<uint32_t>(offset);
    low = offset < low ? offset : low;
    high = offset > high ? offset : high;
    all |= offset;
  }
  const bool inside = high < warp.shared_bytes && warp.shared_bytes - high >= kRowBytes;
  const bool clear = low >= warp.objects_end || high + kRowBytes <= warp.objects_begin;
  return inside && clear && all % kRowBytes == 0;
}

// The same of any rows; false after a fault.
bool find_each_row(const Op& op, Warp& warp, const AddressOperand& operand, uint32_t count,
                   RowOffsets& rows) {
  for (uint32_t lane = 0; lane < count; ++lane) {
    const auto offset =
        shared_offset(op, warp, operand, static_cast<int>(lane), kRowBytes, kRowBytes);
    if (!offset) return false;
    rows[lane] = *offset;
    if (const auto* object = warp.cta->sync.mbarriers.overlapping(*offset, kRowBytes)) {
      report(op, warp, *warp.cta, *object, 1u << lane, "a row of a matrix overlaps it",
             diagnose::RuleId::kE3);
      return false;
    }
  }
  return true;
}

// The offsets of `count` rows in shared memory, told to the order engine; false after a fault.
bool find_rows(const Op& op, Warp& warp, order::Kind kind, uint32_t count, RowOffsets& rows) {
  if (!warp.require_aligned(op)) return false;
  const AddressOperand operand{op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
  const bool plain = operand.wide ? find_plain_rows<uint64_t>(warp, operand, count, rows)
                                  : find_plain_rows<uint32_t>(warp, operand, count, rows);
  if (!plain && !find_each_row(op, warp, operand, count, rows)) return false;
  const Telling telling(op, warp);
  if (warp.order)
    warp.order->matrix_rows(*warp.order_warp, op.instruction, warp.active,
                            count == kWarpSize ? base::kAllLanes : (1u << count) - 1, rows.data(),
                            kRowBytes, kind);
  return true;
}

void run_load(const Op& op, Warp& warp) {
  RowOffsets rows;
  if (!find_rows(op, warp, order::Kind::kRead, kRows * op.extra, rows)) return;
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
  if (!find_rows(op, warp, order::Kind::kWrite, kRows * op.extra, rows)) return;
  const Slot* slots = warp.program->more(op);
  for (uint32_t index = 0; index < op.extra; ++index) {
    Matrix matrix;
    std::memcpy(&matrix, warp.lanes<uint32_t>(slots[index]), sizeof matrix);
    if (op.detail & kTransposed) matrix = transposed(matrix);
    for (uint32_t row = 0; row < kRows; ++row)
      std::memcpy(warp.shared + rows[kRows * index + row], &matrix[row], kRowBytes);
  }
}

using Row = std::array<uint8_t, kRowBytes>;

// A row of 16 bytes, widened from shorter elements if it has such.
Row load_row(const Warp& warp, uint32_t offset, uint16_t detail) {
  Row row;
  std::memcpy(&row, warp.shared + offset, kRowBytes);
  const uint32_t bits = detail & kFourBits ? 4 : detail & kSixBits ? 6 : 8;
  if (bits == 8) return row;
  Row wide;
  for (uint32_t i = 0; i < kRowBytes; ++i) {
    const uint32_t at = bits * i;
    const uint32_t pair = row[at / 8] | uint32_t{row[(at / 8 + 1) % kRowBytes]} << 8;
    wide[i] = static_cast<uint8_t>(pair >> (at % 8) & ((1u << bits) - 1));
  }
  return wide;
}

// 8x16 bytes: a row is four lanes.
void run_load_bytes(const Op& op, Warp& warp) {
  RowOffsets rows;
  if (!find_rows(op, warp, order::Kind::kRead, kRows * op.extra, rows)) return;
  const Slot* slots = warp.program->more(op);
  for (uint32_t index = 0; index < op.extra; ++index)
    for (uint32_t row = 0; row < kRows; ++row) {
      const Row bytes = load_row(warp, rows[kRows * index + row], op.detail);
      std::memcpy(warp.lanes<uint32_t>(slots[index]) + 4 * row, &bytes, kRowBytes);
    }
}

// 16x16 bytes, transposed, in two registers.
void run_load_square(const Op& op, Warp& warp) {
  RowOffsets rows;
  if (!find_rows(op, warp, order::Kind::kRead, kRows * op.extra, rows)) return;
  const Slot* slots = warp.program->more(op);
  for (uint32_t index = 0; index < op.extra; index += 2)
    for (uint32_t row = 0; row < 16; ++row) {
      const Row bytes = load_row(warp, rows[kRows * index + row], op.detail);
      for (uint32_t column = 0; column < kRowBytes; ++column) {
        auto* lanes = warp.lanes<uint8_t>(slots[index + column / 8]);
        lanes[4 * (4 * (column % 8) + row / 4) + row % 4] = bytes[column];
      }
    }
}

// 16x8 bytes, transposed: eight rows of 16.
void run_store_bytes(const Op& op, Warp& warp) {
  RowOffsets rows;
  if (!find_rows(op, warp, order::Kind::kWrite, kRows * op.extra, rows)) return;
  const Slot* slots = warp.program->more(op);
  for (uint32_t index = 0; index < op.extra; ++index) {
    const auto* lanes = warp.lanes<uint8_t>(slots[index]);
    for (uint32_t row = 0; row < kRows; ++row) {
      Row bytes;
      for (uint32_t column = 0; column < kRowBytes; ++column)
        bytes[column] = lanes[4 * (4 * (column % 8) + row / 2) + row % 2 + column / 8 * 2];
      std::memcpy(warp.shared + rows[kRows * index + row], &bytes, kRowBytes);
    }
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

// Of what is in memory: `.b8x16.b4x16_p64`.
uint16_t format_bits(const Decoder& decoder) {
  const auto& types = decoder.opcode().types;
  if (types.size() < 2) return 0;
  return types[1] == Type::b4x16_p64 ? kFourBits : kSixBits;
}

void bind_move(Decoder& decoder, program::Handlers handlers, const ptx::Operand& place,
               std::span<const Slot> registers) {
  const AddressOperand address = address_operand(decoder, place);
  Op& op = decoder.emit(handlers, {}, address.base, address.displacement);
  op.detail = static_cast<uint16_t>(
      address_bits(address) | (decoder.has(Mod::trans) ? kTransposed : 0) | format_bits(decoder));
  decoder.attach(op, registers);
}

void bind_load(Decoder& decoder, program::Handlers handlers) {
  const auto registers = decoder.results(decoder.operand(0), Type::b32);
  bind_move(decoder, handlers, decoder.operand(1), registers);
}
void bind_store(Decoder& decoder, program::Handlers handlers) {
  const auto registers = decoder.sources(decoder.operand(1), Type::b32);
  bind_move(decoder, handlers, decoder.operand(0), registers);
}

}  // namespace

void bind_ldmatrix(Decoder& decoder) { bind_load(decoder, aligned_handlers<run_load>); }
void bind_ldmatrix_unpack(Decoder& decoder) {
  bind_load(decoder, aligned_handlers<run_load_bytes>);
}
void bind_ldmatrix_m16n16(Decoder& decoder) {
  bind_load(decoder, aligned_handlers<run_load_square>);
}
void bind_ldmatrix_m16n16_unpack(Decoder& decoder) {
  bind_load(decoder, aligned_handlers<run_load_square>);
}
void bind_stmatrix(Decoder& decoder) { bind_store(decoder, aligned_handlers<run_store>); }
void bind_stmatrix_m16n8(Decoder& decoder) {
  bind_store(decoder, aligned_handlers<run_store_bytes>);
}

void bind_movmatrix(Decoder& decoder) {
  decoder.emit(aligned_handlers<run_transpose>, decoder.result(decoder.operand(0), Type::b32),
               decoder.source(decoder.operand(1), Type::b32));
}

}  // namespace lw::machine
