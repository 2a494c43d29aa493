#pragma once
// Tensor memory inside the engine (rule book 12; PTX ISA 9.7.16.6).
//
// The problem. ld, st, mma, cp and shift are asynchronous, all of them, and a barrier finishes none
// of them: a warp learns of its own ld and st by wait, and anybody of an mma, cp or shift by a
// commit on an mbarrier. Only some pairs of one warp run one after the other by themselves
// (tensor_pairs.cpp).
//
// Two that are no pair follow each other through a read of the same cells that makes a pair with
// both: cp, mma, cp.
//
// The model. Each access is an access object like that of a copy, on the cells of the SM. It ends
// with a stamp of a component: of the warp's loads or stores (a wait raises it for the lanes that
// execute it), or of the warp's other work, lane by lane (the arrival of a commit brings it to the
// mbarrier). All three end in the order of their issue as far as anybody can know, so a component
// is cumulative, and a later read of like kind may stand for an earlier one.
//
// Fences. tcgen05.fence::before_thread_sync stamps what its lane has issued: who knows the stamp
// comes after that in the sense of the pipelined pairs. It also lets a relaxed arrival, which
// orders nothing else, carry what has ended (T5-20); the waiter knows it in E, and
// after_thread_sync takes it from there to H: ends of tensor work alone, never other data (T5-15).
//
// A pair of CTAs (cta_group::2). What its one thread issues has operands in the cells and the
// shared memory of both; a commit to several CTAs is an arrival in each.
//
// Limits. The pairs are those of PTX 9.4; 9.1 had fewer. dealloc of a pair is that of each CTA.

#include <memory>
#include <optional>
#include <vector>

#include "order/check.h"
#include "order/judge.h"

namespace lw::order {

// The components of a warp that uses tensor memory, from WarpTensor::first on. The fences carry all
// but the last: reads of shared operands.
enum class TensorPart : uint8_t { kLoads, kStores, kCells, kFenced, kShared };
inline constexpr Component kTensorParts = 5;
inline constexpr Component kFencedParts = 4;

struct WarpTensor {
  struct Fenced {
    LaneMask lanes = 0;
    ClockRef known;  // H of the lanes at their last before_thread_sync
  };
  Component first = 0;
  // Stamps of what is issued now: those of loads and stores grow at each wait, that of the rest at
  // each commit and each before_thread_sync.
  uint32_t loads = 1;
  uint32_t stores = 1;
  uint32_t work = 1;
  bool loads_open = false;  // some since the last wait
  bool stores_open = false;
  LaneCounts issued{};     // of each lane's work: the last stamp
  LaneCounts committed{};  // the stamp of each lane's last commit
  std::vector<Fenced> fenced;

  Component part(TensorPart part) const { return first + static_cast<Component>(part); }
};

WarpTensor& tensor_of(Warp& warp);

constexpr bool is_tensor_work(Agent agent) {
  return agent >= Agent::kMmaOperand && agent <= Agent::kTensorShift;
}
constexpr bool is_tensor_access(Agent agent) {
  return agent == Agent::kTensorLoad || agent == Agent::kTensorStore || is_tensor_work(agent);
}

// How the operation that `later` belongs to follows `earlier`, if neither has ended: by itself
// (T5-9), or by what only the PTX 9.1 text says (T5-23), or not at all.
enum class Pipelined : uint8_t { kNo, kAcrossWarps, kYes };
Pipelined pipelined(const Doing& doing, const Object& earlier);

// Whoever comes after the load, which follows the write, comes after the write too. Not so a store
// of its own warp: the load may follow that before it has ended (T5-9).
bool brings_writer(const Object& load, const Object& write);

// A pair of cells that nothing orders as it should.
Verdict judge_tensor(const Doing& doing, const Object& earlier, Path path);

// What a relaxed arrival or store of these lanes carries, after a before_thread_sync.
std::optional<Contribution> carried_by_fence(const Core& core, const Warp& warp, LaneMask lanes);

}  // namespace lw::order
