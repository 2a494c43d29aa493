#include <gtest/gtest.h>

#include <string_view>

#include "ptx/forms/match.h"
#include "ptx/forms/parse_pattern.h"

namespace lw::ptx {
namespace {

bool matches(const Pattern& pattern, std::string_view opcode) {
  const SplitOpcode split = split_opcode(opcode);
  return !split.unknown && split.base == pattern.base &&
         matches_opcode(pattern, split.mods, split.types);
}

TEST(Pattern, ModifiersAreASetAndTypesASequence) {
  const Pattern pattern = parse_pattern(
      "cvt{.rnd}{.sat}.dtype.atype d:.dtype, a:.atype; .rnd = { .rn, .rz };"
      ".dtype = { .f16, .f32 }; .atype = { .s32, .f32 };");
  EXPECT_TRUE(matches(pattern, "cvt.rn.f16.s32"));
  EXPECT_TRUE(matches(pattern, "cvt.sat.rn.f16.f32"));
  EXPECT_TRUE(matches(pattern, "cvt.f16.rn.f32.sat"));
  EXPECT_FALSE(matches(pattern, "cvt.rn.s32.f16"));
  EXPECT_FALSE(matches(pattern, "cvt.rn.rz.f16.f32"));
  EXPECT_FALSE(matches(pattern, "cvt.rn.f16"));
}

TEST(Pattern, GroupsAreWholeOrAbsent) {
  const Pattern pattern = parse_pattern("min{.ftz}{.xorsign.abs}.f32 d, a, b;");
  EXPECT_TRUE(matches(pattern, "min.xorsign.abs.f32"));
  EXPECT_TRUE(matches(pattern, "min.f32.ftz"));
  EXPECT_FALSE(matches(pattern, "min.abs.f32"));
  const Pattern nested = parse_pattern("fence{.acquire{.cta}}; ");
  EXPECT_TRUE(matches(nested, "fence.acquire"));
  EXPECT_FALSE(matches(nested, "fence.cta"));
}

TEST(Pattern, TheSameListTwiceKeepsItsOrder) {
  const Pattern pattern =
      parse_pattern("wmma.l1.l2.f16 d; .l1 = { .row, .col }; .l2 = { .row, .col };");
  EXPECT_TRUE(matches(pattern, "wmma.row.row.f16"));
  EXPECT_TRUE(matches(pattern, "wmma.row.col.f16"));
  EXPECT_FALSE(matches(pattern, "wmma.row.f16"));
}

TEST(Pattern, NamesTellTheDirection) {
  const Pattern pattern = parse_pattern("setp.eq.s32 p{|q}, a, b, parity:.u32; ");
  EXPECT_TRUE(pattern.operands[0].written);
  EXPECT_EQ(pattern.operands[0].fixed_type, Type::pred);
  EXPECT_TRUE(pattern.operands[0].pair_optional);
  EXPECT_FALSE(pattern.operands[3].written);
  EXPECT_EQ(pattern.operands[3].fixed_type, Type::u32);
}

TEST(Pattern, StarsStandForNumbers) {
  const Pattern pattern = parse_pattern("wgmma.shape.f16 d; .shape = { .m64n*k16 };");
  EXPECT_EQ(pattern.elements[0].mods.size(), 32u);
  EXPECT_TRUE(matches(pattern, "wgmma.m64n176k16.f16"));
  EXPECT_FALSE(matches(pattern, "wgmma.m64n176k8.f16"));
}

TEST(Pattern, MalformedOnesThrow) {
  for (std::string_view text :
       {"add.s32 d, a", "add.nonsense d;", "add.s32 d:nonsense;", "add.s32.u32 d, a;",
        "add.s32 d; .unused = { .rn };", "add{.s32 d;", "add.s32 d, {, c;",
        "add.type d; .type = { };", "add.s32 d, a:if.rn;", "add.s32 [a;"}) {
    EXPECT_ANY_THROW(parse_pattern(text)) << text;
  }
}

TEST(Pattern, ExplainsWhatDoesNotMatch) {
  EXPECT_EQ(explain_mismatch(split_opcode("add.s32.ftz")).message, "`add` does not take `.ftz`");
  EXPECT_EQ(explain_mismatch(split_opcode("ad.s32")).message, "no instruction is called `ad`");
  EXPECT_EQ(explain_mismatch(split_opcode("add.s32.s31")).message,
            "`.s31` is neither a type nor a modifier of PTX");
}

}  // namespace
}  // namespace lw::ptx
