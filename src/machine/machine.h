#pragma once
// The GPU: its SMs, its memory and everything in flight; runs the launches of a case under a
// policy.
//
//   Machine machine(options);
//   BufferId x = machine.memory().add_buffer("x", bytes);     fill machine.memory().bytes(x)
//   ModuleId m = machine.load(module);                        its .global variables become buffers
//   machine.launch(request, emitter);                         once per launch, in case order
//   RunResult result = machine.run(policy, engine);           engine null: without checks
//
// A CTA goes to the lowest-numbered SM that has room for it (its cluster) in linear order of the
// grid; launches of one stream run one after another, those of different streams side by side. A
// Machine runs once.

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "diagnose/diagnostic.h"
#include "machine/async.h"
#include "machine/come_back.h"
#include "machine/cta.h"
#include "machine/fault.h"
#include "machine/launch.h"
#include "machine/livelock.h"
#include "machine/memory.h"
#include "machine/modules.h"
#include "machine/open_cta.h"
#include "machine/policy.h"
#include "machine/residency.h"
#include "machine/tensor_memory.h"
#include "machine/values.h"
#include "machine/warp.h"
#include "program/program.h"

namespace lw::machine {

struct Options {
  uint32_t sm_count = 0;  // 0: that of the first module's target
  uint8_t poison =
      0xa5;  // of shared memory at the start of a CTA, of tensor memory at the start of the run
  uint64_t step_limit = 0;  // PTX instructions of warps; 0: none
  double time_limit_s = 0;  // 0: none
  uint64_t memory_limit_bytes = 0;
  // Tests of mbarriers that answer false when a lane first asks for a phase, complete or not: what
  // the hardware may always do (rule book 17, D-6b).
  std::vector<base::OpId> doubted_tests;
  // An error at a watched instruction ends its warp and not the run: RunResult::parked.
  bool park_faults = false;
};

// An error that stopped one warp for good (Options::park_faults), all its lanes that ran then.
struct ParkedFault {
  Fault fault;
  uint64_t n = 0;             // which execution of the instruction by that warp
  uint64_t accesses = 0;      // that the order engine had heard of
  base::LaneMask beside = 0;  // lanes that stay there too and met none
};

struct Reach {                // how far a run came
  uint64_t instructions = 0;  // of warps
  uint64_t ctas = 0;
  uint64_t warps = 0;
};

struct RunResult {
  bool finished = false;       // every launch ran to its end
  std::optional<Fault> fault;  // the error that ended it
  std::vector<ParkedFault> parked;
  std::optional<NotAnalysed> not_analysed;
  // Instructions whose result is the schedule's doing (rule book 17, D-5 to D-8: clocks, places,
  // tests of mbarriers, strong reads, ...), in the order of their first execution. What comes of
  // them is told by program/influence.h.
  std::vector<base::OpId> schedule_values;
  std::string printed;  // printf, in order
  Reach reach;
};

class Machine {
 public:
  explicit Machine(Options options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }
  // The module must outlive the machine.
  ModuleId load(const ptx::Module& module) { return modules_.load(module, memory_); }
  // The block of parameters that a kernel takes, to lay out LaunchRequest::parameters.
  std::vector<program::Parameter> parameters(ModuleId module, std::string_view kernel) const;
  // Checks what can be known before it starts; nullopt with diagnostics if it cannot be.
  std::optional<base::GridId> launch(LaunchRequest request, diagnose::Emitter& emitter);
  RunResult run(Policy& policy, order::Engine* engine);

  // The table of instructions that OpIds index; complete once `launch` was called for all.
  std::span<const program::Place> places() const { return modules_.places(); }
  const program::Place& place(base::OpId op) const { return places()[op.value]; }
  std::span<const std::unique_ptr<Launch>> launches() const { return launches_; }
  // The instructions at a line of a module's text that the launched kernels hold.
  std::vector<base::OpId> find_instructions(ModuleId module, uint32_t line) const;

  // For an Engine: it asks about the store it is being told of.
  const order::Values& order_values() const { return values_; }

