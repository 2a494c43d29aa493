// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in tile mode, and the prefetch (PTX: Data
// Movement, bulk tensor copies).
//
// The tensor map's 128 bytes are read when the copy is issued: what it touches is known from then
// on. tensor_copy.h turns map and coordinates into rows; here the rows are checked against the
// buffers, told to the order engine as ranges, and moved at the two milestones. A pair of CTAs
// (cta_group::2) may signal the other one's mbarrier; a multicast is a copy and a signal at the
// same places of each CTA. im2col, gather, scatter, and multicasts of a pair are not modelled.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/asynchronous_copy/bulk_sites.h"
#include "machine/semantics/bind.h"
#include "machine/tensor_copy.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

// Op: a mask of CTAs; more: the shared address, the map's, the mbarrier's, then the coordinates.
// Bits of `detail`: of the shared address and the mbarrier's; dimensions. `immediate`: 1 +
// ReduceOp.
constexpr uint32_t kSharedAt = 0, kMapAt = 2, kSignalAt = 4, kCoordinatesAt = 6;
constexpr int kSharedBits = 0, kMapBits = 2, kSignalBits = 4;
constexpr uint16_t kMulticast = 1 << 6;
constexpr uint16_t kPair = 1 << 7;
constexpr int kDimensionsShift = 8;
constexpr uint32_t kDimensions = 7;
constexpr uint16_t kCluster = 1 << 11;  // the destination may be another CTA's
constexpr uint32_t kBoxAlignment = 128;
constexpr uint32_t kElement = 16;

uint32_t dimensions_of(const Op& op) { return op.detail >> kDimensionsShift & kDimensions; }

// One tile: its map, its rows and where their bytes inside the tensor are in our memory.
struct Tile {
  TensorMap map;
  Cta* box_in = nullptr;
  uint32_t box_offset = 0;
  std::vector<TileRow> rows;
  std::vector<std::byte*> data;
  std::vector<order::Range> global;
  std::vector<order::Range> shared;
};

class TileLoad final : public SignalledLoad {
 public:
  TileLoad(const Op& op, Warp& warp, const LoadTarget& target, Tile tile)
      : SignalledLoad(op, warp, target, tile.map.box_bytes()), tile_(std::move(tile)) {}

  void perform_read(Machine&) override {
    for (size_t index = 0; index < tile_.rows.size(); ++index)
      bytes_.insert(bytes_.end(), tile_.data[index], tile_.data[index] + tile_.rows[index].inside);
  }

 private:
  void write_shared(std::byte* shared) override {
    const std::byte* from = bytes_.data();
    for (const TileRow& row : tile_.rows) {
      load_row(shared, tile_.box_offset, tile_.map, row, from);
      from += row.inside;
    }
  }

  Tile tile_;
  std::vector<std::byte> bytes_;
};

class TileStore final : public GroupedStore {
 public:
  TileStore(const Op& op, Warp& warp, Tile tile) : GroupedStore(op, warp), tile_(std::move(tile)) {}

 private:
  void read_shared() override {
    size_t total = 0;
    for (const TileRow& row : tile_.rows) total += row.inside;
    bytes_.resize(total);
    std::byte* to = bytes_.data();
    for (const TileRow& row : tile_.rows) {
      copy_from_box(to, warp_.shared, tile_.box_offset + row.offset + row.before, row.inside,
                    tile_.map.swizzle);
      to += row.inside;
    }
  }
  void write_global() override {
    const std::byte* from = bytes_.data();
    for (size_t index = 0; index < tile_.rows.size(); ++index) {
      const uint32_t bytes = tile_.rows[index].inside;
      if (op_.immediate == 0) {
        std::memcpy(tile_.data[index], from, bytes);
      } else {
        reduce_elements(tile_.data[index], from, bytes, static_cast<ReduceOp>(op_.immediate - 1),
                        *reduce_type_of(tile_.map.type));
      }
      from += bytes;
    }
  }

  Tile tile_;
  std::vector<std::byte> bytes_;
};

// The 128 bytes at a generic address, null if there are none.
const std::byte* map_bytes(const Warp& warp, uint64_t address) {
  const auto within = [&](std::span<const std::byte> bytes, uint64_t offset) {
    return offset <= bytes.size() && bytes.size() - offset >= kTensorMapBytes
               ? bytes.data() + offset
               : nullptr;
  };
  switch (Memory::kind(address)) {
    case RegionKind::global:
      return warp.machine->memory().resolve(address, kTensorMapBytes);
    case RegionKind::param:
      return within(warp.cta->launch->request.parameters, address - Memory::kParamWindow);
    case RegionKind::constant:
      return within(warp.machine->modules().constants(), address - Memory::kConstantWindow);
    default:
      return nullptr;
  }
}

bool invalid_map(const Op& op, Warp& warp, int lane, uint64_t address, std::string why) {
  warp.fail_at(op, FaultKind::tensor_map_invalid, std::move(why), 1u << lane, address,
               kTensorMapBytes);
  return false;
}

