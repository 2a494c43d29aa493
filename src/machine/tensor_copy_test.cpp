#include "machine/tensor_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "machine/bulk_reduce.h"

namespace lw::machine {
namespace {

TensorMap map_2d(TensorType type, uint64_t columns, uint64_t rows, uint32_t box_columns,
                 uint32_t box_rows) {
  TensorMap map;
  map.type = type;
  map.rank = 2;
  map.dims = {columns, rows, 1, 1, 1};
  map.strides_bytes = {(columns * element_bytes(type) + 15) / 16 * 16, 0, 0, 0};
  map.box = {box_columns, box_rows, 1, 1, 1};
  return map;
}

std::vector<TileRow> rows_at(const TensorMap& map, std::vector<int32_t> coordinates) {
  std::vector<TileRow> rows;
  tile_rows(map, coordinates, rows);
  return rows;
}

TEST(TensorCopyTest, RowsAreClippedOnBothSides) {
  const std::vector<TileRow> rows = rows_at(map_2d(TensorType::u16, 20, 3, 16, 4), {-8, 1});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].before, 16u);
  EXPECT_EQ(rows[0].inside, 16u);
  EXPECT_EQ(rows[0].after, 0u);
  EXPECT_EQ(rows[0].global, 48u);
  EXPECT_EQ(rows[1].global, 96u);
  EXPECT_EQ(rows[1].offset, 32u);
  EXPECT_EQ(rows[2].inside, 0u);
  EXPECT_EQ(rows[2].before, 32u);
}

TEST(TensorCopyTest, BoxesPastTheEndAreAllOutside) {
  for (int32_t column : {32, -16})
    for (const TileRow& row : rows_at(map_2d(TensorType::u16, 20, 3, 16, 2), {column, 0})) {
      EXPECT_EQ(row.inside, 0u);
      EXPECT_EQ(row.before + row.after, 32u);
    }
}

TEST(TensorCopyTest, NarrowRowsLeaveGaps) {
  TensorMap map = map_2d(TensorType::u16, 64, 64, 8, 9);
  map.swizzle = Swizzle::b32;
  EXPECT_EQ(row_pitch_bytes(map), 32u);
  std::vector<SharedPiece> pieces;
  box_pieces(map, 1024, pieces);
  ASSERT_EQ(pieces.size(), 9u);
  EXPECT_EQ(pieces[0].address, 1024u);
  EXPECT_EQ(pieces[4].address, 1024u + 128 + 16);
  map.box[0] = 16;
  box_pieces(map, 1024, pieces);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].bytes, 9u * 32);
}

TEST(TensorCopyTest, TellsCoordinatesThatTheHardwareRefuses) {
  const TensorMap map = map_2d(TensorType::f32, 64, 64, 8, 8);
  EXPECT_EQ(tile_misuse(map, std::vector<int32_t>{-4, -1}, TileDirection::load), "");
  EXPECT_EQ(tile_misuse(map, std::vector<int32_t>{-3, 0}, TileDirection::load),
            "coordinate -3 of dimension 0 is not at a multiple of 16 bytes");
  EXPECT_EQ(tile_misuse(map, std::vector<int32_t>{4, -1}, TileDirection::store),
            "a store starts at coordinate -1 of dimension 1");
}

// The rest holds us against an H200: tests/agree/tensor_copies.tsv.

constexpr uint32_t kBufferBytes = 1 << 20;
constexpr uint32_t kSharedBytes = 48 << 10;

uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  return x ^ (x >> 16);
}

// Patterns: 0 any bits; 1 f32 with subnormals, NaNs and ties; 2 f16 and 3 bf16 with the like.
uint32_t f32_like(uint32_t bits) {
  switch (mix(bits) & 7) {
    case 0:
      return bits & 0x807fffff;
    case 1:
      return bits | 0x7f800000;
    case 2:
      return (bits & 0xffffe000) | 0x1000;
    case 3:
      return (bits & 0xffffe000) | 0x1001;
    case 4:
      return bits & 0x80000000;
    case 5:
      return (bits & 0x87ffffff) | 0x38000000;
    default:
      return bits;
  }
}

