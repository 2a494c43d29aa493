// tcgen05.cp (PTX: TensorCore 5th Generation Instructions, tcgen05.cp): rows of a matrix in shared
// memory to lanes of tensor memory, the bytes of a row to neighbouring columns.
//
// The source is what a K-major operand of a product is. Some shapes write each row to several
// lanes, as scale factors need it; short formats may be unpacked on the way to one container a
// byte. One thread issues it; it runs after what its warp issued before.

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/asynchronous_copy/bulk_sites.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/telling.h"
#include "machine/semantics/tensor_memory/tensor_site.h"
#include "machine/tensor_memory_descriptors.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using arith::TensorType;
using ptx::Mod;
using ptx::Type;

enum class CopyShape : uint8_t {
  k128x256b,
  k128x128b,
  k4x256b,
  k64x128b_02_13,
  k64x128b_01_23,
  k32x128b,
};
enum class Unpacking : uint8_t { none, from_4_bits, from_6_bits };

// Op: a address, b displacement, c descriptor; detail shape and unpacking.
constexpr int kUnpackingShift = 8;

uint32_t rows_of(CopyShape shape) {
  switch (shape) {
    case CopyShape::k4x256b:
      return 4;
    case CopyShape::k32x128b:
      return 32;
    case CopyShape::k64x128b_02_13:
    case CopyShape::k64x128b_01_23:
      return 64;
    default:
      return 128;
  }
}

uint32_t pieces_of(CopyShape shape) {
  return shape == CopyShape::k128x256b || shape == CopyShape::k4x256b ? 2 : 1;
}

uint32_t copies_of(CopyShape shape) {
  if (shape == CopyShape::k32x128b) return 4;
  return shape == CopyShape::k64x128b_02_13 || shape == CopyShape::k64x128b_01_23 ? 2 : 1;
}

// Where a copy of a row goes, counted from the lane of the address.
uint32_t lane_of(CopyShape shape, uint32_t row, uint32_t copy) {
  switch (shape) {
    case CopyShape::k4x256b:
      return 32 * row;
    case CopyShape::k32x128b:
      return row + 32 * copy;
    case CopyShape::k64x128b_02_13:
      return row + 64 * copy;
    case CopyShape::k64x128b_01_23:
      return 64 * (row / 32) + row % 32 + 32 * copy;
    default:
      return row;
  }
}

struct CopyPlan {
  CopyShape shape{};
  Unpacking unpacking{};
  TensorAddress to{};
  std::vector<uint32_t> pieces;  // offsets in shared memory, row by row
};

using Piece = std::array<std::byte, kPieceBytes>;

Piece unpacked(Unpacking unpacking, const std::byte* from) {
  Piece piece;
  if (unpacking == Unpacking::none) {
    std::memcpy(piece.data(), from, kPieceBytes);
    return piece;
  }
  const bool nibbles = unpacking == Unpacking::from_4_bits;
  unpack_shared(nibbles ? TensorType::kE2m1 : TensorType::kE3m2, from, piece.data());
  if (nibbles)
    for (std::byte& code : piece) code <<= kNibbleInContainer;
  return piece;
}

class CopyOperation final : public AsyncOperation {
 public:
  CopyOperation(Warp& warp, CopyPlan plan)
      : warp_(warp), plan_(std::move(plan)), place_(warp.sync.products.now()) {}

  bool can_advance() const override {
    return !warp_.sync.products.has_before(base::kAllLanes, place_);
  }
  void perform_read(Machine&) override {
    for (uint32_t offset : plan_.pieces)
      data_.push_back(unpacked(plan_.unpacking, warp_.shared + offset));
  }
  void perform_write(Machine&) override {
    const uint32_t pieces = pieces_of(plan_.shape);
    for (uint32_t index = 0; index < data_.size(); ++index)
      for (uint32_t copy = 0; copy < copies_of(plan_.shape); ++copy)
        write(data_[index], plan_.to.lane + lane_of(plan_.shape, index / pieces, copy),
              plan_.to.column + index % pieces * kColumnsOfPiece);
    warp_.sync.products.done(this, CopyPart::writes);
  }

  static constexpr uint32_t kColumnsOfPiece = kPieceBytes / sizeof(uint32_t);

 private:
  void write(const Piece& piece, uint32_t lane, uint32_t column) {
    TensorMemory& memory = tensor_memory_of(warp_);
    for (uint32_t i = 0; i < kColumnsOfPiece; ++i)
      std::memcpy(memory.column(column + i) + lane, piece.data() + i * sizeof(uint32_t),
                  sizeof(uint32_t));
  }

  Warp& warp_;
  CopyPlan plan_;
  uint64_t place_;
  std::vector<Piece> data_;
};

bool misuse(const Op& op, Warp& warp, int lane, std::string text) {
  misuse_tensor_memory(op, warp, std::move(text), diagnose::RuleId::kE13, 1u << lane);
  return false;
}

