#include "machine/tensor_memory.h"

#include <gtest/gtest.h>

namespace lw::machine {
namespace {

constexpr base::CtaId kOne{1}, kTwo{2};
constexpr base::OpId kOp{7};

TEST(TensorMemory, GivesTheLowestFreeRunOfTheSize) {
  TensorMemory memory(0);
  EXPECT_EQ(memory.allocate(kOne, 256, kOp), 0u);
  EXPECT_EQ(memory.allocate(kTwo, 32, kOp), 256u);
  EXPECT_EQ(memory.allocate(kOne, 128, kOp), 384u);
  EXPECT_EQ(memory.allocate(kTwo, 128, kOp), std::nullopt);
  EXPECT_EQ(memory.free_columns(), 96u);
  memory.find(kOne, 0)->freed_in = base::WarpId(0);
  EXPECT_EQ(memory.allocate(kTwo, 128, kOp), 0u);
}

TEST(TensorMemory, ColumnsAreHeldByOneCta) {
  using Holding = TensorMemory::Holding;
  TensorMemory memory(0);
  memory.allocate(kOne, 64, kOp);
  memory.allocate(kTwo, 64, kOp);
  EXPECT_EQ(memory.held(kOne, 0, 64).holding, Holding::live);
  EXPECT_EQ(memory.held(kOne, 32, 64).holding, Holding::never);
  EXPECT_EQ(memory.held(kOne, 32, 64).column, 64u);
  EXPECT_EQ(memory.held(kTwo, 64, 64).holding, Holding::live);
  memory.find(kOne, 0)->freed_in = base::WarpId(3);
  EXPECT_EQ(memory.held(kOne, 10, 2).holding, Holding::freed);
  EXPECT_EQ(memory.held(kOne, 10, 2).freed->freed_in, base::WarpId(3));
  EXPECT_EQ(memory.allocate(kTwo, 64, kOp), 0u);
  EXPECT_EQ(memory.held(kOne, 10, 2).holding, Holding::freed);
  memory.forget(kOne);
  EXPECT_EQ(memory.held(kOne, 10, 2).holding, Holding::never);
}

TEST(TensorMemory, WhatIsAllocatedAgainIsLive) {
  TensorMemory memory(0);
  memory.allocate(kOne, 32, kOp);
  memory.find(kOne, 0)->freed_in = base::WarpId(0);
  memory.allocate(kOne, 32, kOp);
  EXPECT_EQ(memory.held(kOne, 0, 32).holding, TensorMemory::Holding::live);
  EXPECT_TRUE(memory.find(kOne, 0)->is_live());
}

TEST(TensorMemory, FreedColumnsKeepTheirBits) {
  TensorMemory memory(0xa5);
  memory.allocate(kOne, 32, kOp);
  EXPECT_EQ(memory.column(5)[17], 0xa5a5a5a5u);
  memory.column(5)[17] = 42;
  memory.find(kOne, 0)->freed_in = base::WarpId(0);
  memory.forget(kOne);
  memory.allocate(kTwo, 32, kOp);
  EXPECT_EQ(memory.column(5)[17], 42u);
}

}  // namespace
}  // namespace lw::machine
