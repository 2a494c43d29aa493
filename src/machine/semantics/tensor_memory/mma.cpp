// tcgen05.mma, dense, of one CTA (PTX: TensorCore 5th Generation Instructions, tcgen05.mma).
//
// One thread issues it; it runs by itself, after the products and copies that its warp issued
// before. What the descriptors say is checked when it is issued. A and B are taken at its first
// milestone, and D is read and written at its second. The arithmetic is arith/tcgen05.h's.
//
// D (16 rows of it, M 64: every other half of 32 lanes) and A in tensor memory have a row in a
// lane: an element of D in a cell, the 32 bytes of a row of A in eight cells. What a collector
// keeps is read again: sources must not change before they are used.

#include <fmt/format.h>

#include <cstring>

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/shared_place.h"
#include "machine/semantics/tensor_memory/tensor_site.h"
#include "machine/tensor_memory_descriptors.h"

namespace lw::machine {
namespace {

using arith::TensorType;
using ptx::Mod;
using ptx::Type;

// Op: a, b address of D and its displacement, c instruction descriptor, d whether D is read,
// immediate by how many powers of two D counts less;
// detail the kind and flags; more: A (a descriptor, or an address and its displacement), B, four
// words of lanes that are not written or the addresses of the scales and their displacements.
constexpr uint16_t kTensorA = 1 << 8;
constexpr uint16_t kKeepsLanes = 1 << 9;
constexpr uint32_t kAAt = 0, kBAt = 2, kLanesAt = 3, kLaneWords = 4, kScalesAt = 3;
constexpr uint32_t kColumnsOfA = arith::kTensorRowBytes / 4;
constexpr uint32_t kHalfLanes = 16;

// One operand: pieces of shared memory, or cells.
struct Source {
  TensorType type{};
  uint32_t rows = 0;
  OperandLayout layout;
  std::vector<uint32_t> pieces;  // offsets in the CTA's shared memory
  bool in_tensor_memory = false;
  TensorAddress address{};
};

// Scales of a product: one byte for each of `rows` rows. Row x is in lane x mod 32 of every
// quarter, x / 32 columns further.
struct Scales {
  uint32_t rows = 0;
  uint32_t column = 0;
  uint32_t byte = 0;

  uint32_t columns() const { return (rows + kLanesOfWarp - 1) / kLanesOfWarp; }
};

struct Product {
  ProductShape shape;
  TensorAddress d{};
  Source a, b;
  Scales scales_a, scales_b;   // rows 0: not scaled
  int d_shift = 0;             // D counts 2^-d_shift
  std::vector<uint32_t> kept;  // by row of D; empty: all are written
};

// Where row i is: its lane, counted from that of the address.
uint32_t lane_of_row(uint32_t m, uint32_t i) { return m == 64 ? i / 16 * 32 + i % 16 : i; }

class ProductOperation final : public AsyncOperation {
 public:
  ProductOperation(const Op& op, Warp& warp, Product product)
      : op_(op), warp_(warp), product_(std::move(product)), place_(warp.sync.products.now()) {}

  bool can_advance() const override {
    return !warp_.sync.products.has_before(base::kAllLanes, place_);
  }
  void perform_read(Machine&) override {
    a_ = take(product_.a);
    b_ = take(product_.b);
    take_scales(product_.scales_a, scales_a_);
    take_scales(product_.scales_b, scales_b_);
  }
  void perform_write(Machine&) override {
    multiply();
    warp_.sync.products.done(this, CopyPart::writes);
  }

 private:
  std::vector<std::byte> take(const Source& source) const {
    std::vector<std::byte> tile(size_t{source.rows} * arith::kTensorRowBytes);
    if (source.in_tensor_memory) {
      take_cells(source, tile.data());
    } else {
      for (uint32_t piece = 0; piece < source.pieces.size(); ++piece)
        place_piece(source.layout, source.rows, source.type, piece,
                    warp_.shared + source.pieces[piece], tile.data());
    }
    return tile;
  }

  void take_cells(const Source& source, std::byte* tile) const {
    TensorMemory& memory = tensor_memory_of(warp_);
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
      rows.push_back(product_.d.lane + lane_of_row(shape.m, row));
    for (uint32_t column = 0; column < shape.n; ++column) columns.push_back(column * kTensorLanes);
    if (product_.d_shift != 0 && shape.product.accumulate && !shift_d(rows, columns))
      return warp_.not_analysed(op_, "a D that loses bits when it is scaled");
    arith::tensor_mma(shape.product, a_.data(), b_.data(),
                      {tensor_memory_of(warp_).column(product_.d.column), rows, columns,
                       product_.kept.empty() ? nullptr : product_.kept.data()});
  }

