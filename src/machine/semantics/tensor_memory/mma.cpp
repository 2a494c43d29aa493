// tcgen05.mma, dense, of one CTA or a pair (PTX: TensorCore 5th Generation Instructions,
// tcgen05.mma).
//
// One thread issues it; it runs by itself, after the products and copies that its warp issued
// before. What the descriptors say is checked when it is issued. A and B are taken at its first
// milestone, and D is read and written at its second. The arithmetic is arith/tcgen05.h's.
//
// D (16 rows of it, M 64: every other half of 32 lanes) and A in tensor memory have a row in a
// lane: an element of D in a cell, the 32 bytes of a row of A in eight cells. What a collector
// keeps is read again: sources must not change before they are used. A pair is two products, one
// for the rows of each CTA, that one thread issues.

#include <array>
#include <cstring>

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/asynchronous_copy/bulk_sites.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/cluster_site.h"
#include "machine/semantics/telling.h"
#include "machine/semantics/tensor_memory/product.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

class ProductOperation final : public AsyncOperation {
 public:
  ProductOperation(const Op& op, Warp& warp, Product product)
      : op_(op), warp_(warp), product_(std::move(product)), place_(warp.sync.products.now()) {}

  bool can_advance() const override {
    return !warp_.sync.products.has_before(base::kAllLanes, place_);
  }
  void perform_read(Machine& machine) override {
    if (!all_here(machine)) return;
    a_ = take(product_.a);
    b_ = take(product_.b);
    const std::vector<std::byte> rest = take(product_.b_rest);
    b_.insert(b_.end(), rest.begin(), rest.end());
    take_scales(product_.scales_a, scales_a_);
    take_scales(product_.scales_b, scales_b_);
  }
  void perform_write(Machine& machine) override {
    if (!all_here(machine)) return;
    multiply();
    warp_.sync.products.done(this, CopyPart::writes);
  }

 private:
  // The CTAs of a pair must not end before the product is done.
  bool all_here(Machine& machine) {
    const auto is_here = [&](const Source& source) {
      return source.rows == 0 || machine.cta(source.cta) != nullptr;
    };
    if (is_here(product_.a) && is_here(product_.b) && is_here(product_.b_rest)) return true;
    warp_.fail(op_, FaultKind::peer_ended, "a CTA of the pair has ended before the product is done",
               lanes);
    return false;
  }
  TensorMemory& cells_of(base::CtaId cta) const {
    return warp_.machine->tensor_memory(warp_.machine->cta(cta)->sm);
  }

  std::vector<std::byte> take(const Source& source) const {
    std::vector<std::byte> tile(size_t{source.rows} * arith::kTensorRowBytes);
    if (source.rows == 0) return tile;
    const std::byte* shared = warp_.machine->cta(source.cta)->shared.data();
    if (source.in_tensor_memory) {
      take_cells(source, tile.data());
    } else {
      for (uint32_t piece = 0; piece < source.pieces.size(); ++piece)
        place_piece(source.layout, source.rows, source.type, piece, shared + source.pieces[piece],
                    tile.data());
    }
    return tile;
  }

  void take_cells(const Source& source, std::byte* tile) const {
    TensorMemory& memory = cells_of(source.cta);
    for (uint32_t column = 0; column < kColumnsOfA; ++column) {
      const uint32_t* cells = memory.column(source.address.column + column) + source.address.lane;
      for (uint32_t row = 0; row < source.rows; ++row)
        std::memcpy(tile + row * arith::kTensorRowBytes + column * sizeof *cells,
                    cells + lane_of_row(source.rows, row), sizeof *cells);
    }
    if (is_short(source.type))
      unpack_containers(source.type, tile, source.rows * arith::kTensorRowBytes);
  }

