#pragma once
// Where the bytes of one tensor tile go: the geometry of `cp.async.bulk.tensor` and
// `cp.reduce.async.bulk.tensor` in tile mode (PTX: Tensors; Data Movement, bulk tensor copies).
//
// A tile is a box of elements laid out row by row in shared memory, dimension 0 innermost, and
// spread over global memory by the strides of the tensor map. The part of a row inside the tensor
// is one contiguous piece on both sides; the rest is filled on a load and skipped on a store.
// Swizzling exchanges 16-byte chunks inside a line of 128 bytes by bits of the shared-memory
// *address*, so it is applied last, chunk by chunk.
//
// What the manual leaves open was measured on an H200 (tests/agree/tensor_copies.tsv, 2026-11-30):
//   - a row narrower than the span of its swizzle takes the whole span, and the gap keeps its
//   bytes;
//   - fill with NaN is 0x7ff7 in every 16 bits, whatever the type;
//   - `.tf32` rounds to nearest even on a load, NaN gives 7fffe000; `.ftz` flushes nothing;
//   - the innermost coordinate must be at a multiple of 16 bytes, and a store must not start at a
//     negative coordinate: the hardware takes either for an illegal instruction.
// misses: where the last row part in a tensor does not end at 16 bytes, the hardware stores 1-byte
// elements and reduces 2-byte ones in whole chunks of 16 bytes, past the size of the tensor; we
// follow the manual and do not.
//
// Limits: interleaved layouts and im2col are refused by `tile_refusal`, never half done.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/tensor_map.h"

namespace lw::machine {

// One row of a box. Bytes: `before` outside the tensor, `inside`, `after` outside again.
struct TileRow {
  uint64_t global = 0;  // of the first byte inside
  uint32_t offset = 0;  // of the row in the box, before swizzling
  uint32_t before = 0;
  uint32_t inside = 0;
  uint32_t after = 0;
};

struct SharedPiece {
  uint32_t address = 0;
  uint32_t bytes = 0;
};

enum class TileDirection : uint8_t { load, store };

// Why tile mode is not modelled for this map, empty if it is.
std::string_view tile_refusal(const TensorMap& map);
// Why the hardware refuses these coordinates, empty if it does not.
std::string tile_misuse(const TensorMap& map, std::span<const int32_t> coordinates,
                        TileDirection direction);

// From one row of a box to the next.
uint32_t row_pitch_bytes(const TensorMap& map);
uint32_t box_rows(const TensorMap& map);

// The rows of the box at `coordinates` (elements, one per dimension), in order of their offset.
void tile_rows(const TensorMap& map, std::span<const int32_t> coordinates,
               std::vector<TileRow>& rows);

// The bytes of shared memory that a whole box at `box_address` covers, in ascending order.
void box_pieces(const TensorMap& map, uint32_t box_address, std::vector<SharedPiece>& pieces);

// A shared-memory address after swizzling.
constexpr uint32_t swizzled(uint32_t address, Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      return address;
    case Swizzle::b32:
      return address ^ ((address >> 3) & 0x10);
    case Swizzle::b64:
      return address ^ ((address >> 3) & 0x30);
    case Swizzle::b128:
      return address ^ ((address >> 3) & 0x70);
  }
  return address;
}

// `window` is where shared address 0 would be in our memory; `address` a shared address.
void copy_to_box(std::byte* window, uint32_t address, const std::byte* from, uint32_t bytes,
                 Swizzle swizzle);
void copy_from_box(std::byte* to, const std::byte* window, uint32_t address, uint32_t bytes,
                   Swizzle swizzle);

// Writes one row of a load: the fill around the `inside` bytes of `from`.
void load_row(std::byte* window, uint32_t box_address, const TensorMap& map, const TileRow& row,
              const std::byte* from);

}  // namespace lw::machine