bool find_source(const Op& op, Warp& warp, int lane, CopyPlan& plan) {
  const uint64_t bits = warp.lanes<uint64_t>(op.c)[lane];
  const auto decoded = decode_operand(bits, TensorType::kE4m3, false);
  if (!decoded.fault.empty())
    return misuse(op, warp, lane,
                  fmt::format("shared-memory descriptor {:#x}: {}", bits, decoded.fault));
  if (!decoded.unmodelled.empty()) {
    warp.not_analysed(op, decoded.unmodelled);
    return false;
  }
  for (uint32_t row = 0; row < rows_of(plan.shape); ++row)
    for (uint32_t part = 0; part < pieces_of(plan.shape); ++part) {
      const auto offset =
          operand_piece(op, warp, *warp.cta, decoded.value.k_major_piece(row, part), lane);
      if (!offset) return false;
      plan.pieces.push_back(*offset);
    }
  return true;
}

bool find_destination(const Op& op, Warp& warp, int lane, CopyPlan& plan) {
  plan.to = tensor_address(warp.lanes<uint32_t>(op.a)[lane] +
                           static_cast<uint32_t>(warp.lanes<uint64_t>(op.b)[lane]));
  const uint32_t last =
      plan.to.lane + lane_of(plan.shape, rows_of(plan.shape) - 1, copies_of(plan.shape) - 1);
  if (last >= kTensorLanes)
    return misuse(op, warp, lane, fmt::format("its last row is at lane {}", last));
  return check_columns(op, warp, plan.to.column,
                       pieces_of(plan.shape) * CopyOperation::kColumnsOfPiece, 1u << lane);
}

void tell_order(const Op& op, Warp& warp, int lane, const CopyPlan& plan) {
  if (!warp.order) return;
  const Telling telling(op, warp);
  order::TensorBox to{plan.to.column, pieces_of(plan.shape) * CopyOperation::kColumnsOfPiece, {}};
  for (uint32_t row = 0; row < rows_of(plan.shape); ++row)
    for (uint32_t copy = 0; copy < copies_of(plan.shape); ++copy) {
      const uint32_t at = plan.to.lane + lane_of(plan.shape, row, copy);
      to.lanes[at / kLanesOfWarp] |= 1u << at % kLanesOfWarp;
    }
  const auto ranges = ranges_of(plan.pieces);
  const order::AsyncAccess shared = shared_access(*warp.cta, order::Kind::kRead, ranges);
  const order::TensorAccess cells{.kind = order::Kind::kWrite, .boxes = {&to, 1}};
  using Kind = order::TensorWork::Kind;
  warp.order->tensor_issue(
      *warp.order_warp, op.instruction, base::LaneId(static_cast<uint8_t>(lane)),
      {.kind = plan.shape == CopyShape::k4x256b ? Kind::kCopy4x256b : Kind::kCopy,
       .cells = {&cells, 1},
       .shared = {&shared, 1}});
}

void run_copy(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (warp.machine->has_ended()) return;
    CopyPlan plan;
    plan.shape = static_cast<CopyShape>(op.detail & 0xff);
    plan.unpacking = static_cast<Unpacking>(op.detail >> kUnpackingShift);
    if (!find_source(op, warp, lane, plan) || !find_destination(op, warp, lane, plan)) return;
    tell_order(op, warp, lane, plan);
    auto operation = std::make_unique<CopyOperation>(warp, std::move(plan));
    warp.sync.products.issue(1u << lane, operation.get());
    warp.machine->start(std::move(operation), warp, op).lanes = 1u << lane;
  });
}

CopyShape shape_of(const Decoder& decoder) {
  constexpr std::pair<Mod, CopyShape> kShapes[] = {
      {Mod::_128x256b, CopyShape::k128x256b},
      {Mod::_128x128b, CopyShape::k128x128b},
      {Mod::_4x256b, CopyShape::k4x256b},
      {Mod::warpx2_02_13, CopyShape::k64x128b_02_13},
      {Mod::warpx2_01_23, CopyShape::k64x128b_01_23},
      {Mod::warpx4, CopyShape::k32x128b},
  };
  for (auto [mod, shape] : kShapes)
    if (decoder.has(mod)) return shape;
  return CopyShape::k128x128b;
}

void bind_copy(Decoder& decoder) {
  if (!is_single_cta(decoder)) return;
  const AddressOperand to = address_operand(decoder, decoder.operand(0));
  const Slot descriptor = decoder.source(decoder.operand(1), Type::b64);
  Unpacking unpacking = Unpacking::none;
  for (const Type type : decoder.opcode().types) {
    if (type == Type::b4x16_p64) unpacking = Unpacking::from_4_bits;
    if (type == Type::b6x16_p32) unpacking = Unpacking::from_6_bits;
  }
  decoder.emit(plain_handlers<run_copy>, Slot{}, to.base, to.displacement, descriptor).detail =
      static_cast<uint16_t>(static_cast<uint32_t>(shape_of(decoder)) |
                            static_cast<uint32_t>(unpacking) << kUnpackingShift);
}

}  // namespace

void bind_tcgen05_cp(Decoder& decoder) { bind_copy(decoder); }
void bind_tcgen05_cp_64x128b(Decoder& decoder) { bind_copy(decoder); }
void bind_tcgen05_cp_32x128b(Decoder& decoder) { bind_copy(decoder); }

}  // namespace lw::machine
