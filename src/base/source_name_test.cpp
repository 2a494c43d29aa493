#include "base/source_name.h"

#include <gtest/gtest.h>

namespace lw::base {
namespace {

TEST(SourceName, IsTheWordOfTheDeclaration) {
  EXPECT_EQ(source_name("_ZZ12softmax_rowsE4part"), "part");
  EXPECT_EQ(source_name("_ZZ12softmax_rowsPKfPfifE4part"), "part");
  EXPECT_EQ(source_name("_ZZN12_GLOBAL__N_16reduceILi4EfEEvPT0_E4tile"), "tile");
  EXPECT_EQ(source_name("_ZN3foo5tableE"), "table");
}

TEST(SourceName, LeavesOtherNamesAlone) {
  EXPECT_EQ(source_name("s_tile"), "s_tile");
  EXPECT_EQ(source_name("_Zzz"), "_Zzz");
  EXPECT_EQ(source_name(""), "");
}

TEST(SourceName, AFunctionIsCalledAsItWasDeclared) {
  EXPECT_EQ(declared_name("_Z7softmaxPKf"), "softmax");
  EXPECT_EQ(declared_name("_Z7softmaxILi4EEvPKf"), "softmax");
  EXPECT_EQ(declared_name("_ZN3foo12_GLOBAL__N_17softmaxINS_3barIiEELb1EEEvPT_"), "softmax");
  EXPECT_EQ(declared_name("_ZN3foo7softmaxEPFvPfE"), "softmax");
  EXPECT_EQ(declared_name("softmax"), "softmax");
  EXPECT_EQ(declared_name("_Zzz"), "_Zzz");
}

}  // namespace
}  // namespace lw::base
