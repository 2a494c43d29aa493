#include "machine/semantics/tensor_memory/product.h"

#include <fmt/format.h>

#include "machine/semantics/cluster_site.h"

namespace lw::machine {
namespace {

// One lane's instruction: fills in a Product, or reports why not.
class Issue {
 public:
  Issue(const Op& op, Warp& warp, int lane, const Cta& cta)
      : op_(op), warp_(warp), lane_(lane), cta_(cta) {}

  std::optional<Product> product() {
    Product product;
    product.cta = cta_.id;
    if (!shape(product) || !destination(product) || !operand_a(product) || !operand_b(product))
      return std::nullopt;
    if (kind_of_product(op_) == ProductKind::mxf8f6f4 && !scales(product)) return std::nullopt;
    product.d_shift = static_cast<int>(op_.immediate);
    if (op_.detail & kKeepsLanes) keep_lanes(product);
    return product;
  }

 private:
  bool is_pair() const { return (op_.detail & kPair) != 0; }
  base::LaneMask only() const { return 1u << lane_; }
  Slot slot(uint32_t index) const { return warp_.program->more(op_)[index]; }
  uint32_t word(Slot slot) const { return warp_.lanes<uint32_t>(slot)[lane_]; }
  uint64_t wide(Slot slot) const { return warp_.lanes<uint64_t>(slot)[lane_]; }

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
    const auto decoded = decode_product(kind_of_product(op_), bits, is_pair());
    if (!accept(decoded, "instruction descriptor", bits)) return false;
    product.shape = decoded.value;
    product.folded = is_pair() && product.shape.m == kFoldLanes;
    product.shape.product.accumulate = warp_.predicate(op_.d) >> lane_ & 1;
    return true;
  }

  // Rows begin at lane 0; M 64 of one CTA may use the other half of each 32.
  bool check_lane(TensorAddress address, uint32_t m, std::string_view what) {
    if (address.lane == 0) return true;
    if (m == 64 && !is_pair() && address.lane == kHalfLanes) return true;
    return misuse(fmt::format("{} of {} rows begins at lane {}", what, m, address.lane));
  }

  bool destination(Product& product) {
    product.d = tensor_address(word(op_.a) + static_cast<uint32_t>(wide(op_.b)));
    return check_lane(product.d, product.shape.m, "D") &&
           check_columns(op_, warp_, cta_, product.d.column,
                         product.folded ? product.shape.n / 2 : product.shape.n, only());
  }

  bool operand_a(Product& product) {
    Source& a = product.a;
    a.type = product.shape.product.a;
    a.rows = product.shape.m;
    a.cta = cta_.id;
    if (!(op_.detail & kTensorA))
      return in_shared(a, cta_, wide(slot(kAAt)), product.shape.a_mn_major);
    if (product.folded) {
      warp_.not_analysed(op_, "A of 128 rows in the tensor memory of a pair of CTAs");
      return false;
    }
    a.in_tensor_memory = true;
    a.address = tensor_address(word(slot(kAAt)) + static_cast<uint32_t>(wide(slot(kAAt + 1))));
    if (product.shape.a_mn_major) return misuse("A in tensor memory is not K-major");
    return check_lane(a.address, a.rows, "A") &&
           check_columns(op_, warp_, cta_, a.address.column, kColumnsOfA, only());
  }

  bool operand_b(Product& product) {
    if (!is_pair()) return rows_of_b(product, product.b, cta_, product.shape.n);
    const uint32_t even = cta_.cluster_rank & ~1u;
    Cta* const first = cta_of_rank(op_, warp_, even, only());
    Cta* const second = first == nullptr ? nullptr : cta_of_rank(op_, warp_, even + 1, only());
    return second != nullptr && rows_of_b(product, product.b, *first, product.shape.n / 2) &&
           rows_of_b(product, product.b_rest, *second, product.shape.n / 2);
  }

  bool rows_of_b(const Product& product, Source& source, const Cta& cta, uint32_t rows) {
    source.type = product.shape.product.b;
    source.rows = rows;
    source.cta = cta.id;
    return in_shared(source, cta, wide(slot(kBAt)), product.shape.b_mn_major);
  }

  bool in_shared(Source& source, const Cta& cta, uint64_t bits, bool mn_major) {
    const auto decoded = decode_operand(bits, source.type, mn_major);
    if (!accept(decoded, "shared-memory descriptor", bits)) return false;
    source.layout = decoded.value;
    source.pieces.reserve(source.rows * kPiecesOfRow);
    for (uint32_t piece = 0; piece < source.rows * kPiecesOfRow; ++piece) {
      const uint32_t address =
          piece_address(source.layout, source.rows, arith::element_bytes(source.type), piece);
      const auto offset = operand_piece(op_, warp_, cta, address, lane_);
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
  const Cta& cta_;
};

}  // namespace

std::optional<Product> product_of(const Op& op, Warp& warp, int lane, const Cta& cta) {
  return Issue(op, warp, lane, cta).product();
}

}  // namespace lw::machine
