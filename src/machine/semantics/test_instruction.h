#pragma once
// For tests: one instruction run on 32 lanes of given operands, by a full warp or by its odd lanes
// only (the even ones must then keep what their result registers held).

#include <string>
#include <vector>

#include "machine/test_kernel.h"

namespace lw::machine {

struct Instruction {
  std::string text;      // with %d, %a, %b, %c, %p for its operands: `add.s32 %d, %a, %b;`
  int result_bits = 32;  // of %d: 16, 32 or 64; 1: predicate %p is the result
  std::vector<int> source_bits = {32, 32, 32};
};

using Values = std::vector<uint64_t>;  // one per lane

inline std::string register_type(int bits) { return ".b" + std::to_string(bits); }

// %d of every lane; lanes that did not run it hold 0x5555...
inline Values run_instruction(const Instruction& instruction, const std::vector<Values>& sources,
                              bool odd_lanes_only) {
  std::string body = ".visible .entry k(.param .u64 out";
  for (size_t i = 0; i < sources.size(); ++i) body += ", .param .u64 in" + std::to_string(i);
  int bits = instruction.result_bits == 1 ? 32 : instruction.result_bits;
  body += ") {\n.reg " + register_type(bits) + " %d;\n.reg .b32 %t, %odd;\n";
  body += ".reg .b64 %base, %offset;\n.reg .pred %p, %go;\n";
  body += "mov.u32 %t, %tid.x;\nmul.wide.u32 %offset, %t, 8;\n";
  body += "mov" + register_type(bits) + " %d, 0x5555;\nsetp.eq.u32 %p, %t, %t;\n";
  const char* names[] = {"%a", "%b", "%c"};
  for (size_t i = 0; i < sources.size(); ++i) {
    std::string type = register_type(instruction.source_bits[i]);
    body += ".reg " + type + " " + names[i] + ";\n";
    body += "ld.param.u64 %base, [in" + std::to_string(i) + "];\nadd.u64 %base, %base, %offset;\n";
    body += "ld.global" + type + " " + std::string(names[i]) + ", [%base];\n";
  }
  if (odd_lanes_only) body += "and.b32 %odd, %t, 1;\nsetp.eq.u32 %go, %odd, 0;\n@%go bra END;\n";
  body += instruction.text + "\n";
  if (instruction.result_bits == 1) body += "selp.b32 %d, 1, 0, %p;\n";
  body += "END:\nld.param.u64 %base, [out];\nadd.u64 %base, %base, %offset;\n";
  body += "st.global" + register_type(bits) + " [%base], %d;\nret;\n}\n";
  TestKernel test(body, {}, "sm_100a");
  test.buffer(64);
  for (const Values& values : sources) {
    std::vector<uint32_t> words;
    for (uint64_t value : values) {
      words.push_back(static_cast<uint32_t>(value));
      words.push_back(static_cast<uint32_t>(value >> 32));
    }
    test.buffer(64, words);
  }
  return test.run(1, 32).doubles(0);
}

// Runs it both ways on the operands and on rotations of them, and compares with `expected`.
template <class Expected>
void expect_instruction(const Instruction& instruction, const std::vector<Values>& sources,
                        Expected expected) {
  for (bool odd : {false, true}) {
    Values result = run_instruction(instruction, sources, odd);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if (odd && lane % 2 == 0) {
        EXPECT_EQ(result[lane], 0x5555u) << instruction.text << " lane " << lane;
        continue;
      }
      uint64_t wanted = expected(lane);
      EXPECT_EQ(result[lane], wanted) << instruction.text << " lane " << lane;
    }
  }
}

// Edge values and others, different in every lane.
inline Values sample(int bits, uint64_t seed) {
  const uint64_t edges[] = {0,
                            1,
                            2,
                            0x7f,
                            0x80,
                            0xff,
                            0x7fff,
                            0x8000,
                            0xffff,
                            0x7fffffff,
                            0x80000000,
                            0xffffffff,
                            0x7fffffffffffffff,
                            0x8000000000000000,
                            ~0ull,
                            31,
                            32,
                            33,
                            63,
                            64};
  Values values;
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t value =
        (state >> 33) % 3 == 0 ? edges[(state >> 40) % std::size(edges)] : state ^ state >> 29;
    values.push_back(bits == 64 ? value : value & ((uint64_t{1} << bits) - 1));
  }
  return values;
}

}  // namespace lw::machine
