// Kernels of clusters of two: their barrier, mbarriers, shared and tensor memory of the other CTA;
// what a GPU does with clusters is in lanes_agree_test.cpp.

#include <gtest/gtest.h>

#include "machine/test_kernel.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

// `body` runs by one warp or more of two CTAs with %t = tid.x, %rank, %rd1 = the address of
// out[128 rank + tid].
std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<9>;
  .reg .b16 %h<4>;
  .reg .b32 %r<40>;
  .reg .b32 %t, %rank;
  .reg .b64 %rd<9>;
  .shared .align 128 .b8 a[2048];
  .shared .align 128 .b8 b[256];
  .shared .align 8 .b64 bar;
  .shared .align 8 .b32 base[2];
  mov.u32 %t, %tid.x;
  mov.u32 %rank, %cluster_ctarank;
  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r1, %r1, 128, %t;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  setp.eq.u32 %p1, %t, 0;
  setp.eq.u32 %p2, %rank, 0;
)" + body +
         "\n  ret;\n}\n";
}

struct Cluster {
  explicit Cluster(const std::string& body, uint32_t threads = 32, order::Engine* engine = nullptr)
      : test(kernel(body), {}, "sm_100a") {
    test.buffer(256);
    LaunchRequest request = test.request(2, threads);
    request.cluster.x = 2;
    PlainOrder policy;
    test.launch(request, policy, engine);
  }
  std::string fault() const { return test.result().fault ? test.result().fault->text : ""; }

  TestKernel test;
};

constexpr const char* kMeet = R"(
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;)";

const std::string kInit = std::string(R"(
  @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
  fence.mbarrier_init.release.cluster;)") +
                          kMeet;

TEST(Clusters, OneArrivesAtTheOthersObject) {
  Cluster cluster(kInit + R"(
  mov.u32 %r2, bar;
  mapa.shared::cluster.u32 %r2, %r2, 0;
  getctarank.shared::cluster.u32 %r3, %r2;
  add.u32 %r3, %r3, 7;
  setp.eq.and.u32 %p3, %rank, 1, %p1;
  @%p3 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
  @!%p2 bra DONE;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [bar], 0;
  @!%p4 bra WAIT;
DONE:
  st.global.u32 [%rd1], %r3;)" +
                  kMeet);
  ASSERT_TRUE(cluster.test.result().finished) << cluster.test.why();
  EXPECT_EQ(cluster.test.words(0)[0], 7u);
  EXPECT_EQ(cluster.test.words(0)[128], 7u);
}

TEST(Clusters, NobodyPassesTheBarrierAlone) {
  Cluster cluster(std::string(R"(
  @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
  bar.sync 0;
  @!%p2 bra HERE;
NEVER:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0;
  @!%p4 bra NEVER;
HERE:)") + kMeet);
  EXPECT_FALSE(cluster.test.result().finished);
  EXPECT_NE(cluster.fault().find("nothing can run"), std::string::npos) << cluster.fault();
}

TEST(Clusters, WhoHasExitedIsNotWaitedFor) {
  Cluster cluster(std::string("@%p2 exit;") + kMeet + "\nst.global.u32 [%rd1], 1;");
  ASSERT_TRUE(cluster.test.result().finished) << cluster.test.why();
  EXPECT_EQ(cluster.test.words(0)[128], 1u);
}

TEST(Clusters, ABarrierWantsOneArrivalBeforeEachWait) {
  EXPECT_NE(Cluster("barrier.cluster.wait.aligned;").fault().find("has not arrived"),
            std::string::npos);
  EXPECT_NE(Cluster("barrier.cluster.arrive.aligned;\nbarrier.cluster.arrive.aligned;")
                .fault()
                .find("again"),
            std::string::npos);
}

TEST(Clusters, AnEndedCtaHasNoMemory) {
  Cluster cluster(kInit + R"(
  mov.u32 %r2, bar;
  @!%p2 bra OTHER;
  mapa.shared::cluster.u32 %r3, %r2, 1;
  @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
  exit;
OTHER:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [bar], 0;
  @!%p4 bra OTHER;
  mapa.shared::cluster.u32 %r3, %r2, 0;
  @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];)");
  EXPECT_EQ(cluster.fault(), "the CTA of rank 0 has ended");
}