uint32_t halves_like(uint32_t bits, int pattern) {
  const bool f16 = pattern == 2;
  uint32_t both = 0;
  for (uint32_t half = 0; half < 2; ++half) {
    uint32_t value = bits >> (16 * half) & 0xffff;
    switch (mix(bits + half) & 3) {
      case 0:
        value &= f16 ? 0x83ff : 0x807f;
        break;
      case 1:
        value = f16 ? (value & 0x8fff) | 0x3000 : (value & 0x87ff) | 0x3800;
        break;
      case 2:
        value |= value & 1 ? 0 : f16 ? 0x7c00 : 0x7f80;
        break;
    }
    both |= value << (16 * half);
  }
  return both;
}

std::vector<std::byte> filled(uint32_t bytes, uint32_t seed, int pattern) {
  std::vector<std::byte> memory(bytes);
  for (uint32_t index = 0; index < bytes / 4; ++index) {
    const uint32_t bits = mix(index * 2654435761u + seed);
    const uint32_t word = pattern == 0   ? bits
                          : pattern == 1 ? f32_like(bits)
                                         : halves_like(bits, pattern);
    std::memcpy(memory.data() + 4 * index, &word, 4);
  }
  return memory;
}

uint64_t hash(std::span<const std::byte> memory) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t at = 0; at < memory.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, memory.data() + at, 8);
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 32;
  }
  return hash;
}

struct Sample {
  TensorMap map;
  std::vector<int32_t> coordinates;
  uint32_t box_offset = 0;
  std::string action;
  int pattern = 0;
  uint32_t seed = 0;
  uint64_t expected = 0;
};

std::vector<Sample> read_samples() {
  std::ifstream file(LW_SOURCE_DIR "/tests/agree/tensor_copies.tsv");
  std::vector<Sample> samples;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string map, coordinates, hash;
    Sample sample;
    fields >> map >> coordinates >> sample.box_offset >> sample.action >> sample.pattern >>
        sample.seed >> hash;
    TensorMapBytes bytes{};
    for (size_t at = 0; at < map.size() / 2; ++at)
      bytes[at] = static_cast<uint8_t>(std::stoul(map.substr(2 * at, 2), nullptr, 16));
    sample.map = decode_tensor_map(bytes).map;
    std::istringstream list(coordinates);
    for (std::string number; std::getline(list, number, ',');)
      sample.coordinates.push_back(std::stoi(number));
    sample.expected = std::stoull(hash, nullptr, 16);
    samples.push_back(sample);
  }
  return samples;
}

uint64_t load_hash(const Sample& sample) {
  const auto buffer = filled(kBufferBytes, 77 + sample.seed, sample.pattern);
  std::vector<std::byte> shared(kSharedBytes, std::byte{0xee});
  for (const TileRow& row : rows_at(sample.map, sample.coordinates))
    load_row(shared.data(), sample.box_offset, sample.map, row, buffer.data() + row.global);
  return hash(shared);
}

std::optional<ReduceOp> reduction(const std::string& name) {
  static const std::map<std::string, ReduceOp> kNames = {
      {"add", ReduceOp::add},    {"min", ReduceOp::min},     {"max", ReduceOp::max},
      {"inc", ReduceOp::inc},    {"dec", ReduceOp::dec},     {"and", ReduceOp::and_bits},
      {"or", ReduceOp::or_bits}, {"xor", ReduceOp::xor_bits}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

uint64_t store_hash(const Sample& sample) {
  auto buffer = filled(kBufferBytes, 77 + sample.seed, sample.pattern);
  const auto shared = filled(kSharedBytes, 1000 + sample.seed, sample.pattern);
  std::vector<std::byte> row_bytes(4096);
  for (const TileRow& row : rows_at(sample.map, sample.coordinates)) {
    copy_from_box(row_bytes.data(), shared.data(), sample.box_offset + row.offset + row.before,
                  row.inside, sample.map.swizzle);
    if (auto op = reduction(sample.action))
      reduce_elements(buffer.data() + row.global, row_bytes.data(), row.inside, *op,
                      *reduce_type_of(sample.map.type));
    else
      std::memcpy(buffer.data() + row.global, row_bytes.data(), row.inside);
  }
  return hash(buffer);
}

TEST(TensorCopyTest, AgreesWithAnH200) {
  const std::vector<Sample> samples = read_samples();
  ASSERT_GT(samples.size(), 200u);
  for (const Sample& sample : samples) {
    SCOPED_TRACE(sample.action + " " + std::to_string(sample.seed));
    EXPECT_EQ(sample.action == "load" ? load_hash(sample) : store_hash(sample), sample.expected);
  }
}

}  // namespace
}  // namespace lw::machine
