#pragma once
// Which cell of tensor memory each register of each thread is, for tcgen05.ld and st (PTX:
// TensorCore 5th Generation Instructions, Data Movement Shape). The manual draws it; the formulas
// are the drawings', checked in tensor_memory_shapes_test.cpp to meet every cell once.
//
// Relative to the address: thread t of 32, register r. The 16-lane shapes reach half of the warp's
// lanes; .16x32bx2 has a second half of the threads `offset` columns away. Packed to 16 bits, a
// register is the low halves of two neighbouring cells, and all column numbers but `offset` double.

#include <cstdint>

namespace lw::machine {

enum class TensorShape : uint8_t { k32x32b, k16x64b, k16x128b, k16x256b, k16x32bx2 };

struct TensorCell {
  uint32_t lane;
  int32_t column;
};

// `offset`: of .16x32bx2 only. `step`: 2 if packed, then the other cell is one column further.
constexpr TensorCell tensor_cell(TensorShape shape, uint32_t t, uint32_t r, int32_t offset,
                                 uint32_t step) {
  const auto scaled = [&](uint32_t column) { return static_cast<int32_t>(column * step); };
  switch (shape) {
    case TensorShape::k32x32b:
      return {t, scaled(r)};
    case TensorShape::k16x64b:
      return {t / 4 + 8 * (t % 2), scaled(t / 2 % 2 + 2 * r)};
    case TensorShape::k16x128b:
      return {t / 4 + 8 * (r % 2), scaled(t % 4 + 4 * (r / 2))};
    case TensorShape::k16x256b:
      return {t / 4 + 8 * (r / 2 % 2), scaled(r % 2 + 2 * (t % 4) + 8 * (r / 4))};
    case TensorShape::k16x32bx2:
      return {t % 16, scaled(r) + static_cast<int32_t>(t / 16) * offset};
  }
  return {0, 0};
}

constexpr uint32_t tensor_shape_lanes(TensorShape shape) {
  return shape == TensorShape::k32x32b ? 32 : 16;
}

// Columns in one piece that `registers` of each thread reach (.16x32bx2: each half).
constexpr uint32_t tensor_shape_columns(TensorShape shape, uint32_t registers, uint32_t step) {
  switch (shape) {
    case TensorShape::k32x32b:
    case TensorShape::k16x32bx2:
      return registers * step;
    default:  // two registers of a thread for every four columns, over 16 lanes
      return registers * 2 * step;
  }
}

}  // namespace lw::machine
