// founding_table FOLDER VARIANT LAUNCHES: what one variant does, as found and fixed, when a math
// group is late and when others take tensor memory, as the machine of latewarp runs it. FOLDER is
// that of the cases. A line for each row of the table (scripts/founding_table), fields parted by
// tabs:
//
//   form  stall or -  second owner  launches  CTAs  CTAs freed before loads  launches wrong
//   logits wrong in group 0, 1 (, 2)
//
// A stalled launch holds the four warps of math group 1 before their first loads in every CTA:
// until the CTA's tensor memory is freed or, where somebody takes it next, until that one has freed
// it again. The others run under a schedule of the launch's own seed, a second owner when nothing
// else can run. Wrong is what differs from a plain launch of the kernel as found.

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "casefile/read_case.h"
#include "problem.h"
#include "prove/run.h"
#include "ptx/forms.h"

namespace mqa_logits {
namespace {

using lw::base::CtaId;
using lw::base::OpId;
using lw::base::WarpId;
using lw::casefile::Antagonist;
using lw::casefile::Inputs;
using lw::prove::Passing;
using lw::prove::Run;
using lw::prove::RunPlan;
using lw::schedule::Point;

constexpr int kStalledGroup = 1;
constexpr int kGroupWarps = kGroupThreads / 32;

enum class Second { none, stream, dependent };

struct Row {
  Form form;
  bool stall;
  Second second;
};

struct Counts {
  uint64_t ctas = 0;
  uint64_t freed_early = 0;
  uint64_t launches_wrong = 0;
  std::vector<uint64_t> wrong;  // logits of each group
};

// Which math group makes a logit.
int group_of(const Problem& problem, size_t index) {
  const Variant& variant = problem.variant.variant;
  if (variant.key_streams == 1) {
    const int row = int(index / problem.logits_stride()) % problem.next_n;
    int group = 0;
    while (row >= (group + 1) * problem.next_n / variant.math_groups) ++group;
    return group;
  }
  const int column = int(index % problem.logits_stride());
  const int position = column / kPage / problem.ranks * kPage + column % kPage;
  return position / kBlock % variant.math_groups;
}

// The next owner as a programmatic dependent of the kernel, a CTA for each of its own.
void add_dependent(lw::casefile::Case& parts, const std::filesystem::path& compiled) {
  parts.modules.push_back({{}, "tenant", (compiled / "tenant.sm_100a.ptx").string()});
  lw::casefile::Launch launch;
  launch.kernel = "mark_tensor_memory";
  launch.grid = parts.launches[0].grid;
  launch.block.x = 32;
  launch.registers = 32;
  launch.programmatic = true;
  lw::casefile::Argument mark;
  mark.dtype = lw::casefile::Dtype::f32;
  const float million = 1e6f;
  std::memcpy(&mark.bits, &million, sizeof million);
  launch.args.push_back(mark);
  parts.launches.push_back(launch);
}

Inputs load(const std::filesystem::path& folder, const NamedVariant& variant, const Row& row) {
  lw::diagnose::Emitter emitter;
  const auto path = folder / fmt::format("{}_{}.toml", variant.name, row.form.name);
  auto parts = lw::casefile::read_case(path.string(), emitter);
  if (parts && row.second == Second::dependent)
    add_dependent(*parts, folder.parent_path() / "compiled");
  std::optional<Inputs> inputs;
  if (parts) inputs = lw::casefile::load_inputs(std::move(*parts), 0, emitter);
  if (!inputs) throw std::runtime_error(emitter.diagnostics().front().message);
  return std::move(*inputs);
}

// One variant in one row of the table.
class Experiment {
 public:
  Experiment(const Inputs& inputs, const Row& row) : inputs_(inputs), row_(row) {
    ctas_ = static_cast<uint32_t>(inputs.parts.launches[0].grid.count());
    plan_.journal = true;
    if (row.second == Second::stream) plan_.antagonist = Antagonist::tmem;
    if (row.second == Second::dependent) plan_.schedule.late.push_back({ctas_, 2 * ctas_ - 1, ~0u});
    watch();
    if (row.stall) hold();
  }

  // Number `seed` of the launches, or the plain one.
  Run launch(std::optional<uint64_t> seed) {
    RunPlan plan = plan_;
    if (seed) plan.schedule.kind = lw::prove::Schedule::Kind::random;
    plan.schedule.seed = seed.value_or(0);
    Run run = lw::prove::run_again(inputs_, plan);
    if (!run.result.finished) throw std::runtime_error("the launch does not come to its end");
    return run;
  }

  uint32_t ctas() const { return ctas_; }

