#include "machine/async_groups.h"

#include <gtest/gtest.h>

namespace lw::machine {
namespace {

using base::kAllLanes;

const int kFirst = 0, kSecond = 0;

TEST(AsyncGroupsTest, WaitsForAllButTheNewest) {
  AsyncGroups groups;
  groups.issue(kAllLanes, &kFirst);
  groups.commit(kAllLanes);
  groups.issue(kAllLanes, &kSecond);
  groups.commit(kAllLanes);
  EXPECT_TRUE(groups.is_done(kAllLanes, 2, CopyPart::writes));
  EXPECT_FALSE(groups.is_done(kAllLanes, 1, CopyPart::writes));
  groups.done(&kFirst, CopyPart::writes);
  EXPECT_TRUE(groups.is_done(kAllLanes, 1, CopyPart::writes));
  EXPECT_FALSE(groups.is_done(kAllLanes, 0, CopyPart::writes));
}

TEST(AsyncGroupsTest, UncommittedOperationsAreInNoGroup) {
  AsyncGroups groups;
  groups.issue(1, &kFirst);
  EXPECT_TRUE(groups.is_done(1, 0, CopyPart::writes));
  EXPECT_FALSE(groups.is_idle(1));
  EXPECT_TRUE(groups.is_idle(2));
  groups.commit(1);
  EXPECT_FALSE(groups.is_done(1, 0, CopyPart::writes));
}

TEST(AsyncGroupsTest, EmptyGroupsCount) {
  AsyncGroups groups;
  groups.issue(1, &kFirst);
  groups.commit(1);
  groups.commit(1);
  EXPECT_FALSE(groups.is_done(1, 1, CopyPart::writes));
  EXPECT_TRUE(groups.is_done(1, 2, CopyPart::writes));
}

TEST(AsyncGroupsTest, LanesHaveGroupsOfTheirOwn) {
  AsyncGroups groups;
  groups.commit(1);
  groups.issue(3, &kFirst);
  groups.commit(2);
  EXPECT_TRUE(groups.is_done(1, 0, CopyPart::writes));
  EXPECT_FALSE(groups.is_done(2, 0, CopyPart::writes));
  EXPECT_FALSE(groups.is_done(3, 0, CopyPart::writes));
  groups.done(&kFirst, CopyPart::writes);
  EXPECT_EQ(groups.unfinished(), 0u);
}

TEST(AsyncGroupsTest, ReadsAreDoneBeforeWrites) {
  AsyncGroups groups;
  groups.issue(1, &kFirst);
  groups.commit(1);
  groups.done(&kFirst, CopyPart::reads);
  EXPECT_TRUE(groups.is_done(1, 0, CopyPart::reads));
  EXPECT_FALSE(groups.is_done(1, 0, CopyPart::writes));
}

TEST(AsyncGroupsTest, KnowsWhatCameBefore) {
  AsyncGroups groups;
  groups.issue(1, &kFirst);
  const uint64_t place = groups.now();
  groups.issue(2, &kSecond);
  EXPECT_TRUE(groups.has_before(1, place));
  EXPECT_FALSE(groups.has_before(2, place));
  EXPECT_TRUE(groups.has_before(2, groups.now()));
  groups.done(&kFirst, CopyPart::writes);
  EXPECT_FALSE(groups.has_before(1, place));
}

}  // namespace
}  // namespace lw::machine