bool read_map(const Op& op, Warp& warp, int lane, TensorMap& map) {
  const uint64_t address =
      address_of_lane(warp, attached_address(op, warp, kMapAt, kMapBits), lane);
  const std::byte* bytes = map_bytes(warp, address);
  if (bytes == nullptr) return invalid_map(op, warp, lane, address, "no tensor map is there");
  constexpr uint64_t kMapAlignment = 64;
  if (address % kMapAlignment != 0)
    return invalid_map(op, warp, lane, address, "the tensor map is not at a multiple of 64 bytes");
  TensorMapBytes raw;
  std::memcpy(raw.data(), bytes, kTensorMapBytes);
  DecodedTensorMap decoded = decode_tensor_map(raw);
  if (!decoded.fault.empty())
    return invalid_map(op, warp, lane, address, "not a tensor map: " + decoded.fault);
  if (decoded.map.rank != dimensions_of(op))
    return invalid_map(op, warp, lane, address,
                       fmt::format("the copy is of {} dimensions, the tensor map of {}",
                                   dimensions_of(op), decoded.map.rank));
  map = decoded.map;
  return true;
}

void add_range(std::vector<order::Range>& ranges, uint64_t base, uint64_t bytes) {
  if (!ranges.empty() && ranges.back().base + ranges.back().bytes == base) {
    ranges.back().bytes += bytes;
  } else {
    ranges.push_back({base, bytes});
  }
}

// Where the rows are in global memory; reports a row outside every buffer.
bool find_rows(const Op& op, Warp& warp, int lane, Tile& tile) {
  for (const TileRow& row : tile.rows) {
    std::byte* data = nullptr;
    if (row.inside != 0) {
      data = global_bytes(op, warp, row.global, row.inside, lane);
      if (data == nullptr) return false;
      add_range(tile.global, row.global, row.inside);
    }
    tile.data.push_back(data);
  }
  return true;
}

LoadOperands load_operands(const Op& op, const Warp& warp) {
  return {.to = attached_address(op, warp, kSharedAt, kSharedBits),
          .signal = attached_address(op, warp, kSignalAt, kSignalBits),
          .in_cluster = (op.detail & kCluster) != 0,
          .multicast = (op.detail & kMulticast) != 0,
          .ranks = op.a,
          .signals_pair = (op.detail & kPair) != 0};
}

bool find_box(const Op& op, Warp& warp, int lane, Tile& tile) {
  const uint32_t span = row_pitch_bytes(tile.map) * box_rows(tile.map);
  const auto place = load_place(op, warp, lane, load_operands(op, warp), span, kBoxAlignment);
  if (!place) return false;
  tile.box_in = place->cta;
  tile.box_offset = place->offset;
  std::vector<SharedPiece> pieces;
  box_pieces(tile.map, place->offset, pieces);
  for (const SharedPiece& piece : pieces) add_range(tile.shared, piece.address, piece.bytes);
  return true;
}

bool is_box_free(const Op& op, Warp& warp, const Cta& owner, int lane, const Tile& tile) {
  return std::ranges::all_of(tile.shared, [&](const order::Range& range) {
    return is_free_of_objects(op, warp, owner, static_cast<uint32_t>(range.base),
                              static_cast<uint32_t>(range.bytes), lane);
  });
}

std::optional<Tile> tile_of(const Op& op, Warp& warp, int lane, TileDirection direction) {
  Tile tile;
  if (!read_map(op, warp, lane, tile.map)) return std::nullopt;
  if (auto why = tile_refusal(tile.map); !why.empty()) {
    warp.not_analysed(op, std::string(why));
    return std::nullopt;
  }
  std::array<int32_t, kMaxTensorRank> coordinates{};
  const Slot* slots = warp.program->more(op) + kCoordinatesAt;
  for (uint32_t dim = 0; dim < tile.map.rank; ++dim)
    coordinates[dim] = warp.lanes<int32_t>(slots[dim])[lane];
  const std::span used(coordinates.data(), tile.map.rank);
  if (std::string why = tile_misuse(tile.map, used, direction); !why.empty()) {
    warp.fail(op, FaultKind::bulk_misuse, std::move(why), 1u << lane);
    return std::nullopt;
  }
  tile_rows(tile.map, used, tile.rows);
  if (!find_box(op, warp, lane, tile) || !find_rows(op, warp, lane, tile)) return std::nullopt;
  return tile;
}

void load_lane(const Op& op, Warp& warp, int lane) {
  std::optional<Tile> tile = tile_of(op, warp, lane, TileDirection::load);
  if (!tile) return;
  const order::AsyncAccess from = global_access(order::Kind::kRead, tile->global, kElement);
  const LoadOperands operands = load_operands(op, warp);
  for (const LoadTarget& target : load_targets(op, warp, lane, operands, *tile->box_in)) {
    if (!is_box_free(op, warp, *target.to, lane, *tile)) return;
    start_load(op, warp, lane, target, {from, tile->shared},
               std::make_unique<TileLoad>(op, warp, target, *tile));
  }
}