  // The four copies must agree: which one the hardware reads is not known.
  void take_scales(const Scales& scales, std::vector<uint8_t>& codes) {
    for (uint32_t row = 0; row < scales.rows; ++row) {
      const uint32_t* cells =
          tensor_memory_of(warp_).column(scales.column + row / kLanesOfWarp) + row % kLanesOfWarp;
      const auto code = [&](uint32_t copy) {
        return static_cast<uint8_t>(cells[copy * kLanesOfWarp] >> (8 * scales.byte));
      };
      codes.push_back(code(0));
      if (code(1) != code(0) || code(2) != code(0) || code(3) != code(0))
        return warp_.not_analysed(op_, "scales that differ between the quarters of the lanes");
    }
  }

  void multiply() {
    ProductShape& shape = product_.shape;
    if (!scales_a_.empty()) shape.product.scales = {scales_a_.data(), scales_b_.data()};
    std::vector<uint32_t> rows, columns;
    for (uint32_t row = 0; row < shape.m; row += arith::kTensorRowGroup)
      rows.push_back(product_.d.lane + (product_.folded ? row : lane_of_row(shape.m, row)));
    const uint32_t across = product_.folded ? shape.n / 2 : shape.n;
    for (uint32_t column = 0; column < shape.n; ++column)
      columns.push_back(column % across * kTensorLanes + column / across * kFoldLanes);
    if (product_.d_shift != 0 && shape.product.accumulate && !shift_d(rows, columns))
      return warp_.not_analysed(op_, "a D that loses bits when it is scaled");
    arith::tensor_mma(shape.product, a_.data(), b_.data(),
                      {cells_of(product_.cta).column(product_.d.column), rows, columns,
                       product_.kept.empty() ? nullptr : product_.kept.data()});
  }

  // Scales D where it is; false if a code is not exactly another.
  bool shift_d(std::span<const uint32_t> rows, std::span<const uint32_t> columns) {
    const bool half = product_.shape.product.d == arith::TensorResult::kF16;
    uint32_t* cells = cells_of(product_.cta).column(product_.d.column);
    for (uint32_t column : columns)
      for (uint32_t row = 0; row < product_.shape.m; ++row) {
        if (!product_.kept.empty() && product_.kept[row] != 0) continue;
        const uint32_t at = rows[row / arith::kTensorRowGroup] + row % arith::kTensorRowGroup;
        uint32_t& cell = cells[at + column];
        if (half ? !arith::shift_f16(cell, product_.d_shift)
                 : !arith::shift_f32(cell, product_.d_shift))
          return false;
      }
    return true;
  }

  const Op& op_;
  Warp& warp_;
  Product product_;
  uint64_t place_;
  std::vector<std::byte> a_, b_;
  std::vector<uint8_t> scales_a_, scales_b_;
};

// The lanes of rows that begin at a lane, without those that are kept.
std::array<base::LaneMask, 4> lanes_of_rows(uint32_t first, uint32_t rows,
                                            const std::vector<uint32_t>& kept) {
  std::array<base::LaneMask, 4> lanes{};
  for (uint32_t row = 0; row < rows; ++row) {
    const uint32_t lane = first + lane_of_row(rows, row);
    if (kept.empty() || kept[row] == 0) lanes[lane / kLanesOfWarp] |= 1u << lane % kLanesOfWarp;
  }
  return lanes;
}

// Full columns of scales, and one that may hold fewer.
void add_boxes(const Scales& scales, std::vector<order::TensorBox>& boxes) {
  const uint32_t full = scales.rows / kLanesOfWarp, rest = scales.rows % kLanesOfWarp;
  if (full != 0) boxes.push_back(order::TensorBox::full(scales.column, full));
  if (rest == 0) return;
  const base::LaneMask lanes = (1u << rest) - 1;
  boxes.push_back({scales.column + full, 1, {lanes, lanes, lanes, lanes}});
}

// One number for the place, the shape and the kind of D.
uint32_t accumulator_of(ProductKind kind, const Product& product) {
  uint32_t number = static_cast<uint32_t>(kind);
  number = number << 2 | static_cast<uint32_t>(product.shape.product.d);
  number = number << 1 | (product.shape.m == 64 ? 1 : 0);
  number = number << 6 | product.shape.n / 8;
  number = number << 7 | product.d.lane;
  return number << 9 | product.d.column;
}

