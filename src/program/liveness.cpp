#include "program/liveness.h"

#include <algorithm>
#include <queue>

#include "program/mentions.h"

namespace lw::program {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

struct Block {
  uint32_t begin = 0;
  uint32_t end = 0;              // behind the last instruction
  std::vector<uint32_t> before;  // predecessors
};

struct Interval {
  uint32_t begin = kNone;
  uint32_t end = 0;
  void cover(uint32_t from, uint32_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
};

class Blocks {
 public:
  explicit Blocks(const FlatCode& code) {
    find_leaders(code);
    for (uint32_t i = 0; i < blocks_.size(); ++i) link(code, i);
  }
  const std::vector<Block>& all() const { return blocks_; }
  uint32_t of(uint32_t instruction) const { return block_of_[instruction]; }

 private:
  using Kind = FlatInstruction::Kind;

  static bool ends_block(const FlatInstruction& instruction) {
    return instruction.kind == Kind::jump || instruction.kind == Kind::select ||
           instruction.kind == Kind::choose || instruction.kind == Kind::invoke ||
           instruction.kind == Kind::leave || instruction.kind == Kind::exit;
  }

  static bool goes_to_label(const FlatInstruction& instruction) {
    return instruction.kind == Kind::jump || instruction.kind == Kind::invoke;
  }

  void find_leaders(const FlatCode& code) {
    uint32_t count = static_cast<uint32_t>(code.instructions.size());
    std::vector<char> leader(count + 1, 0);
    for (uint32_t i = 0; i < count; ++i) {
      const FlatInstruction& instruction = code.instructions[i];
      if (ends_block(instruction)) leader[i + 1] = 1;
      if (goes_to_label(instruction)) leader[code.labels[instruction.label]] = 1;
      for (uint32_t target : instruction.targets) leader[code.labels[target]] = 1;
    }
    block_of_.resize(count + 1);
    for (uint32_t i = 0; i < count; ++i) {
      if (i == 0 || leader[i]) blocks_.push_back({.begin = i, .end = i, .before = {}});
      blocks_.back().end = i + 1;
      block_of_[i] = static_cast<uint32_t>(blocks_.size() - 1);
    }
    block_of_[count] = static_cast<uint32_t>(blocks_.size());
  }

  void link(const FlatCode& code, uint32_t from) {
    const FlatInstruction& last = code.instructions[blocks_[from].end - 1];
    bool falls = !ends_block(last) || (last.source != nullptr && last.source->guarded);
    if (falls) edge(from, blocks_[from].end);
    if (goes_to_label(last)) edge(from, code.labels[last.label]);
    for (uint32_t target : last.targets) edge(from, code.labels[target]);
  }
  void edge(uint32_t from, uint32_t to_instruction) {
    uint32_t to = block_of_[to_instruction];
    if (to < blocks_.size()) blocks_[to].before.push_back(from);
  }

  std::vector<Block> blocks_;
  std::vector<uint32_t> block_of_;
};

// What a register does in one block that names it.
struct BlockUse {
  uint32_t block = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  bool exposed = false;  // read before any overwriting in the block
  bool killed = false;   // overwritten in the block
};

class Liveness {
 public:
  Liveness(const ptx::Module& module, const FlatCode& code)
      : blocks_(code), uses_(code.registers.size()), live_in_(blocks_.all().size(), kNone) {
    Mentions mentions(module, code);
    for (uint32_t i = 0; i < code.instructions.size(); ++i)
      mentions.visit(i, [&](uint32_t reg, bool overwrites) { mention(reg, i, overwrites); });
  }

  std::vector<Interval> intervals() {
    std::vector<Interval> result(uses_.size());
    for (uint32_t reg = 0; reg < uses_.size(); ++reg) result[reg] = interval(reg);
    return result;
  }

 private:
  // Reads of an instruction are reported before its results.
  void mention(uint32_t reg, uint32_t at, bool overwrites) {
    uint32_t block = blocks_.of(at);
    std::vector<BlockUse>& uses = uses_[reg];
    if (uses.empty() || uses.back().block != block)
      uses.push_back({.block = block, .first = at, .last = at});
    BlockUse& use = uses.back();
    use.last = at;
    if (!overwrites && !use.killed) use.exposed = true;
    if (overwrites) use.killed = true;
  }

  Interval interval(uint32_t reg) {
    Interval result;
    std::vector<uint32_t> work;
    for (const BlockUse& use : uses_[reg]) {
      result.cover(use.first, use.last);
      if (use.exposed) enter(reg, use.block, result, work);
    }
    while (!work.empty()) {
      uint32_t block = work.back();
      work.pop_back();
      for (uint32_t before : blocks_.all()[block].before) leave(reg, before, result, work);
    }
    return result;
  }

  // The register is alive at the start of `block`.
  void enter(uint32_t reg, uint32_t block, Interval& result, std::vector<uint32_t>& work) {
    if (live_in_[block] == reg) return;
    live_in_[block] = reg;
    result.cover(blocks_.all()[block].begin, blocks_.all()[block].begin);
    work.push_back(block);
  }
  // It is alive at the end of `block`.
  void leave(uint32_t reg, uint32_t block, Interval& result, std::vector<uint32_t>& work) {
    const Block& it = blocks_.all()[block];
    result.cover(it.end - 1, it.end - 1);
    const std::vector<BlockUse>& uses = uses_[reg];
    auto use = std::ranges::lower_bound(uses, block, {}, &BlockUse::block);
    bool killed = use != uses.end() && use->block == block && use->killed;
    if (!killed) enter(reg, block, result, work);
  }

  Blocks blocks_;
  std::vector<std::vector<BlockUse>> uses_;
  std::vector<uint32_t> live_in_;  // the register that was last found alive there
};

// Hands out slots of one class.
class Pool {
 public:
  uint32_t take(Interval interval) {
    uint32_t slot;
    if (!busy_.empty() && busy_.top().first < interval.begin) {
      slot = busy_.top().second;
      busy_.pop();
    } else {
      slot = count_++;
    }
    busy_.emplace(interval.end, slot);
    return slot;
  }
  uint32_t count() const { return count_; }

 private:
  using Busy = std::pair<uint32_t, uint32_t>;  // end of the interval, slot
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  uint32_t count_ = 0;
};

}  // namespace

SlotAssignment assign_slots(const ptx::Module& module, const FlatCode& code) {
  std::vector<Interval> intervals = Liveness(module, code).intervals();
  std::vector<uint32_t> order;
  for (uint32_t reg = 0; reg < intervals.size(); ++reg)
    if (intervals[reg].begin != kNone) order.push_back(reg);
  std::ranges::stable_sort(order, {}, [&](uint32_t reg) { return intervals[reg].begin; });
  Pool pools[3];
  SlotAssignment result;
  result.slot.assign(intervals.size(), 0);
  for (uint32_t reg : order)
    result.slot[reg] = pools[static_cast<size_t>(code.registers[reg])].take(intervals[reg]);
  for (const Interval& one : intervals) result.lives.emplace_back(one.begin, one.end);
  result.predicates = std::max(1u, pools[static_cast<size_t>(SlotClass::predicate)].count());
  result.words = std::max(1u, pools[static_cast<size_t>(SlotClass::word)].count());
  result.wides = std::max(1u, pools[static_cast<size_t>(SlotClass::wide)].count());
  return result;
}

}  // namespace lw::program
