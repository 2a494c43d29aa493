#pragma once
// For tests: a few instructions run by one warp, on a word of each lane.
//
//   LaneKernel kernel("shfl.sync.bfly.b32 %d, %a, 1, 31, -1;");
//   kernel.a = {...};                    // of lane 0, 1, ...; the rest are 0
//   EXPECT_EQ(kernel.run()[3], kernel.a[2]);
//
// Registers: %a %b %c and %wa %wb %wc are the lane's inputs (32 and 64 bits), %d and %wd its
// results, %lane its number; %r0-%r9, %h0-%h9 (16 bits), %w0-%w9 (64 bits), %p0-%p9 are free, and
// %bytes is the address of a block of global memory of 1 KiB, `memory` before and after.

#include <array>
#include <string>
#include <vector>

#include "machine/test_kernel.h"

namespace lw::machine {

class LaneKernel {
 public:
  explicit LaneKernel(std::string code, std::string target = "sm_90a", std::string outside = "")
      : code_(std::move(code)), target_(std::move(target)), outside_(std::move(outside)) {}

  std::vector<uint32_t> a, b, c, memory;
  std::vector<uint64_t> wa, wb, wc;

  // The words %d of all lanes; `wide_results`, `memory` and `result` are set as well.
  std::vector<uint32_t> run(uint32_t threads = 32) {
    start(threads);
    EXPECT_TRUE(result.finished) << why;
    return results;
  }
  // The same of a run that ends early.
  RunResult end(uint32_t threads = 32) {
    start(threads);
    EXPECT_FALSE(result.finished);
    return result;
  }

  std::vector<uint32_t> results;
  std::vector<uint64_t> wide_results;
  RunResult result;
  std::string why;

 private:
  void start(uint32_t threads) {
    TestKernel test(text(), {}, target_);
    for (const std::vector<uint32_t>* words : {&a, &b, &c}) test.buffer(32, *words);
    for (const std::vector<uint64_t>* words : {&wa, &wb, &wc}) test.buffer(64, halves(*words));
    test.buffer(32);
    test.buffer(64);
    test.buffer(256, memory);
    result = test.launch(1, threads);
    why = test.why();
    results = test.words(6);
    wide_results = test.doubles(7);
    memory = test.words(8);
  }

  static std::vector<uint32_t> halves(const std::vector<uint64_t>& words) {
    std::vector<uint32_t> result;
    for (uint64_t word : words) {
      result.push_back(static_cast<uint32_t>(word));
      result.push_back(static_cast<uint32_t>(word >> 32));
    }
    return result;
  }

  std::string text() const {
    std::string text = outside_;
    text += R"(
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 wa, .param .u64 wb,
                  .param .u64 wc, .param .u64 d, .param .u64 wd, .param .u64 memory) {
  .reg .pred %p<10>;
  .reg .b16 %h<10>;
  .reg .b32 %r<10>;
  .reg .b64 %w<10>;
  .reg .b32 %a, %b, %c, %d, %lane;
  .reg .b64 %wa, %wb, %wc, %wd, %bytes, %at, %step;
  mov.u32 %lane, %tid.x;
)";
    for (std::string name : {"a", "b", "c"}) text += access("ld", name, "32", "4");
    for (std::string name : {"wa", "wb", "wc"}) text += access("ld", name, "64", "8");
    text += "  ld.param.u64 %bytes, [memory];\n  mov.b32 %d, 0;\n  mov.b64 %wd, 0;\n";
    text += code_ + "\n";
    text += access("st", "d", "32", "4") + access("st", "wd", "64", "8") + "  ret;\n}\n";
    return text;
  }

  static std::string access(const std::string& what, const std::string& name,
                            const std::string& bits, const std::string& bytes) {
    const std::string start = "  ld.param.u64 %at, [" + name + "];\n  mul.wide.u32 %step, %lane, " +
                              bytes + ";\n  add.u64 %at, %at, %step;\n";
    if (what == "ld") return start + "  ld.global.b" + bits + " %" + name + ", [%at];\n";
    return start + "  st.global.b" + bits + " [%at], %" + name + ";\n";
  }

  std::string code_;
  std::string target_;
  std::string outside_;
};

// The bits of floats, for inputs and expectations.
inline uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
inline uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

}  // namespace lw::machine
