#include "order/byte_set.h"

#include <gtest/gtest.h>

namespace lw::order {
namespace {

TEST(ByteSet, CountsEveryByteOnce) {
  ByteSet set;
  set.add(0, 4, 8);
  set.add(0, 4, 8);
  set.add(0, 6, 10);
  EXPECT_EQ(set.count(), 6u);
  set.add(0, 1000, 5000);  // over words and pages
  set.add(0, 4999, 5001);
  EXPECT_EQ(set.count(), 6u + 4001u);
}

TEST(ByteSet, TellsOwnersApart) {
  ByteSet set;
  set.add(0, 0, 64);
  set.add(1, 0, 64);
  EXPECT_EQ(set.count(), 128u);
  ByteSet other;
  other.add(1, 32, 96);
  set.add(other);
  EXPECT_EQ(set.count(), 160u);
}

}  // namespace
}  // namespace lw::order