// Both CTAs arrive at the leader's by clearing the bit of the peer, and at that of rank 0.
TEST(Clusters, TheAddressOfAVariableHasTheRankOfItsCta) {
  Cluster cluster(R"(
  @%p1 mbarrier.init.shared::cta.b64 [bar], 4;
  fence.mbarrier_init.release.cluster;)" +
                  std::string(kMeet) + R"(
  mov.u32 %r2, bar;
  and.b32 %r3, %r2, 0xfeffffff;
  @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
  and.b32 %r4, %r2, 0xffffff;
  @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
  @!%p2 bra DONE;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [bar], 0;
  @!%p4 bra WAIT;
DONE:
  st.global.u32 [%rd1], %r2;)" +
                  kMeet);
  ASSERT_TRUE(cluster.test.result().finished) << cluster.test.why();
  const uint32_t leader = cluster.test.words(0)[0];
  EXPECT_EQ(leader >> 24, 0u);
  EXPECT_EQ(cluster.test.words(0)[128], leader | 0x1000000);
}

TEST(Clusters, OnlyTheClusterWindowReachesAPeer) {
  const std::string peer = "mov.u32 %r2, a;\nxor.b32 %r2, %r2, 0x1000000;\n";
  const auto fault = [&](const std::string& access) {
    return Cluster(kInit + peer + access + kMeet).fault();
  };
  EXPECT_NE(fault("ld.shared.u32 %r3, [%r2];").find("outside"), std::string::npos);
  EXPECT_NE(fault("st.shared::cta.u32 [%r2], 1;").find("outside"), std::string::npos);
  const std::string object = fault("mbarrier.test_wait.parity.shared::cta.b64 %p4, [%r2], 0;");
  EXPECT_NE(object.find(", which this does not reach"), std::string::npos);
  EXPECT_NE(fault("mbarrier.arrive.shared.b64 _, [%r2];").find("does not reach"),
            std::string::npos);
  EXPECT_NE(fault("ld.shared::cluster.u32 %r3, [%r2+4096];").find("the other CTA"),
            std::string::npos);
  EXPECT_NE(fault("ld.shared::cluster.u32 %r3, [%r2+0x2000000];").find(" in a cluster of 2 CTAs"),
            std::string::npos);
  EXPECT_NE(fault("mov.u32 %r4, bar;\nxor.b32 %r4, %r4, 0x1000000;\n"
                  "st.shared::cluster.u32 [%r4], 1;")
                .find("a live mbarrier object"),
            std::string::npos);
}

TEST(Clusters, MisuseOfAsynchronousStoresAndCopies) {
  const auto fault = [&](const std::string& body) {
    return Cluster(kInit + "mov.u32 %r2, a;\nmov.u32 %r3, bar;\nxor.b32 %r4, %r2, 0x1000000;\n" +
                   "xor.b32 %r5, %r3, 0x1000000;\n" + body + kMeet)
        .fault();
  };
  const std::string st = "@%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 ";
  EXPECT_EQ(fault(st + "[%r4], %r1, [%r3];"),
            "the mbarrier object is in another CTA than the destination");
  EXPECT_NE(fault(st + "[%r4+2], %r1, [%r5];").find("not a multiple of 4"), std::string::npos);
  EXPECT_NE(fault(st + "[%r5], %r1, [%r5];").find("touches it"), std::string::npos);
  const std::string copy =
      "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes ";
  EXPECT_EQ(fault(copy + "[%r2], [%r2+64], 16, [%r3];"), "the destination is in the CTA itself");
  EXPECT_NE(fault(copy + "[%r4], [%r4+64], 16, [%r5];").find("does not reach"), std::string::npos);
}

TEST(Clusters, TheMemoryOfAnEndedCtaIsAnError) {
  Cluster cluster(kInit + R"(
  mov.u32 %r2, a;
  mov.u32 %r3, bar;
  @!%p2 bra OTHER;
  mapa.shared::cluster.u32 %r3, %r3, 1;
  @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
  exit;
OTHER:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [bar], 0;
  @!%p4 bra OTHER;
  mapa.shared::cluster.u32 %r2, %r2, 0;
  ld.shared::cluster.u32 %r2, [%r2];)");
  EXPECT_EQ(cluster.fault(), "the CTA of rank 0 has ended");
}

// Of the checked run: the race, the error or what was not analysed, in short.
std::string checked(const std::string& body) {
  order::Engine engine({});
  const Cluster cluster(body, 32, &engine);
  if (cluster.test.result().not_analysed) return cluster.test.result().not_analysed->reason;
  EXPECT_TRUE(cluster.test.result().finished) << cluster.test.why();
  const order::Facts facts = engine.finish();
  std::string text;
  for (const order::RaceGroup& race : facts.races)
    text += fmt::format("race {} ", diagnose::rule(race.first.rule).id);
  for (const order::PlainError& error : facts.errors)
    text += fmt::format("error {} ", diagnose::rule(error.rule).id);
  return text;
}

