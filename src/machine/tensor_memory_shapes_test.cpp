#include "machine/tensor_memory_shapes.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace lw::machine {
namespace {

using Shape = TensorShape;

void expect_cell(Shape shape, uint32_t t, uint32_t r, int32_t offset, uint32_t step, uint32_t lane,
                 int32_t column) {
  const TensorCell cell = tensor_cell(shape, t, r, offset, step);
  EXPECT_EQ(cell.lane, lane);
  EXPECT_EQ(cell.column, column);
}

TEST(TensorShapes, SingleCells) {
  expect_cell(Shape::k16x256b, 13, 6, 0, 1, 43 - 32, 15 - 5);
  expect_cell(Shape::k16x64b, 7, 0, 0, 1, 9, 1);
  expect_cell(Shape::k16x128b, 30, 3, 0, 1, 15, 6);
  expect_cell(Shape::k16x32bx2, 20, 1, 5, 1, 4, 6);
  expect_cell(Shape::k16x32bx2, 20, 1, 5, 2, 4, 7);
  expect_cell(Shape::k32x32b, 20, 9, 0, 1, 20, 9);
}

// The registers of all threads are the rectangle that the shape's name says, each cell once.
TEST(TensorShapes, EveryCellOnce) {
  constexpr std::pair<Shape, uint32_t> kShapes[] = {
      {Shape::k32x32b, 1}, {Shape::k16x64b, 1}, {Shape::k16x128b, 2}, {Shape::k16x256b, 4}};
  for (auto [shape, registers_of_one] : kShapes)
    for (uint32_t step : {1u, 2u})
      for (uint32_t num : {1u, 2u, 8u, 32u}) {
        const uint32_t registers = num * registers_of_one;
        const uint32_t columns = tensor_shape_columns(shape, registers, step);
        std::set<std::tuple<uint32_t, int32_t>> cells;
        for (uint32_t r = 0; r < registers; ++r)
          for (uint32_t t = 0; t < 32; ++t)
            for (uint32_t half = 0; half < step; ++half) {
              const TensorCell cell = tensor_cell(shape, t, r, 0, step);
              EXPECT_LT(cell.lane, tensor_shape_lanes(shape));
              EXPECT_LT(cell.column + half, columns);
              cells.insert({cell.lane, cell.column + half});
            }
        EXPECT_EQ(cells.size(), size_t{tensor_shape_lanes(shape)} * columns);
      }
}

TEST(TensorShapes, HalvesOfTheThreadsAreApart) {
  std::set<std::tuple<uint32_t, int32_t>> cells;
  for (uint32_t r = 0; r < 4; ++r)
    for (uint32_t t = 0; t < 32; ++t) {
      const TensorCell cell = tensor_cell(Shape::k16x32bx2, t, r, 100, 1);
      EXPECT_EQ(cell.column / 100, static_cast<int32_t>(t / 16));
      cells.insert({cell.lane, cell.column});
    }
  EXPECT_EQ(cells.size(), 128u);
  EXPECT_EQ(tensor_shape_columns(Shape::k16x32bx2, 4, 1), 4u);
}

}  // namespace
}  // namespace lw::machine
