#pragma once
// The GPU: its SMs, its memory and everything in flight; runs the launches of a case under a policy.
//
//   Machine machine(options);
//   BufferId x = machine.memory().add_buffer("x", bytes);     fill machine.memory().bytes(x)
//   ModuleId m = machine.load(module, emitter);               its .global variables become buffers
//   machine.launch(request, emitter);                         once per launch, in case order
//   RunResult result = machine.run(policy, engine);           engine null: without checks
//
// A CTA goes to the lowest-numbered SM that has room for it (its cluster) in linear order of the
// grid; launches of one stream run one after another, those of different streams side by side.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "diagnose/diagnostic.h"
#include "machine/async.h"
#include "machine/cta.h"
#include "machine/fault.h"
#include "machine/launch.h"
#include "machine/memory.h"
#include "machine/policy.h"
#include "machine/warp.h"
#include "program/program.h"

namespace lw::machine {

struct Options {
  uint32_t sm_count = 0;       // 0: that of the first module's target
  uint8_t poison = 0xa5;       // of shared memory at the start of a CTA
  uint64_t step_limit = 0;     // PTX instructions of warps; 0: none
  double time_limit_s = 0;     // 0: none
  uint64_t memory_limit_bytes = 0;
};

struct Reach {  // how far a run came
  uint64_t instructions = 0;  // of warps
  uint64_t ctas = 0;
  uint64_t warps = 0;
  uint64_t accesses = 0;      // memory instructions of warps
};

struct RunResult {
  bool finished = false;            // every launch ran to its end
  std::optional<Fault> fault;       // the error that ended it
  std::optional<NotAnalysed> not_analysed;
  bool schedule_values_used = false;  // %clock, %globaltimer, %smid, ...: rule book 17, D-7
  base::OpId schedule_value_at;       // the first
  std::string printed;              // printf, in order
  Reach reach;
};

class Machine {
 public:
  explicit Machine(Options options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Memory& memory() { return memory_; }
  // The module must outlive the machine.
  ModuleId load(const ptx::Module& module);
  // The block of parameters that a kernel takes, to lay out LaunchRequest::parameters.
  std::vector<program::Parameter> parameters(ModuleId module, std::string_view kernel) const;
  // Checks what can be known before it starts; nullopt with diagnostics if it cannot be.
  std::optional<base::GridId> launch(LaunchRequest request, diagnose::Emitter& emitter);
  RunResult run(Policy& policy, order::Engine* engine);

  // The table of instructions that OpIds index; complete once `launch` was called.
  std::span<const program::Place> places() const { return places_; }
  const program::Place& place(base::OpId op) const { return places_[op.value]; }
  std::span<const std::unique_ptr<Launch>> launches() const { return launches_; }
  std::optional<base::OpId> find_instruction(ModuleId module, uint32_t line) const;

  // For policies.
  std::span<Cta* const> resident() const { return resident_; }  // in order of dispatch
  std::span<AsyncOperation* const> pending() const { return pending_; }  // in order of issue
  void release(uint64_t hold);   // wakes the groups that `Policy::reach` held under this number
  uint64_t steps() const;        // PTX instructions executed so far

  // For instructions.
  AsyncOperation& start(std::unique_ptr<AsyncOperation> operation, const Warp& warp, const Op& op);
  order::Engine* order() const { return order_; }
  Policy& policy() { return *policy_; }
  // Ends the run; the first one counts.
  void fail(Fault fault);
  void not_analysed(NotAnalysed what);
  bool has_ended() const { return ended_; }
  void print(std::string_view text) { result_.printed += text; }
  void used_schedule_value(base::OpId op);

 private:
  Options options_;
  Memory memory_;
  std::vector<program::Place> places_;
  std::vector<std::unique_ptr<Launch>> launches_;
  std::vector<Cta*> resident_;
  std::vector<AsyncOperation*> pending_;
  order::Engine* order_ = nullptr;
  Policy* policy_ = nullptr;
  RunResult result_;
  bool ended_ = false;
};

}  // namespace lw::machine