  // For policies.
  std::span<Cta* const> resident() const { return resident_; }           // in order of dispatch
  std::span<AsyncOperation* const> pending() const { return pending_; }  // in order of issue
  Cta* cta(base::CtaId id) const;  // null unless it is resident
  bool any_ready() const { return ready_ctas_ > 0; }
  // Wakes the groups of the warp that `Policy::reach` held at this instruction.
  void release(base::CtaId cta, base::WarpId warp, base::OpId instruction);
  uint64_t steps() const { return steps_; }  // PTX instructions executed so far
  TurnEnd last_turn() const { return last_turn_; }

  // For instructions.
  AsyncOperation& start(std::unique_ptr<AsyncOperation> operation, Warp& warp, const Op& op);
  order::Engine* order() const { return order_; }
  Policy& policy() { return *policy_; }
  const Options& options() const { return options_; }
  const Modules& modules() const { return modules_; }
  std::span<std::byte> constants() { return modules_.constants(); }
  StoreValues& values() { return values_; }
  TensorMemory& tensor_memory(uint32_t sm) { return tensor_memories_.of(sm, options_.poison); }
  uint32_t sm_count() const;
  uint64_t virtual_time();  // of %clock and %globaltimer: strictly increasing
  // Ends the run; the first call counts.
  void fail(Fault fault);
  void not_analysed(NotAnalysed what);
  bool has_ended() const { return ended_; }
  void print(std::string_view text) { result_.printed += text; }
  void used_schedule_value(base::OpId op);
  // Lanes of `asking` that have not asked this test for this phase before, if it is doubted.
  base::LaneMask doubt(const Warp& warp, const Op& test, uint32_t object, uint64_t phase,
                       base::LaneMask asking);
  void lanes_exited(Warp& warp, base::LaneMask lanes);
  void count_ready(int change) { ready_ctas_ += change; }
  ComeBack& come_back() { return come_back_; }
  // griddepcontrol.launch_dependents: the CTA allows the next launch of its stream to start.
  void trigger_dependents(Cta& cta);
  // Every launch before it in its stream has run to its end.
  bool predecessors_finished(const Launch& launch) const;

 private:
  void prepare(Policy& policy, order::Engine* engine);
  void dispatch();
  bool may_start(const Launch& launch) const;
  bool start_cluster(Launch& launch);
  Cta& open(Launch& launch, uint32_t index, uint32_t sm);
  void close_if_done(Cta& cta);
  void finish_launch(Launch& launch);
  void begin_grid(const Launch& launch);
  Launch* previous_in_stream(const Launch& launch) const;
  bool is_done() const;
  void step();
  void turn(Warp& warp, uint32_t quantum);
  bool is_to_park(const Fault& fault) const;
  void park(Fault fault);
  void stay_parked(Warp& warp);
  void perform(AsyncOperation& operation);
  bool can_go_on() const;
  void check_budget();
  void report_deadlock();
  void end_livelock();
  std::shared_ptr<const program::Program> decode(const LaunchRequest& request,
                                                 std::span<const base::OpId> watched);

  Options options_;
  Memory memory_;
  Modules modules_;
  StoreValues values_;
  std::optional<Residency> residency_;
  std::vector<std::unique_ptr<Launch>> launches_;
  std::vector<Cta*> resident_;
  std::unordered_map<base::CtaId, std::unique_ptr<CtaHolder>> holders_;
  BlockPool pool_;
  TensorMemories tensor_memories_;
  std::vector<std::unique_ptr<AsyncOperation>> operations_;
  std::vector<AsyncOperation*> pending_;
  order::Engine* order_ = nullptr;
  ComeBack come_back_;
  Livelock livelock_;
  Policy* policy_ = nullptr;
  RunResult result_;
  bool ended_ = false;
  Warp* running_ = nullptr;  // whose turn it is
  bool parking_ = false;     // its turn ends at an error, and not the run
  int ready_ctas_ = 0;
  uint64_t steps_ = 0;
  uint64_t clock_ = 0;
  uint64_t turns_ = 0;
  uint32_t next_async_ = 0;
  TurnEnd last_turn_ = TurnEnd::blocked;
  // Who has asked a doubted test: (test, CTA, warp, object, phase) -> lanes.
  std::map<std::array<uint64_t, 5>, base::LaneMask> asked_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace lw::machine
