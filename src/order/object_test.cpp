#include "order/object.h"

#include <gtest/gtest.h>

#include "order/shape.h"

namespace lw::order {
namespace {

Object object_with(const Shape& shape) {
  Object object;
  object.shape = shape.kind;
  object.shift = shape.shift;
  object.base = shape.base;
  object.lanes = shape.lanes;
  return object;
}

TEST(Objects, AnAffineShapeNamesTheLaneOfEachByte) {
  const Objects objects;
  const Object object = object_with(affine_shape(256 + 16, 4));
  EXPECT_EQ(objects.lanes_at(object, 256 + 16), 1u);
  EXPECT_EQ(objects.lanes_at(object, 256 + 31), 1u);
  EXPECT_EQ(objects.lanes_at(object, 256 + 32), 2u);
  EXPECT_EQ(objects.lanes_at(object, 256 + 16 + 31 * 16), 1u << 31);
}

TEST(Objects, AffineShapesRepeatAfterAWholeWarp) {
  EXPECT_EQ(affine_code(64, 2), affine_code(64 + 32 * 4, 2));
  EXPECT_NE(affine_code(64, 2), affine_code(68, 2));
  EXPECT_NE(affine_code(64, 2), affine_code(64, 3));
}

TEST(Objects, EqualAddressesAreOneShape) {
  Objects objects;
  EachShape each;
  each.lanes = 0xff;
  each.bytes = 4;
  for (uint64_t lane = 0; lane < 8; ++lane) each.address[lane] = lane * 100;
  const uint32_t first = objects.add_each(each);
  EXPECT_EQ(objects.add_each(each), first);
  each.address[3] += 4;
  EXPECT_NE(objects.add_each(each), first);
}

TEST(Objects, LanesOfOneAddressAreAllNamed) {
  EachShape each;
  each.lanes = 0b111;
  each.bytes = 4;
  each.address[0] = each.address[2] = 40;
  each.address[1] = 44;
  EXPECT_EQ(each.lanes_over(43), 0b101u);
  EXPECT_EQ(each.lanes_over(44), 0b010u);
  EXPECT_EQ(each.lanes_over(48), 0u);
}

TEST(Objects, SweepFreesWhatIsNotMarked) {
  Objects objects;
  const ObjectId a = objects.add(1);
  const ObjectId b = objects.add(2);
  objects.mark(b);
  objects.sweep();
  EXPECT_EQ(objects.live(), 1u);
  EXPECT_EQ(objects.add(3), a);
  EXPECT_EQ(objects.key(b).key, 2u);
}

}  // namespace
}  // namespace lw::order
