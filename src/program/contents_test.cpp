// Whose contents decide what a kernel does: one small kernel for each way that data may go.

#include "program/contents.h"

#include <gtest/gtest.h>

#include "ptx/parser.h"

namespace lw::program {
namespace {

constexpr Sources kX = 1, kY = 2;

class NoPlaces : public PlaceSource {
 public:
  uint32_t first_place(ptx::FunctionId) override { return 0; }
};

ContentsSlice slice(const std::string& body) {
  diagnose::Emitter emitter;
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 8 .b8 tile[64];\n"
      ".shared .align 8 .b8 other[64];\n"
      ".visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {\n"
      ".reg .b32 %r<9>; .reg .b64 %x, %y, %z; .reg .pred %p;\n"
      "ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u32 %r0, [n];\n" +
          body + "\nret;\n}\n",
      "k", emitter);
  EXPECT_TRUE(module) << body;
  NoPlaces places;
  const FlatCode code = flatten(*module, *module->find_function("k"), places);
  HeldContents held(2);
  return slice_contents(*module, code, {{kX, kY, 0}, kX | kY}, held);
}

Sources deciding(const std::string& body) {
  const ContentsSlice result = slice(body);
  EXPECT_TRUE(result.lost.empty()) << body;
  Sources by = 0;
  for (const Decided& one : result.decided) by |= one.by;
  return by;
}

TEST(Contents, ACopyIsTheSameForAll) {
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; add.u32 %r1, %r1, %r0; st.global.u32 [%y], %r1;"),
            0u);
}

TEST(Contents, ABranchOnALoadedValueIsNot) {
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; setp.eq.u32 %p, %r1, 0; @%p bra done; "
                     "st.global.u32 [%y], %r1; done:"),
            kX);
}

TEST(Contents, NorIsAGuardedStoreOrALoadedIndex) {
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; setp.eq.u32 %p, %r1, 0; @%p st.global.u32 [%y], 1;"),
            kX);
  // What is loaded may be a pointer to anywhere, so more than %y may decide.
  EXPECT_NE(kY & deciding("ld.global.u32 %r1, [%y]; mul.wide.u32 %z, %r1, 4; add.u64 %z, %x, %z; "
                          "ld.global.u32 %r2, [%z]; st.global.u32 [%y], %r2;"),
            0u);
}

TEST(Contents, AChosenValueDecidesNothing) {
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; setp.eq.u32 %p, %r1, 0; @%p mov.u32 %r1, 7; "
                     "selp.u32 %r2, 1, %r1, %p; st.global.u32 [%y], %r2;"),
            0u);
}

TEST(Contents, ItIsFollowedThroughMemory) {
  EXPECT_EQ(
      deciding("ld.global.u32 %r1, [%x]; st.shared.u32 [tile], %r1; ld.shared.u32 %r2, [tile]; "
               "setp.eq.u32 %p, %r2, 0; @%p bra done; st.global.u32 [%y], 1; done:"),
      kX);
  EXPECT_EQ(
      deciding("mov.u32 %r3, tile; cp.async.ca.shared.global [%r3], [%x], 4; cp.async.wait_all; "
               "ld.shared.u32 %r2, [tile]; setp.eq.u32 %p, %r2, 0; @%p st.global.u32 [%y], 1;"),
      kX);
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; st.global.u32 [%y], %r1; ld.global.u32 %r2, [%y]; "
                     "setp.eq.u32 %p, %r2, 0; @%p st.global.u32 [%y], 1;"),
            kX | kY);
}

TEST(Contents, VariablesInSharedMemoryAreTheirOwn) {
  const std::string both =
      "ld.global.u32 %r1, [%x]; st.shared.u32 [tile], %r1; "
      "ld.global.u32 %r2, [%y]; mov.u32 %r3, other; st.shared.u32 [%r3+4], %r2; ";
  const std::string branch = "setp.eq.u32 %p, %r4, 0; @%p bra done; st.global.u32 [%y], 1; done:";
  EXPECT_EQ(deciding(both + "ld.shared.u32 %r4, [tile+8]; " + branch), kX);
  EXPECT_EQ(deciding(both + "ld.shared.u32 %r4, [%r3]; " + branch), kY);
  // An address that is nobody's may be anybody's.
  EXPECT_EQ(deciding(both + "ld.shared.u32 %r4, [%r0]; " + branch), kX | kY);
}

TEST(Contents, ALoadedOffsetStaysWithItsPointer) {
  const std::string at = "ld.global.u32 %r1, [%y]; mul.wide.u32 %z, %r1, 4; add.u64 %z, %x, %z; ";
  EXPECT_EQ(deciding(at + "ld.global.u32 %r2, [%z]; st.global.u32 [%x], %r2;"), kY);
  // Two of them may be a pointer, and so is what has 64 bits.
  const std::string store =
      "st.global.u32 [%z], 1; ld.global.u32 %r3, [%x]; "
      "setp.eq.u32 %p, %r3, 0; @%p bra done; done:";
  EXPECT_EQ(deciding("ld.global.v2.u32 {%r1, %r2}, [%y]; mov.b64 %z, {%r1, %r2}; " + store),
            kX | kY);
  EXPECT_EQ(deciding("ld.global.u64 %z, [%y]; add.u64 %z, %z, %x; " + store), kX | kY);
}

TEST(Contents, WhatAnAtomicGivesIsOfItsObject) {
  EXPECT_EQ(
      deciding("atom.global.add.u32 %r1, [%y], 1; setp.eq.u32 %p, %r1, 0; @%p bra done; done:"),
      kY);
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; red.global.add.u32 [%y], %r1;"), 0u);
}

TEST(Contents, CountsAndMasksDecide) {
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; bar.sync 0, %r1;"), kX);
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; mov.u32 %r3, tile; "
                     "cp.async.ca.shared.global [%r3], [%y], 4, %r1;"),
            kX);
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; shfl.sync.idx.b32 %r2, %r0, 0, 31, %r1;"), kX);
  EXPECT_EQ(deciding("ld.global.u32 %r1, [%x]; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; "
                     "st.global.u32 [%y], %r2;"),
            0u);
}

TEST(Contents, AnAddressFromNowhereIsLost) {
  EXPECT_EQ(slice("mov.u64 %z, 4096; ld.global.u32 %r1, [%z];").lost.size(), 1u);
  EXPECT_TRUE(slice("mov.u64 %z, 4096; add.u64 %z, %x, %z; ld.global.u32 %r1, [%z];").lost.empty());
}

}  // namespace
}  // namespace lw::program
