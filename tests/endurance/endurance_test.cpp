// A handler ends in a jump to the next one where the compiler makes sibling calls, and returns to a
// plain loop where it does not (machine/dispatch.h). If a handler called the next one instead, the
// stack would grow with every instruction until the lanes park: seen only where they run for long.
// So one warp runs 10^8 instructions in one turn on a stack of 256 KiB, through handlers of every
// kind: first all lanes together, then half of them, then lanes that part and join. In every
// preset, because each compiles the handlers in its own way.

#include <sys/resource.h>

#include <cstdint>
#include <limits>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

constexpr uint32_t kRounds = 2'000'000;
constexpr uint64_t kInstructions = 100'000'000;
constexpr rlim_t kStackBytes = 256u << 10;

// Arithmetic, predicates, guards, memory of three spaces, vectors, atomics, collectives, a call,
// and a branch that splits the warp.
constexpr char kKernel[] = R"(
.func (.param .b32 out) mixed(.param .b32 x, .param .b32 y) {
  .reg .b32 %x, %y;
  ld.param.b32 %x, [x];
  ld.param.b32 %y, [y];
  xor.b32 %x, %x, %y;
  shf.l.wrap.b32 %x, %x, %x, 7;
  st.param.b32 [out], %x;
  ret;
}
.visible .entry k(.param .u64 out, .param .u32 rounds) {
  .reg .pred %p, %odd, %any;
  .reg .b32 %t, %i, %n, %a, %b, %c, %d, %s;
  .reg .b64 %place, %wide;
  .reg .f32 %f;
  .reg .f64 %g;
  .local .align 8 .b8 kept[8];
  .shared .align 16 .b8 tile[512];
  ld.param.u64 %place, [out];
  ld.param.u32 %n, [rounds];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %place, %t, 4, %place;
  mov.b32 %s, tile;
  mad.lo.u32 %s, %t, 16, %s;
  and.b32 %d, %t, 1;
  setp.ne.u32 %odd, %d, 0;
  mov.u32 %a, %t;
  mov.u32 %i, 0;
together:
  mad.lo.u32 %a, %a, 1664525, 1013904223;
  st.shared.v4.b32 [%s], {%a, %i, %t, %n};
  ld.shared.v2.b32 {%b, %c}, [%s];
  @%odd add.u32 %b, %b, %c;
  st.local.b32 [kept], %b;
  ld.local.b32 %b, [kept];
  popc.b32 %c, %b;
  cvt.rn.f32.u32 %f, %c;
  fma.rn.f32 %f, %f, %f, %f;
  cvt.f64.f32 %g, %f;
  add.f64 %g, %g, %g;
  cvt.rzi.u32.f64 %c, %g;
  mul.wide.u32 %wide, %c, %b;
  cvt.u32.u64 %c, %wide;
  add.u32 %a, %a, %c;
  { .param .b32 x; .param .b32 y; .param .b32 out;
    st.param.b32 [x], %a;
    st.param.b32 [y], %b;
    call.uni (out), mixed, (x, y);
    ld.param.b32 %d, [out]; }
  shfl.sync.bfly.b32 %c, %d, 1, 31, -1;
  vote.sync.any.pred %any, %odd, -1;
  selp.b32 %c, %c, 0, %any;
  add.u32 %a, %a, %c;
  atom.shared.add.u32 %c, [%s+8], 1;
  add.u32 %a, %a, %c;
  bar.warp.sync -1;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %n;
  @%p bra together;
  mov.u32 %i, 0;
  @%odd bra joined;
half:
  xor.b32 %a, %a, %i;
  st.global.b32 [%place], %a;
  rem.u32 %c, %a, 1000;
  ld.global.b32 %b, [%place];
  add.u32 %a, %b, %c;
  st.shared.b32 [%s], %a;
  prmt.b32 %b, %a, %i, 0x6214;
  ld.shared.b32 %c, [%s];
  shr.u32 %c, %c, 3;
  xor.b32 %a, %b, %c;
  red.shared.add.u32 [%s+4], 1;
  max.s32 %a, %a, %i;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %n;
  @%p bra half;
joined:
  shr.u32 %n, %n, 3;
  mov.u32 %i, 0;
apart:
  mad.lo.u32 %a, %a, 1664525, %i;
  setp.lt.s32 %p, %a, 0;
  @%p bra negative;
  brev.b32 %a, %a;
  bra.uni met;
negative:
  not.b32 %a, %a;
  add.u32 %a, %a, %t;
met:
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %n;
  @%p bra apart;
  st.global.b32 [%place], %a;
  ret;
})";