void store_lane(const Op& op, Warp& warp, int lane) {
  std::optional<Tile> tile = tile_of(op, warp, lane, TileDirection::store);
  if (!tile || !is_box_free(op, warp, *warp.cta, lane, *tile)) return;
  const bool reduces_there = op.immediate != 0;
  const auto type = reduce_type_of(tile->map.type);
  if (reduces_there && (!type || !reduces(static_cast<ReduceOp>(op.immediate - 1), *type)))
    return warp.fail(op, FaultKind::bulk_misuse,
                     fmt::format("elements of type {} do not have this reduction",
                                 tensor_type_name(tile->map.type)),
                     1u << lane);
  const order::AsyncAccess accesses[] = {
      shared_access(*warp.cta, order::Kind::kRead, tile->shared),
      global_access(reduces_there ? order::Kind::kAtomic : order::Kind::kWrite, tile->global,
                    reduces_there ? element_bytes(tile->map.type) : kElement)};
  start_store(op, warp, lane, accesses, std::make_unique<TileStore>(op, warp, *tile));
}

template <void (*one)(const Op&, Warp&, int)>
void run_lanes(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (!warp.machine->has_ended()) one(op, warp, lane);
  });
}

void run_nothing(const Op&, Warp&) {}

// The map's operand: a generic address, or a variable by name.
AddressOperand map_operand(Decoder& decoder, const ptx::Operand& operand) {
  const program::Address address = decoder.address(operand);
  uint64_t displacement = address.constant ? 0 : static_cast<uint64_t>(address.offset);
  if (address.window == ptx::Space::param) displacement += Memory::kParamWindow;
  if (address.window == ptx::Space::constant) displacement += Memory::kConstantWindow;
  return {address.base, decoder.constant(displacement, Type::u64), address.wide, false};
}

bool is_tile(Decoder& decoder) {
  for (Mod mod : {Mod::tile_gather4, Mod::tile_scatter4, Mod::im2col, Mod::im2col_w,
                  Mod::im2col_w_128, Mod::im2col_no_offs}) {
    if (!decoder.has(mod)) continue;
    decoder.not_modelled(fmt::format("tensor copies of mode .{}", ptx::name_of(mod)));
    return false;
  }
  if (!decoder.has(Mod::cta_group_2) || !decoder.has(Mod::multicast_cluster)) return true;
  decoder.not_modelled("a multicast by a pair of CTAs");
  return false;
}

// `shared`, `tensor`: which operands those are.
Op& bind(Decoder& decoder, program::Handlers handlers, size_t shared, size_t tensor) {
  const AddressOperand box = address_operand(decoder, decoder.operand(shared));
  const AddressOperand map = map_operand(decoder, decoder.operand(tensor));
  std::vector<Slot> slots = {box.base, box.displacement, map.base, map.displacement, {}, {}};
  uint16_t bits =
      static_cast<uint16_t>(address_bits(box) << kSharedBits | address_bits(map) << kMapBits);
  if (decoder.operands().size() > 2 && decoder.operand(2).kind == ptx::OperandKind::address) {
    const AddressOperand signal = address_operand(decoder, decoder.operand(2));
    slots[kSignalAt] = signal.base;
    slots[kSignalAt + 1] = signal.displacement;
    bits |= static_cast<uint16_t>(address_bits(signal) << kSignalBits);
  }
  const auto coordinates = decoder.sources(decoder.elements(decoder.operand(tensor))[1], Type::s32);
  slots.insert(slots.end(), coordinates.begin(), coordinates.end());
  Op& op = decoder.emit(handlers);
  op.detail = static_cast<uint16_t>(bits | coordinates.size() << kDimensionsShift);
  decoder.attach(op, slots);
  return op;
}

}  // namespace

void bind_cp_async_bulk_tensor_g2s(Decoder& decoder) {
  if (!is_tile(decoder)) return;
  const bool multicast = decoder.has(Mod::multicast_cluster);
  Slot mask;
  if (multicast) mask = decoder.source(decoder.operand(3), Type::u16);
  Op& op = bind(decoder, plain_handlers<run_lanes<load_lane>>, 0, 1);
  op.a = mask;
  if (multicast) op.detail |= kMulticast;
  if (decoder.has(Mod::shared_cluster)) op.detail |= kCluster;
  if (decoder.has(Mod::cta_group_2)) op.detail |= kPair;
}

void bind_cp_async_bulk_tensor_s2g(Decoder& decoder) {
  if (is_tile(decoder)) bind(decoder, plain_handlers<run_lanes<store_lane>>, 1, 0);
}

void bind_cp_reduce_async_bulk_tensor(Decoder& decoder) {
  if (!is_tile(decoder)) return;
  Op& op = bind(decoder, plain_handlers<run_lanes<store_lane>>, 1, 0);
  op.immediate = 1 + static_cast<uint64_t>(*reduce_op_of(decoder));
}

void bind_cp_async_bulk_prefetch_tensor(Decoder& decoder) {
  decoder.emit(plain_handlers<run_nothing>);
}

}  // namespace lw::machine