  // CTAs in which some load comes after the columns are freed.
  uint64_t freed_early(const Run& run) const {
    std::set<uint32_t> freed, early;
    for (const Passing& one : run.journal) {
      if (one.cta.value >= ctas_) continue;
      if (frees_.contains(one.instruction.value)) freed.insert(one.cta.value);
      if (!frees_.contains(one.instruction.value) && freed.contains(one.cta.value))
        early.insert(one.cta.value);
    }
    return early.size();
  }

 private:
  void watch() {
    const auto set_up = lw::prove::set_up_again(inputs_, plan_);
    const auto places = set_up.machine->places();
    for (uint32_t i = 0; i < places.size(); ++i) {
      const auto form = places[i].module->opcode_of(places[i].get()).form;
      const bool free = form == lw::ptx::FormId::tcgen05_dealloc;
      if (free) frees_.insert(i);
      if (free || form == lw::ptx::FormId::tcgen05_ld) plan_.watched.emplace_back(i);
    }
  }

  // Where to hold whom, from a launch that nobody holds.
  void hold() {
    const Run run = launch({});
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (const Passing& one : run.journal) {
      const bool stalled = one.cta.value < ctas_ && one.warp.value / kGroupWarps == kStalledGroup;
      if (!stalled || !seen.emplace(one.cta.value, one.warp.value).second) continue;
      plan_.holds.push_back({point(one), end_of_stall(run, one)});
    }
  }

  // The last dealloc on the SM: that of the CTA itself, or that of the second owner.
  Point end_of_stall(const Run& run, const Passing& load) const {
    Point end;
    for (const Passing& one : run.journal)
      if (one.sm == load.sm && frees_.contains(one.instruction.value)) end = point(one);
    return end;
  }

  static Point point(const Passing& one) {
    return {one.cta, one.warp, lw::base::kAllLanes, one.instruction, one.n};
  }

  const Inputs& inputs_;
  Row row_;
  RunPlan plan_;
  uint32_t ctas_ = 0;
  std::set<uint32_t> frees_;
};

void count_wrong(const Problem& problem, const Run& run, const lw::prove::Bytes& right,
                 Counts& counts) {
  const lw::prove::Bytes& logits = run.outputs.front();
  bool any = false;
  for (size_t at = 0; at < right.size(); at += sizeof(float)) {
    if (std::memcmp(&logits[at], &right[at], sizeof(float)) == 0) continue;
    ++counts.wrong[size_t(group_of(problem, at / sizeof(float)))];
    any = true;
  }
  counts.launches_wrong += any;
}

std::string_view second_name(Second second) {
  if (second == Second::none) return "-";
  return second == Second::stream ? "stream" : "dependent";
}

void print_row(const Row& row, int launches, const Counts& counts) {
  fmt::print("{}\t{}\t{}\t{}\t{}\t{}\t{}", row.form.name, row.stall ? "stall" : "-",
             second_name(row.second), launches, counts.ctas, counts.freed_early,
             counts.launches_wrong);
  for (uint64_t wrong : counts.wrong) fmt::print("\t{}", wrong);
  fmt::print("\n");
}

std::vector<Row> rows_of(const Variant& variant) {
  std::vector<Row> rows;
  for (const Form& form : {as_found, fixed}) {
    for (const Second second : {Second::none, Second::stream, Second::dependent}) {
      if (second == Second::dependent && !variant.trigger_at_entry) continue;
      for (const bool stall : {false, true}) rows.push_back({form, stall, second});
    }
  }
  return rows;
}

void make_table(const std::filesystem::path& folder, const NamedVariant& variant, int launches) {
  const Problem problem = case_problem(variant);
  const Row plain{as_found, false, Second::none};
  const Inputs found = load(folder, variant, plain);
  const lw::prove::Bytes right = Experiment(found, plain).launch({}).outputs.front();
  for (const Row& row : rows_of(variant.variant)) {
    const Inputs inputs = load(folder, variant, row);
    Experiment experiment(inputs, row);
    Counts counts;
    counts.wrong.resize(size_t(variant.variant.math_groups));
    for (int seed = 1; seed <= launches; ++seed) {
      const Run run = experiment.launch(seed);
      counts.ctas += experiment.ctas();
      counts.freed_early += experiment.freed_early(run);
      count_wrong(problem, run, right, counts);
    }
    print_row(row, launches, counts);
  }
}

}  // namespace
}  // namespace mqa_logits

int main(int argument_count, char** arguments) {
  try {
    for (const mqa_logits::NamedVariant& variant : mqa_logits::kVariants) {
      if (argument_count != 4 || std::string_view(arguments[2]) != variant.name) continue;
      mqa_logits::make_table(arguments[1], variant, std::stoi(arguments[3]));
      return 0;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "founding_table: {}\n", error.what());
    return 4;
  }
  fmt::print(stderr, "usage: founding_table FOLDER VARIANT LAUNCHES\n");
  return 2;
}
