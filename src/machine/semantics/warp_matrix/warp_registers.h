#pragma once
// For tests: one instruction of a whole warp on given registers.
//
//   Registers d = run_warp("mma.sync... {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};", 2, {a, b, c});
//
// Inputs are lists of registers, a register is 32 lanes; those of list i are named by the i-th
// letter of `abce`. f64 registers stand in 64 bits: %da0 for the pair %a0 (low), %a1.

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "machine/test_kernel.h"

namespace lw::machine {

using LaneWords = std::array<uint32_t, 32>;
using Registers = std::vector<LaneWords>;

inline Registers run_warp(const std::string& instruction, size_t results,
                          const std::vector<Registers>& inputs, bool wide = false,
                          const std::string& target = "sm_90a") {
  std::string declared, loads, stores, parameters = ".param .u64 out";
  for (size_t list = 0; list < inputs.size(); ++list) {
    const char letter = "abce"[list];
    const size_t count = inputs[list].size();
    parameters += fmt::format(", .param .u64 in_{}", letter);
    declared += fmt::format(".reg .b32 %{0}<20>;\n.reg .b64 %d{0}<10>;\n", letter);
    loads += fmt::format("ld.param.u64 %p, [in_{}];\nmad.wide.u32 %p, %t, 4, %p;\n", letter);
    for (size_t i = 0; i < count; ++i)
      loads += fmt::format("ld.global.b32 %{}{}, [%p+{}];\n", letter, i, 128 * i);
    for (size_t i = 0; wide && i + 1 < count; i += 2)
      loads += fmt::format("mov.b64 %d{0}{1}, {{%{0}{2}, %{0}{3}}};\n", letter, i / 2, i, i + 1);
  }
  for (size_t i = 0; wide && i < results; i += 2)
    stores += fmt::format("mov.b64 {{%d{}, %d{}}}, %dd{};\n", i, i + 1, i / 2);
  stores += "ld.param.u64 %p, [out];\nmad.wide.u32 %p, %t, 4, %p;\n";
  for (size_t i = 0; i < results; ++i)
    stores += fmt::format("st.global.b32 [%p+{}], %d{};\n", 128 * i, i);
  TestKernel test(fmt::format(".visible .entry k({}) {{\n.reg .b64 %p;\n.reg .b32 %t, %d<20>;\n"
                              ".reg .b64 %dd<10>;\n{}mov.u32 %t, %tid.x;\n{}{}\n{}ret;\n}}\n",
                              parameters, declared, loads, instruction, stores),
                  {}, target);
  test.buffer(32 * results);
  for (const Registers& list : inputs) {
    std::vector<uint32_t> words;
    for (const LaneWords& lanes : list) words.insert(words.end(), lanes.begin(), lanes.end());
    test.buffer(std::max<size_t>(words.size(), 1), words);
  }
  const std::vector<uint32_t> words = test.run(1, 32).words(0);
  Registers out(results);
  for (size_t i = 0; i < results; ++i)
    for (size_t lane = 0; lane < 32; ++lane) out[i][lane] = words[32 * i + lane];
  return out;
}

// `{%a0, %a1, ...}`, or `{%da0, ...}`.
inline std::string names(const std::string& letter, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i ? ", " : "", letter, i);
  return fmt::format("{{{}}}", text);
}

// Different numbers on every call with another seed.
class Words {
 public:
  explicit Words(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 32);
  }
  Registers registers(size_t count) {
    Registers all(count);
    for (LaneWords& lanes : all)
      for (uint32_t& word : lanes) word = next();
    return all;
  }

 private:
  uint64_t state_;
};

}  // namespace lw::machine
