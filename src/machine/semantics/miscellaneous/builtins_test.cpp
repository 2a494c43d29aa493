// vprintf, __assertfail, malloc; trap, brkpt, nanosleep, pmevent.

#include <gtest/gtest.h>

#include "machine/semantics/lane_kernel.h"
#include "machine/semantics/miscellaneous/printf_format.h"

namespace lw::machine {
namespace {

class ListedArguments final : public PrintfArguments {
 public:
  explicit ListedArguments(std::vector<uint32_t> words) : words_(std::move(words)) {}
  uint64_t read(uint64_t offset, uint32_t bytes) override {
    uint64_t value = words_.at(offset / 4);
    if (bytes == 8) value |= uint64_t{words_.at(offset / 4 + 1)} << 32;
    return value;
  }
  std::string read_text(uint64_t address) override { return "text" + std::to_string(address); }

 private:
  std::vector<uint32_t> words_;
};

std::string print(const std::string& format, std::vector<uint32_t> words) {
  ListedArguments arguments(std::move(words));
  return format_printf(format, arguments).text;
}

TEST(Printf, Conversions) {
  EXPECT_EQ(print("%d|%u|%5x|%-3o|%c", {static_cast<uint32_t>(-1), 7, 255, 8, 'q'}),
            "-1|7|   ff|10 |q");
  EXPECT_EQ(print("%lld %s", {0, 1, 42, 0}), "4294967296 text42");
  EXPECT_EQ(print("%d %.2f", {1, 99, 0, 0x3ff80000}), "1 1.50");  // the double at a multiple of 8
  EXPECT_EQ(print("%*d|%.*f", {4, 5, 1, 99, 0, 0x3ff40000}), "   5|1.2");
  EXPECT_EQ(print("100%% %hhd", {511}), "100% -1");
  EXPECT_EQ(print("%y %", {}), "%y %");
}

TEST(Printf, CountsItsArguments) {
  ListedArguments arguments({3, 4});
  EXPECT_EQ(format_printf("%d %d\n", arguments).arguments, 2u);
}

const char* kOutside = R"(
.extern .func (.param .b32 r) vprintf (.param .b64 p0, .param .b64 p1);
.extern .func __assertfail (.param .b64 p0, .param .b64 p1, .param .b32 p2, .param .b64 p3,
                            .param .b64 p4);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.global .align 1 .b8 format[13] = {108, 97, 110, 101, 32, 37, 100, 58, 32, 37, 103, 10, 0};
.global .align 1 .b8 message[6] = {120, 32, 62, 32, 48, 0};
)";

TEST(Builtins, PrintfPrintsLaneByLane) {
  LaneKernel kernel(R"(
    .local .align 8 .b8 depot[16];
    .reg .b64 %sp;
    setp.gt.u32 %p0, %lane, 1;
    @%p0 bra done;
    mov.u64 %w0, depot;
    cvta.local.u64 %sp, %w0;
    st.local.u32 [depot], %lane;
    mov.b64 %w1, 0d3FE0000000000000;
    st.local.b64 [depot+8], %w1;
    mov.u64 %w2, format;
    cvta.global.u64 %w3, %w2;
    {
    .param .b64 param0;
    st.param.b64 [param0+0], %w3;
    .param .b64 param1;
    st.param.b64 [param1+0], %sp;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %d, [retval0+0];
    }
  done:)",
                    "sm_90a", kOutside);
  auto d = kernel.run();
  EXPECT_EQ(kernel.result.printed, "lane 0: 0.5\nlane 1: 0.5\n");
  EXPECT_EQ(d[1], 2u);
}

TEST(Builtins, AssertionEndsTheRun) {
  LaneKernel kernel(R"(
    setp.ne.u32 %p0, %lane, 7;
    @%p0 bra done;
    mov.u64 %w2, message;
    cvta.global.u64 %w3, %w2;
    {
    .param .b64 param0;
    st.param.b64 [param0+0], %w3;
    .param .b64 param1;
    st.param.b64 [param1+0], %w3;
    .param .b32 param2;
    st.param.b32 [param2+0], 12;
    .param .b64 param3;
    st.param.b64 [param3+0], %w3;
    .param .b64 param4;
    st.param.b64 [param4+0], 1;
    call.uni __assertfail, (param0, param1, param2, param3, param4);
    }
  done:)",
                    "sm_90a", kOutside);
  RunResult result = kernel.end();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::assertion);
  EXPECT_EQ(result.fault->lanes, 0x80u);
  EXPECT_EQ(result.fault->text, "assertion `x > 0` in `x > 0` (x > 0:12)");
}

TEST(Builtins, TheHeapIsNotAnalysed) {
  LaneKernel kernel(R"(
    {
    .param .b64 param0;
    st.param.b64 [param0+0], 16;
    .param .b64 retval0;
    call.uni (retval0), malloc, (param0);
    ld.param.b64 %wd, [retval0+0];
    })",
                    "sm_90a", kOutside);
  RunResult result = kernel.end();
  ASSERT_TRUE(result.not_analysed);
  EXPECT_EQ(result.not_analysed->reason, "the heap of the device");
}

TEST(Trap, EndsTheRun) {
  LaneKernel kernel("setp.eq.u32 %p0, %lane, 3; @%p0 trap;");
  RunResult result = kernel.end();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::trap);
  EXPECT_EQ(result.fault->lanes, 8u);
  LaneKernel breakpoint("brkpt;");
  EXPECT_TRUE(breakpoint.end().fault);
}

TEST(Nanosleep, GoesOn) {
  LaneKernel kernel(R"(
    setp.eq.u32 %p0, %lane, 3;
    @%p0 nanosleep.u32 100;
    pmevent 3;
    pmevent.mask 0xff;
    add.u32 %d, %lane, 1;)");
  EXPECT_EQ(kernel.run()[3], 4u);
}

}  // namespace
}  // namespace lw::machine
