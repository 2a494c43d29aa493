#include "casefile/compare.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lw::casefile {
namespace {

TEST(Compare, PassesByRatioOrByLargestError) {
  Check bounds;
  EXPECT_TRUE(compare("x", {1.001, 2}, {1, 2}, bounds).passed);
  EXPECT_FALSE(compare("x", {1.1, 2}, {1, 2}, bounds).passed);
  EXPECT_TRUE(compare("x", {1e-7, 0}, {0, 0}, bounds).passed);
}

TEST(Compare, WantsNotNumbersInTheSamePlaces) {
  EXPECT_TRUE(compare("x", {NAN, 1}, {NAN, 1}, {}).passed);
  EXPECT_FALSE(compare("x", {NAN, 1}, {0, 1}, {}).passed);
}

TEST(Difference, CountsElements) {
  const Difference difference =
      lw::casefile::difference({0, 0, 1, 0, 2, 0}, {0, 0, 9, 0, 2, 1}, Dtype::u16);
  EXPECT_EQ(difference.words, 3u);
  EXPECT_EQ(difference.changed, 2u);
  EXPECT_EQ(difference.first[1].after, 0x102u);
}

}  // namespace
}  // namespace lw::casefile
