#include "machine/tensor_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "arith/half.h"
#include "base/check.h"

namespace lw::machine {
namespace {

constexpr uint32_t kChunkBytes = 16;  // what swizzling moves as one

// The part of [start, start + count) that lies in [0, size), as offsets from `start`.
struct Clip {
  int64_t begin;
  int64_t end;
};
Clip clip(int64_t start, int64_t count, uint64_t size) {
  const int64_t begin = std::clamp<int64_t>(-start, 0, count);
  const int64_t end = std::clamp<int64_t>(static_cast<int64_t>(size) - start, 0, count);
  return {begin, std::max(begin, end)};
}

// Counts through the outer dimensions of a box, dimension 1 fastest, and keeps the global address.
class OuterIndex {
 public:
  OuterIndex(const TensorMap& map, std::span<const int32_t> coordinates)
      : map_(map), coordinates_(coordinates) {}

  bool inside() const {
    for (uint32_t dim = 1; dim < map_.rank; ++dim) {
      const int64_t at = position(dim);
      if (at < 0 || at >= static_cast<int64_t>(map_.dims[dim])) return false;
    }
    return true;
  }
  uint64_t address() const {
    uint64_t address = map_.address;
    for (uint32_t dim = 1; dim < map_.rank; ++dim)
      address += static_cast<uint64_t>(position(dim)) * map_.strides_bytes[dim - 1];
    return address;
  }
  bool advance() {
    for (uint32_t dim = 1; dim < map_.rank; ++dim) {
      if (++index_[dim] < map_.box_elements(dim)) return true;
      index_[dim] = 0;
    }
    return false;
  }

 private:
  int64_t position(uint32_t dim) const {
    return int64_t{coordinates_[dim]} + int64_t{index_[dim]} * map_.element_strides[dim];
  }