uint32_t reversed(uint32_t x) {
  uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= (x >> bit & 1) << (31 - bit);
  return result;
}

// The same in C++, for two neighbouring threads: they hand each other a word in every round.
class Pair {
 public:
  explicit Pair(uint32_t first) : first_(first), a_{first, first + 1} {
    for (uint32_t i = 0; i < kRounds; ++i) together(i);
    for (uint32_t i = 0; i < kRounds; ++i) half(i);
    for (uint32_t i = 0; i < kRounds / 8; ++i) apart(i);
  }
  uint32_t operator[](int lane) const { return a_[lane]; }

 private:
  void together(uint32_t i) {
    uint32_t given[2];
    for (uint32_t lane = 0; lane < 2; ++lane) {
      uint32_t& a = a_[lane];
      a = a * 1664525u + 1013904223u;
      const uint32_t b = a + (lane == 0 ? 0 : i);
      const auto bits = static_cast<uint32_t>(std::popcount(b));
      a += 2 * (bits * bits + bits) * b;
      given[lane] = std::rotl(a ^ b, 7);
    }
    for (uint32_t lane = 0; lane < 2; ++lane) a_[lane] += given[lane ^ 1] + first_ + lane;
  }
  void half(uint32_t i) {
    const uint32_t a = (a_[0] ^ i) + (a_[0] ^ i) % 1000;
    // Bytes 4, 1, 2, 6 of (a, i), the first one lowest.
    const uint32_t mixed = (i & 0xff) | (a & 0xff00) | (a & 0xff0000) | (i << 8 & 0xff000000);
    a_[0] = static_cast<uint32_t>(
        std::max(static_cast<int32_t>(mixed ^ a >> 3), static_cast<int32_t>(i)));
  }
  void apart(uint32_t i) {
    for (uint32_t lane = 0; lane < 2; ++lane) {
      uint32_t& a = a_[lane];
      a = a * 1664525u + i;
      a = static_cast<int32_t>(a) < 0 ? ~a + first_ + lane : reversed(a);
    }
  }

  uint32_t first_;
  uint32_t a_[2];
};

// Turns that only a wait or the end can end.
class LongTurns : public PlainOrder {
 public:
  Choice next(Machine& machine) override {
    Choice choice = PlainOrder::next(machine);
    choice.quantum = std::numeric_limits<int32_t>::max();
    return choice;
  }
};

TEST(Endurance, ATurnNeedsNoMoreStackHoweverLongItIs) {
  const rlimit small{kStackBytes, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_STACK, &small), 0);
  TestKernel test(kKernel);
  test.buffer(32);
  test.parameter(kRounds);
  LongTurns policy;
  const RunResult& result = test.launch(test.request(1, 32), policy);
  ASSERT_TRUE(result.finished) << test.why();
  EXPECT_GE(result.reach.instructions, kInstructions);
  const std::vector<uint32_t> words = test.words(0);
  for (uint32_t t = 0; t < 32; t += 2) {
    const Pair pair(t);
    EXPECT_EQ(words[t], pair[0]) << t;
    EXPECT_EQ(words[t + 1], pair[1]) << t;
  }
}

}  // namespace
}  // namespace lw::machine