// What the order engine is told of the operands that a CTA has.
struct Told {
  std::vector<order::TensorBox> read;
  order::TensorBox d;
  std::vector<order::Range> a, b, b_rest;
};

// D of a folded product: the second half of its columns stands in the upper lanes.
order::TensorBox box_of_d(const Product& product) {
  const ProductShape& shape = product.shape;
  if (!product.folded)
    return {product.d.column, shape.n, lanes_of_rows(product.d.lane, shape.m, product.kept)};
  return order::TensorBox::full(product.d.column, shape.n / 2);
}

Told told_of(const Product& product) {
  Told told;
  if (product.a.in_tensor_memory)
    told.read.push_back({product.a.address.column, kColumnsOfA,
                         lanes_of_rows(product.a.address.lane, product.shape.m, {})});
  add_boxes(product.scales_a, told.read);
  add_boxes(product.scales_b, told.read);
  told.d = box_of_d(product);
  told.a = ranges_of(product.a.pieces);
  told.b = ranges_of(product.b.pieces);
  told.b_rest = ranges_of(product.b_rest.pieces);
  return told;
}

void tell_order(const Op& op, Warp& warp, int lane, std::span<const Product> products) {
  if (!warp.order) return;
  const Telling telling(op, warp);
  std::vector<Told> all;
  for (const Product& product : products) all.push_back(told_of(product));
  std::vector<order::TensorAccess> cells;
  std::vector<order::AsyncAccess> shared;
  const auto add_shared = [&](const Source& from, std::span<const order::Range> ranges) {
    if (ranges.empty()) return;
    shared.push_back(shared_access(*warp.machine->cta(from.cta), order::Kind::kRead, ranges));
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const Product& product = products[i];
    const Told& told = all[i];
    cells.push_back(
        {order::Kind::kWrite, product.shape.product.accumulate, {&told.d, 1}, product.cta});
    if (!told.read.empty()) cells.push_back({order::Kind::kRead, false, told.read, product.cta});
    add_shared(product.a, told.a);
    if (i != 0) continue;  // a pair has one B
    add_shared(product.b, told.b);
    add_shared(product.b_rest, told.b_rest);
  }
  warp.order->tensor_issue(*warp.order_warp, op.instruction,
                           base::LaneId(static_cast<uint8_t>(lane)),
                           {.pair = products.size() > 1,
                            .accumulator = accumulator_of(kind_of_product(op), products.front()),
                            .cells = cells,
                            .shared = shared});
}

void issue(const Op& op, Warp& warp, int lane, Product product) {
  const base::LaneMask only = 1u << lane;
  auto operation = std::make_unique<ProductOperation>(op, warp, std::move(product));
  warp.sync.products.issue(only, operation.get());
  warp.machine->start(std::move(operation), warp, op).lanes = only;
}

void issue_pair(const Op& op, Warp& warp, int lane) {
  const Cta* const peer = peer_of(op, warp, 1u << lane);
  if (peer == nullptr) return;
  std::optional<Product> own = product_of(op, warp, lane, *warp.cta);
  if (!own) return;
  std::optional<Product> other = product_of(op, warp, lane, *peer);
  if (!other) return;
  Product both[] = {std::move(*own), std::move(*other)};
  tell_order(op, warp, lane, both);
  for (Product& product : both) issue(op, warp, lane, std::move(product));
}

void run_mma(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (warp.machine->has_ended()) return;
    if (op.detail & kPair) return issue_pair(op, warp, lane);
    std::optional<Product> product = product_of(op, warp, lane, *warp.cta);
    if (!product) return;
    tell_order(op, warp, lane, {&*product, 1});
    issue(op, warp, lane, std::move(*product));
  });
}

ProductKind kind_of(const Decoder& decoder) {
  if (decoder.has(Mod::kind_tf32)) return ProductKind::tf32;
  if (decoder.has(Mod::kind_f8f6f4)) return ProductKind::f8f6f4;
  if (decoder.has(Mod::kind_mxf8f6f4)) return ProductKind::mxf8f6f4;
  return decoder.has(Mod::kind_i8) ? ProductKind::i8 : ProductKind::f16;
}

