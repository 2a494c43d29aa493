#pragma once
// For tests: a kernel as text, buffers of words, one launch, run in plain order.
//
//   TestKernel test(R"(.visible .entry k(.param .u64 out) { ... })");
//   test.buffer(64);                       // its address becomes the next parameter
//   test.launch(1, 32);
//   EXPECT_EQ(test.words(0)[3], 7u);

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "ptx/parser.h"

namespace lw::machine {

// Asynchronous operations at once, else the next warp that can run, CTA by CTA.
class PlainOrder : public Policy {
 public:
  Choice next(Machine& machine) override {
    for (AsyncOperation* operation : machine.pending())
      if (operation->can_advance()) return {nullptr, operation};
    std::span<Cta* const> ctas = machine.resident();
    if (at_ >= ctas.size()) at_ = 0;
    bool yielded =
        machine.last_turn() == TurnEnd::polled || machine.last_turn() == TurnEnd::quantum;
    if (yielded) advance(ctas.size());
    for (size_t tries = 0; tries <= ctas.size(); ++tries) {
      Cta& cta = *ctas[at_];
      uint32_t ahead = warp_ < 32 ? cta.ready & (~0u << warp_) : 0;
      uint32_t ready = ahead ? ahead : tries == 0 ? cta.ready : ahead;
      if (ready != 0) {
        uint32_t index = static_cast<uint32_t>(std::countr_zero(ready));
        warp_ = index;
        return {&cta.warps[index]};
      }
      at_ = (at_ + 1) % ctas.size();
      warp_ = 0;
    }
    return {};
  }

 private:
  void advance(size_t ctas) {
    if (++warp_ < 32) return;
    warp_ = 0;
    at_ = (at_ + 1) % ctas;
  }
  size_t at_ = 0;
  uint32_t warp_ = 0;
};

class TestKernel {
 public:
  explicit TestKernel(const std::string& body, Options options = {},
                      const std::string& target = "sm_90a")
      : machine_(std::make_unique<Machine>(options)) {
    diagnose::Emitter emitter;
    const std::string version = target.starts_with("sm_107") ? "9.4" : "9.0";
    std::string text =
        ".version " + version + "\n.target " + target + "\n.address_size 64\n" + body;
    std::optional<ptx::Module> module = ptx::parse(text, "test.ptx", emitter);
    for (const diagnose::Diagnostic& diagnostic : emitter.diagnostics())
      ADD_FAILURE() << diagnostic.place.line << ": " << diagnostic.message << " "
                    << diagnostic.excerpt << " " << diagnostic.hint;
    if (!module) return;
    module_ = std::make_unique<ptx::Module>(std::move(*module));
    id_ = machine_->load(*module_);
  }

  // A buffer of 32-bit words; its address is the next parameter.
  BufferId buffer(size_t words, std::vector<uint32_t> contents = {}) {
    BufferId id = machine_->memory().add_buffer(fmt::format("b{}", buffers_.size()), words * 4);
    std::ranges::copy(std::as_bytes(std::span(contents)), machine_->memory().bytes(id).begin());
    buffers_.push_back(id);
    parameter(machine_->memory().buffer(id).address);
    return id;
  }
  template <class T>
  void parameter(T value) {
    size_t at = (parameters_.size() + sizeof value - 1) / sizeof value * sizeof value;
    parameters_.resize(at + sizeof value);
    std::memcpy(parameters_.data() + at, &value, sizeof value);
  }

  LaunchRequest request(uint32_t grid, uint32_t block, uint32_t dynamic_shared = 0) const {
    LaunchRequest request;
    request.module = id_;
    for (const ptx::Function& function : module_->functions)
      if (function.entry && request.kernel.empty()) request.kernel = function.name;
    request.grid.x = grid;
    request.block.x = block;
    request.dynamic_shared_bytes = dynamic_shared;
    request.parameters = parameters_;
    return request;
  }
  const RunResult& launch(uint32_t grid, uint32_t block, uint32_t dynamic_shared = 0,
                          order::Engine* engine = nullptr) {
    PlainOrder policy;
    return launch(request(grid, block, dynamic_shared), policy, engine);
  }
  const RunResult& launch(LaunchRequest request, Policy& policy, order::Engine* engine = nullptr) {
    diagnose::Emitter emitter;
    machine_->launch(std::move(request), emitter);
    for (const diagnose::Diagnostic& diagnostic : emitter.diagnostics())
      ADD_FAILURE() << diagnostic.message;
    result_ = machine_->run(policy, engine);
    return result_;
  }
  // As `launch`, and requires that it ran to its end.
  TestKernel& run(uint32_t grid, uint32_t block, uint32_t dynamic_shared = 0) {
    launch(grid, block, dynamic_shared);
    EXPECT_TRUE(result_.finished) << why();
    return *this;
  }
  std::string why() const {
    if (result_.fault) return result_.fault->text + line_of(result_.fault->instruction);
    if (result_.not_analysed)
      return "not analysed: " + result_.not_analysed->reason +
             line_of(result_.not_analysed->instruction);
    return "";
  }
  uint32_t line(base::OpId op) const { return machine_->place(op).line() - 3; }  // of the body

  std::vector<uint32_t> words(size_t index) const {
    std::span<std::byte> bytes = machine_->memory().bytes(buffers_[index]);
    std::vector<uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  }
  std::vector<float> floats(size_t index) const {
    std::vector<float> result;
    for (uint32_t word : words(index)) result.push_back(std::bit_cast<float>(word));
    return result;
  }
  std::vector<uint64_t> doubles(size_t index) const {
    std::vector<uint32_t> all = words(index);
    std::vector<uint64_t> result(all.size() / 2);
    std::memcpy(result.data(), all.data(), result.size() * 8);
    return result;
  }
  Machine& machine() { return *machine_; }
  const RunResult& result() const { return result_; }

 private:
  std::string line_of(base::OpId op) const { return fmt::format(" (line {})", line(op)); }

  std::unique_ptr<Machine> machine_;
  std::unique_ptr<ptx::Module> module_;
  ModuleId id_;
  std::vector<BufferId> buffers_;
  std::vector<std::byte> parameters_;
  RunResult result_;
};

}  // namespace lw::machine