  const TensorMap& map_;
  std::span<const int32_t> coordinates_;
  std::array<uint32_t, kMaxTensorRank> index_{};
};

// Calls `move(chunk_address, done, bytes)` for the pieces of a row that swizzling keeps together.
template <class Move>
void for_each_chunk(uint32_t address, uint32_t bytes, Swizzle swizzle, Move move) {
  for (uint32_t done = 0; done < bytes;) {
    const uint32_t at = address + done;
    const uint32_t piece = std::min(bytes - done, kChunkBytes - at % kChunkBytes);
    move(swizzled(at, swizzle), done, piece);
    done += piece;
  }
}

void fill_box(std::byte* window, uint32_t address, const TensorMap& map, uint32_t bytes) {
  std::array<uint16_t, kChunkBytes / 2> chunk;
  chunk.fill(map.fill == OutOfBoundsFill::nan ? arith::kOobNan : 0);
  for_each_chunk(address, bytes, map.swizzle, [&](uint32_t to, uint32_t, uint32_t piece) {
    std::memcpy(window + to, reinterpret_cast<const std::byte*>(chunk.data()) + to % 2, piece);
  });
}

bool rounds_to_tf32(TensorType type) {
  return type == TensorType::tf32 || type == TensorType::tf32_ftz;
}

uint32_t to_tf32(uint32_t bits) {
  constexpr uint32_t kDropped = 13;
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fffe000;
  const uint32_t half_to_even = 0xfff + (bits >> kDropped & 1);
  return (bits + half_to_even) >> kDropped << kDropped;
}

// A row of the tensor as shared memory gets it, in a copy.
using RowBytes = std::array<std::byte, 256 * 8>;
const std::byte* rounded_row(const std::byte* from, uint32_t bytes, RowBytes& copy) {
  for (uint32_t at = 0; at < bytes; at += 4) {
    uint32_t word;
    std::memcpy(&word, from + at, 4);
    word = to_tf32(word);
    std::memcpy(copy.data() + at, &word, 4);
  }
  return copy.data();
}

}  // namespace

std::string_view tile_refusal(const TensorMap& map) {
  if (map.im2col) return "the tensor map is of im2col mode";
  if (map.interleave != Interleave::none) return "the tensor map is interleaved";
  return {};
}

std::string tile_misuse(const TensorMap& map, std::span<const int32_t> coordinates,
                        TileDirection direction) {
  if (int64_t{coordinates[0]} * element_bytes(map.type) % kChunkBytes != 0)
    return fmt::format("coordinate {} of dimension 0 is not at a multiple of 16 bytes",
                       coordinates[0]);
  if (direction == TileDirection::load) return {};
  for (uint32_t dim = 0; dim < map.rank; ++dim)
    if (coordinates[dim] < 0)
      return fmt::format("a store starts at coordinate {} of dimension {}", coordinates[dim], dim);
  return {};
}

uint32_t row_pitch_bytes(const TensorMap& map) {
  return std::max(map.box[0] * element_bytes(map.type), swizzle_span_bytes(map.swizzle));
}

uint32_t box_rows(const TensorMap& map) {
  uint32_t rows = 1;
  for (uint32_t dim = 1; dim < map.rank; ++dim) rows *= map.box_elements(dim);
  return rows;
}

void tile_rows(const TensorMap& map, std::span<const int32_t> coordinates,
               std::vector<TileRow>& rows) {
  LW_CHECK(coordinates.size() == map.rank, coordinates.size(), map.rank);
  const uint32_t size = element_bytes(map.type);
  const uint32_t row_bytes = map.box[0] * size;
  const uint32_t pitch = row_pitch_bytes(map);
  const Clip inner = clip(coordinates[0], map.box[0], map.dims[0]);
  const int64_t first = int64_t{coordinates[0]} + inner.begin;
  const auto inside = static_cast<uint32_t>((inner.end - inner.begin) * size);
  const auto before = static_cast<uint32_t>(inner.begin * size);
  rows.clear();
  OuterIndex outer(map, coordinates);
  uint32_t offset = 0;
  do {
    TileRow row{0, offset, row_bytes, 0, 0};
    if (inside != 0 && outer.inside())
      row = {outer.address() + static_cast<uint64_t>(first * size), offset, before, inside,
             row_bytes - before - inside};
    rows.push_back(row);
    offset += pitch;
  } while (outer.advance());
}

void box_pieces(const TensorMap& map, uint32_t box_address, std::vector<SharedPiece>& pieces) {
  const uint32_t row_bytes = map.box[0] * element_bytes(map.type);
  const uint32_t pitch = row_pitch_bytes(map);
  pieces.clear();
  if (row_bytes == pitch) {
    pieces.push_back({box_address, pitch * box_rows(map)});
    return;
  }
  for (uint32_t row = 0; row < box_rows(map); ++row)
    for_each_chunk(box_address + row * pitch, row_bytes, map.swizzle,
                   [&](uint32_t at, uint32_t, uint32_t bytes) {
                     pieces.push_back({at, bytes});
                   });
  std::sort(pieces.begin(), pieces.end(),
            [](const SharedPiece& a, const SharedPiece& b) { return a.address < b.address; });
}

void copy_to_box(std::byte* window, uint32_t address, const std::byte* from, uint32_t bytes,
                 Swizzle swizzle) {
  if (swizzle == Swizzle::none) {
    std::memcpy(window + address, from, bytes);
    return;
  }
  for_each_chunk(address, bytes, swizzle, [&](uint32_t to, uint32_t done, uint32_t piece) {
    std::memcpy(window + to, from + done, piece);
  });
}

void copy_from_box(std::byte* to, const std::byte* window, uint32_t address, uint32_t bytes,
                   Swizzle swizzle) {
  if (swizzle == Swizzle::none) {
    std::memcpy(to, window + address, bytes);
    return;
  }
  for_each_chunk(address, bytes, swizzle, [&](uint32_t from, uint32_t done, uint32_t piece) {
    std::memcpy(to + done, window + from, piece);
  });
}

void load_row(std::byte* window, uint32_t box_address, const TensorMap& map, const TileRow& row,
              const std::byte* from) {
  const uint32_t start = box_address + row.offset;
  RowBytes rounded;
  if (rounds_to_tf32(map.type)) from = rounded_row(from, row.inside, rounded);
  fill_box(window, start, map, row.before);
  copy_to_box(window, start + row.before, from, row.inside, map.swizzle);
  fill_box(window, start + row.before + row.inside, map, row.after);
}

}  // namespace lw::machine