// An address in tensor memory and its displacement.
void add_address(Decoder& decoder, const ptx::Operand& operand, std::vector<Slot>& slots) {
  const AddressOperand address = address_operand(decoder, operand);
  slots.push_back(address.base);
  slots.push_back(address.displacement);
}

// Slots of A at its place in `more`.
std::vector<Slot> slots_of_a(Decoder& decoder, bool in_tensor_memory) {
  const ptx::Operand& operand = decoder.operand(1);
  if (!in_tensor_memory) return {decoder.source(operand, Type::b64), Slot{}};
  std::vector<Slot> slots;
  add_address(decoder, operand, slots);
  return slots;
}

// What the forms have that is not here; empty: nothing.
std::string unmodelled_part(const Decoder& decoder) {
  if (decoder.has(Mod::cta_group_2) && decoder.has(Mod::kind_mxf8f6f4))
    return "scaled products of a pair of CTAs";
  if (decoder.has(Mod::ashift)) return "a product that shifts A";
  if (decoder.has(Mod::kind_mxf4)) return "kind mxf4";
  if (decoder.has(Mod::kind_mxf4nvf4)) return "kind mxf4nvf4";
  return "";
}

void bind_mma(Decoder& decoder) {
  const auto operands = decoder.operands();
  const bool in_tensor_memory = operands[1].kind == ptx::OperandKind::address;
  const bool keeps_lanes = operands[4].kind == ptx::OperandKind::vector;
  const bool scaled = operands[4].kind == ptx::OperandKind::address;
  const size_t enable = keeps_lanes ? 5 : scaled ? 6 : 4;
  if (std::string why = unmodelled_part(decoder); !why.empty())
    return decoder.not_modelled(std::move(why));
  const AddressOperand d = address_operand(decoder, operands[0]);
  std::vector<Slot> slots = slots_of_a(decoder, in_tensor_memory);
  slots.push_back(decoder.source(operands[2], Type::b64));
  if (keeps_lanes) {
    const std::vector<Slot> lanes = decoder.sources(operands[4], Type::b32);
    if (lanes.size() != kLaneWords) return decoder.not_modelled("lanes of a pair of CTAs");
    slots.insert(slots.end(), lanes.begin(), lanes.end());
  }
  if (scaled)
    for (size_t at : {4, 5}) add_address(decoder, operands[at], slots);
  const Slot idesc = decoder.source(operands[3], Type::b32);
  const Slot reads_d = decoder.source(operands[enable], Type::pred);
  Op& op = decoder.emit(plain_handlers<run_mma>, reads_d, d.base, d.displacement, idesc);
  op.detail = static_cast<uint16_t>(
      static_cast<uint32_t>(kind_of(decoder)) | (in_tensor_memory ? kTensorA : 0) |
      (keeps_lanes ? kKeepsLanes : 0) | (decoder.has(Mod::cta_group_2) ? kPair : 0));
  if (operands.size() > enable + 1)
    op.immediate = static_cast<uint64_t>(operands[enable + 1].value);
  decoder.attach(op, slots);
}

}  // namespace

void bind_tcgen05_mma(Decoder& decoder) { bind_mma(decoder); }
void bind_tcgen05_mma_f8f6f4(Decoder& decoder) { bind_mma(decoder); }
void bind_tcgen05_mma_i8(Decoder& decoder) { bind_mma(decoder); }
void bind_tcgen05_mma_block_scale(Decoder& decoder) { bind_mma(decoder); }
void bind_tcgen05_mma_block_scale_a_tmem(Decoder& decoder) { bind_mma(decoder); }
void bind_tcgen05_mma_a_tmem(Decoder& decoder) { bind_mma(decoder); }
void bind_tcgen05_mma_f8f6f4_a_tmem(Decoder& decoder) { bind_mma(decoder); }
void bind_tcgen05_mma_i8_a_tmem(Decoder& decoder) { bind_mma(decoder); }

}  // namespace lw::machine
