#pragma once
// One run of a case: a machine of its own, a schedule, with or without the order engine.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "casefile/inputs.h"
#include "order/engine.h"
#include "schedule/scheduler.h"

namespace lw::prove {

// Which schedule; a fresh chooser is made for every run.
struct Schedule {
  enum class Kind : uint8_t { steady, random } kind = Kind::steady;
  uint64_t seed = 0;
  std::vector<schedule::WarpNames> late;
};

struct RunPlan {
  Schedule schedule;
  std::vector<schedule::Hold> holds;
  machine::Options machine;
  std::optional<order::Options> order;  // nothing: without checks
  std::vector<base::OpId> watched;      // instructions whose executions are counted and noted
  bool journal = false;                 // notes of all warps together instead of the diary
  casefile::Antagonist antagonist = casefile::Antagonist::none;  // runs when nothing else can
  uint8_t unwritten_fill = casefile::kUnwrittenFill;
  // Ends the run once it holds; asked whenever a story was told. Such a run gives stories only.
  std::function<bool(const order::Facts&)> enough;
  // Called when the run is over and everything stands as it ended.
  std::function<void(machine::Machine&, order::Engine&)> at_end;
};

// The executions of watched instructions, in the order of each warp's own program.
class Diary {
 public:
  void note(base::CtaId cta, base::WarpId warp, base::OpId instruction, uint64_t n);
  // Position among the notes of this warp, from 1; 0: it never executed that.
  uint64_t position(base::CtaId cta, base::WarpId warp, base::OpId instruction, uint64_t n) const;

 private:
  struct Key {
    uint32_t cta;
    uint32_t warp;
    uint32_t instruction;
    uint64_t n;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, uint64_t> positions_;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> count_;
};

// One execution of a watched instruction.
struct Passing {
  base::CtaId cta;
  base::WarpId warp;
  uint32_t sm = 0;
  base::OpId instruction;
  uint64_t n = 0;
};

using Bytes = std::vector<uint8_t>;

struct Run {
  casefile::SetUp set_up;  // the machine as the run left it
  machine::RunResult result;
  order::Facts facts;
  std::vector<Bytes> outputs;  // as casefile::output_buffers
  std::vector<schedule::HoldFate> fates;
  Diary diary;
  std::vector<Passing> journal;
  uint64_t memory_bytes = 0;  // buffers and what the order engine held at the end
};

// The machine is used up: machines run once.
Run run_case(const casefile::Inputs& inputs, casefile::SetUp set_up, const RunPlan& plan);

// A machine of its own for the plan; the inputs have been set up before, so nothing can be wrong.
casefile::SetUp set_up_again(const casefile::Inputs& inputs, const RunPlan& plan);

Run run_again(const casefile::Inputs& inputs, const RunPlan& plan);

}  // namespace lw::prove