  // Scales D where it is; false if a code is not exactly another.
  bool shift_d(std::span<const uint32_t> rows, std::span<const uint32_t> columns) {
    const bool half = product_.shape.product.d == arith::TensorResult::kF16;
    uint32_t* cells = tensor_memory_of(warp_).column(product_.d.column);
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

// One lane's instruction: fills in a Product, or reports why not.
class Issue {
 public:
  Issue(const Op& op, Warp& warp, int lane) : op_(op), warp_(warp), lane_(lane) {}

  std::optional<Product> product() {
    Product product;
    if (!shape(product) || !destination(product) || !operand_a(product) || !operand_b(product))
      return std::nullopt;
    if (kind() == ProductKind::mxf8f6f4 && !scales(product)) return std::nullopt;
    product.d_shift = static_cast<int>(op_.immediate);
    if (op_.detail & kKeepsLanes) keep_lanes(product);
    return product;
  }

 private:
  base::LaneMask only() const { return 1u << lane_; }
  Slot slot(uint32_t index) const { return warp_.program->more(op_)[index]; }
  uint32_t word(Slot slot) const { return warp_.lanes<uint32_t>(slot)[lane_]; }
  uint64_t wide(Slot slot) const { return warp_.lanes<uint64_t>(slot)[lane_]; }

  ProductKind kind() const { return static_cast<ProductKind>(op_.detail & 0xff); }

  bool misuse(std::string text) {
    misuse_tensor_memory(op_, warp_, std::move(text), diagnose::RuleId::kE13, only());
    return false;
  }
  template <class Value>
  bool accept(const Decoded<Value>& decoded, std::string_view what, uint64_t bits) {
    if (!decoded.fault.empty())
      return misuse(fmt::format("{} {:#x}: {}", what, bits, decoded.fault));
    if (decoded.unmodelled.empty()) return true;
    warp_.not_analysed(op_, decoded.unmodelled);
    return false;
  }

  bool shape(Product& product) {
    const uint32_t bits = word(op_.c);
    const auto decoded = decode_product(kind(), bits);
    if (!accept(decoded, "instruction descriptor", bits)) return false;
    product.shape = decoded.value;
    product.shape.product.accumulate = warp_.predicate(op_.d) >> lane_ & 1;
    return true;
  }

  // Rows begin at lane 0; M 64 may use the other half of each 32.
  bool check_lane(TensorAddress address, uint32_t m, std::string_view what) {
    if (address.lane == 0 || (m == 64 && address.lane == kHalfLanes)) return true;
    return misuse(fmt::format("{} of {} rows begins at lane {}", what, m, address.lane));
  }

  bool destination(Product& product) {
    product.d = tensor_address(word(op_.a) + static_cast<uint32_t>(wide(op_.b)));
    return check_lane(product.d, product.shape.m, "D") &&
           check_columns(op_, warp_, product.d.column, product.shape.n, only());
  }

  bool operand_a(Product& product) {
    Source& a = product.a;
    a.type = product.shape.product.a;
    a.rows = product.shape.m;
    if (!(op_.detail & kTensorA)) return in_shared(a, wide(slot(kAAt)), product.shape.a_mn_major);
    a.in_tensor_memory = true;
    a.address = tensor_address(word(slot(kAAt)) + static_cast<uint32_t>(wide(slot(kAAt + 1))));
    if (product.shape.a_mn_major) return misuse("A in tensor memory is not K-major");
    return check_lane(a.address, a.rows, "A") &&
           check_columns(op_, warp_, a.address.column, kColumnsOfA, only());
  }

  bool operand_b(Product& product) {
    product.b.type = product.shape.product.b;
    product.b.rows = product.shape.n;
    return in_shared(product.b, wide(slot(kBAt)), product.shape.b_mn_major);
  }

  bool in_shared(Source& source, uint64_t bits, bool mn_major) {
    const auto decoded = decode_operand(bits, source.type, mn_major);
    if (!accept(decoded, "shared-memory descriptor", bits)) return false;
    source.layout = decoded.value;
    source.pieces.reserve(source.rows * kPiecesOfRow);
    for (uint32_t piece = 0; piece < source.rows * kPiecesOfRow; ++piece) {
      const uint32_t address =
          piece_address(source.layout, source.rows, arith::element_bytes(source.type), piece);
      const auto offset = operand_piece(op_, warp_, address, lane_);
      if (!offset) return false;
      source.pieces.push_back(*offset);
    }
    return true;
  }

  bool scales(Product& product) {
    product.scales_a = {product.shape.m, scales_column(kScalesAt), product.shape.scale_byte_a};
    product.scales_b = {product.shape.n, scales_column(kScalesAt + 2), product.shape.scale_byte_b};
    for (const Scales* scales : {&product.scales_a, &product.scales_b})
      if (!check_columns(op_, warp_, scales->column, scales->columns(), only())) return false;
    return true;
  }
  // The upper bits of these addresses may name a byte, which the descriptor names too.
  uint32_t scales_column(uint32_t at) const {
    return tensor_address(word(slot(at)) + static_cast<uint32_t>(wide(slot(at + 1)))).column;
  }

  void keep_lanes(Product& product) {
    for (uint32_t row = 0; row < product.shape.m; ++row) {
      const uint32_t lane = product.d.lane + lane_of_row(product.shape.m, row);
      const bool keeps = word(slot(kLanesAt + lane / 32)) >> (lane % 32) & 1;
      product.kept.push_back(keeps ? ~0u : 0);
    }
  }

  const Op& op_;
  Warp& warp_;
  int lane_;
};

void run_mma(const Op& op, Warp& warp) {
  if (!may_run_tensor(op, warp)) return;
  for_each_lane(warp.active, [&](int lane) {
    if (warp.machine->has_ended()) return;
    std::optional<Product> product = Issue(op, warp, lane).product();
    if (!product) return;
    const base::LaneMask only = 1u << lane;
    auto operation = std::make_unique<ProductOperation>(op, warp, std::move(*product));
    warp.sync.products.issue(only, operation.get());
    warp.machine->start(std::move(operation), warp, op).lanes = only;
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
  if (decoder.has(Mod::cta_group_2)) return "products of a pair of CTAs";
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
  op.detail =
      static_cast<uint16_t>(static_cast<uint32_t>(kind_of(decoder)) |
                            (in_tensor_memory ? kTensorA : 0) | (keeps_lanes ? kKeepsLanes : 0));
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
