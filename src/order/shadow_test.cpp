#include "order/shadow.h"

#include <gtest/gtest.h>

namespace lw::order {
namespace {

// The ids used here are those of accesses, not of sets.
Objects plain_objects() {
  Objects objects;
  while (objects.add(0) < 64) {
  }
  return objects;
}

std::vector<Touch> writers_of(const Shadow& shadow, const Block& block,
                              CellMask cells = kAllCells) {
  std::vector<Touch> touches;
  shadow.writers(block, cells, touches);
  return touches;
}

std::vector<Touch> readers_of(const Shadow& shadow, const Block& block) {
  std::vector<Touch> touches;
  shadow.readers(block, touches);
  return touches;
}

TEST(Shadow, AWriteOfSomeCellsMakesTheBlockMixed) {
  const Objects objects = plain_objects();
  Shadow shadow(objects);
  Block block;
  shadow.set_writer(block, kAllCells, 10);
  EXPECT_EQ(block.write, 10u);
  shadow.set_writer(block, 0x0000ff00, 11);
  EXPECT_EQ(block.write, kMixed);
  const auto touches = writers_of(shadow, block);
  ASSERT_EQ(touches.size(), 2u);
  EXPECT_EQ(touches[0].id, 10u);
  EXPECT_EQ(touches[0].cells, 0xffff00ffu);
  EXPECT_EQ(touches[1].cells, 0x0000ff00u);
  EXPECT_EQ(shadow.sole_writer(block, 0x300), 11u);
  EXPECT_EQ(shadow.sole_writer(block, 0x301), kMixed);
}

TEST(Shadow, CellsOfOneWriterBecomeOneAgain) {
  const Objects objects = plain_objects();
  Shadow shadow(objects);
  Block block;
  shadow.set_writer(block, 0xffff, 10);
  shadow.set_writer(block, 0xffff0000, 10);
  EXPECT_EQ(block.write, 10u);
  EXPECT_EQ(block.detail, 0u);
}

TEST(Shadow, KeepsManyReaders) {
  const Objects objects = plain_objects();
  Shadow shadow(objects);
  Block block;
  for (ObjectId id = 10; id < 60; ++id) shadow.add_reader(block, 1u << (id % 32), id, false);
  shadow.add_reader(block, 1u << 31, 10, false);
  EXPECT_EQ(readers_of(shadow, block).size(), 50u);
  EXPECT_EQ(block.reader, 10u);  // the last that came
  EXPECT_EQ(block.reader_cells, 1u << 10 | 1u << 31);
  shadow.set_readers(block, {}, false);
  EXPECT_EQ(block.detail, 0u);
  EXPECT_EQ(block.reader, 0u);
}

TEST(Shadow, SplitKeepsWritersAndReaders) {
  const Objects objects = plain_objects();
  Shadow shadow(objects);
  Block block;
  shadow.set_writer(block, kAllCells, 10);
  shadow.set_writer(block, 0x00000300, 11);  // cells 8 and 9: bytes 32 to 39
  shadow.add_reader(block, 1u << 31, 12, false);
  const Block& second = shadow.fine(block, 1);
  EXPECT_EQ(shadow.sole_writer(second, 0xff), 11u);
  EXPECT_EQ(shadow.sole_writer(second, 0xff00), 10u);
  EXPECT_EQ(shadow.fine(block, 0).write, 10u);
  EXPECT_EQ(shadow.fine(block, 3).reader, 12u);
  EXPECT_EQ(shadow.fine(block, 3).reader_cells, 0xf0000000u);
  EXPECT_EQ(shadow.fine(block, 2).reader, 0u);
  shadow.release(block);
  EXPECT_EQ(block.write, kInitial);
  EXPECT_EQ(block.detail, 0u);
}

TEST(Region, StartsAsAsked) {
  Region region(1000, 300000, kUnwritten);
  EXPECT_EQ(region.base(), 896u);
  EXPECT_TRUE(region.holds(1000));
  EXPECT_TRUE(region.holds(300999));
  EXPECT_FALSE(region.holds(800));
  EXPECT_FALSE(region.holds(302000));
  EXPECT_EQ(region.at(1000)->write, kUnwritten);
  EXPECT_EQ(region.at(300999)->write, kUnwritten);
  EXPECT_LT(region.bytes(), 300000u / 8);
}

}  // namespace
}  // namespace lw::order