TEST(Clusters, TheirOrderIsChecked) {
  const std::string write = R"(
  mov.u32 %r2, a;
  xor.b32 %r3, %r2, 0x1000000;
  mad.lo.u32 %r3, %t, 4, %r3;
  mad.lo.u32 %r4, %t, 4, %r2;
  st.shared::cluster.u32 [%r3], %t;)";
  const std::string read = "\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%rd1], %r5;\n";
  EXPECT_EQ(checked(kMeet + write + kMeet + read), "");
  EXPECT_NE(checked(kMeet + write + read + kMeet), "");
  EXPECT_NE(checked(write + kMeet + read), "");  // the peer may not have started
  EXPECT_EQ(checked(kMeet + write + R"(
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.acquire.aligned;)" +
                    read)
                .substr(0, 5),
            "race ");
}

TEST(Clusters, WhatIsNotCheckedSaysSo) {
  EXPECT_EQ(checked("mov.u32 %r2, a;\nst.async.shared::cluster.mbarrier::complete_tx::bytes.b32 "
                    "[%r2], %r1, [bar];"),
            "the order of st.async and red.async");
}

// A pair of 64 rows each: row i of CTA c is 64 c + i in its first k, column j of B is j there.
TEST(Clusters, APairFoldsItsProductOf128Rows) {
  Cluster cluster(R"(
  mov.u32 %r2, 0;
CLEAR:
  mad.lo.u32 %r3, %t, 4, %r2;
  mov.u32 %r4, a;
  add.u32 %r4, %r4, %r3;
  st.shared.u32 [%r4], 0;
  add.u32 %r2, %r2, 512;
  setp.lt.u32 %p3, %r2, 2048;
  @%p3 bra CLEAR;
  mov.u32 %r4, b;
  and.b32 %r5, %t, 63;
  mad.lo.u32 %r4, %r5, 4, %r4;
  st.shared.u32 [%r4], 0;
  bar.sync 0;
  setp.ge.u32 %p3, %t, 64;
  @%p3 bra FILLED;
  mov.u32 %r4, a;
  mad.lo.u32 %r4, %t, 16, %r4;
  mad.lo.u32 %r5, %rank, 64, %t;
  cvt.rn.f16.u32 %h1, %r5;
  st.shared.b16 [%r4], %h1;
  setp.ge.u32 %p3, %t, 8;
  @%p3 bra FILLED;
  mov.u32 %r4, b;
  mad.lo.u32 %r4, %t, 16, %r4;
  mad.lo.u32 %r5, %rank, 8, %t;
  cvt.rn.f16.u32 %h1, %r5;
  st.shared.b16 [%r4], %h1;
FILLED:
  setp.lt.u32 %p8, %t, 32;
  @%p8 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [base], 32;
  fence.proxy.async.shared::cta;)" +
                      kInit +
                      R"(
  ld.shared.u32 %r10, [base];
  mov.u32 %r11, a;
  shr.u32 %r11, %r11, 4;
  or.b32 %r12, %r11, 0x00400000;
  mov.b64 %rd3, {%r12, 0x00004008};
  mov.u32 %r11, b;
  shr.u32 %r11, %r11, 4;
  or.b32 %r12, %r11, 0x00080000;
  mov.b64 %rd4, {%r12, 0x00004008};
  and.pred %p3, %p1, %p2;
  setp.ne.u32 %p4, %t, %t;
  mov.b16 %h2, 3;
  @%p3 tcgen05.mma.cta_group::2.kind::f16 [%r10], %rd3, %rd4, 0x08040010, %p4;
  @%p3 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %h2;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0;
  @!%p4 bra WAIT;
  and.b32 %r13, %t, 96;
  shl.b32 %r13, %r13, 16;
  add.u32 %r13, %r13, %r10;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r14}, [%r13+5];
  tcgen05.wait::ld.sync.aligned;
  st.global.b32 [%rd1], %r14;)" +
                      kMeet +
                      R"(
  @%p8 tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
  @%p8 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 32;)",
                  128);
  ASSERT_TRUE(cluster.test.result().finished) << cluster.test.why();
  const std::vector<float> column = cluster.test.floats(0);
  for (uint32_t cta = 0; cta < 2; ++cta)
    for (uint32_t lane = 0; lane < 128; ++lane) {
      const uint32_t row = 64 * cta + lane % 64, j = 5 + 8 * (lane / 64);
      EXPECT_EQ(column[128 * cta + lane], static_cast<float>(row * j)) << cta << " " << lane;
    }
}

}  // namespace
}  // namespace lw::machine
