#pragma once
// What the engine found, as plain data: ids, addresses and counts. Names and source lines are
// `report/`'s business, and so is the object an address lies in.
//
// Races are grouped by (earlier instruction, later instruction, space, what is missing): the first
// instance in full, the rest as counts and as the list of addresses. One missing edge usually shows
// as several groups; `report/` joins them by object.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "diagnose/rules.h"
#include "order/byte_set.h"
#include "order/event.h"

namespace lw::order {

using diagnose::RuleId;
using diagnose::Tier;

// Who did it: lanes of a warp, or an asynchronous operation that a lane issued. Of a tcgen05
// operation each operand is told apart, since its order depends on that: what an mma reads and
// writes in tensor memory, and what mma and cp read in shared memory.
enum class Agent : uint8_t {
  kLanes,
  kMatrixRows,
  kCpAsync,
  kBulkLoad,
  kBulkStore,
  kTensorAlloc,
  kTensorFree,
  kTensorLoad,
  kTensorStore,
  kMmaOperand,
  kMmaResult,
  kTensorCopy,
  kTensorCopy4x256b,
  kTensorShift,
  kTensorShared,
  kHost,
  kExit  // the end of a CTA
};

struct Party {
  OpId op;
  CtaId cta;
  WarpId warp;
  LaneMask lanes = 0;
  Agent agent = Agent::kLanes;
  Kind kind = Kind::kRead;
  uint32_t epoch = 0;      // the warp's release epoch: two parties of one warp compare by it
  uint32_t execution = 0;  // n-th execution of op by the warp, from 1; 0: not known in this run
};

// How far the two events are ordered, from nothing to all but the proxy.
enum class Path : uint8_t { kNone, kControl, kExecution, kNoProxyFence };

// The last synchronisation that both parties follow.
struct Common {
  enum class Kind : uint8_t { kNone, kNamedBarrier, kMbarrier, kWarpSync };
  Kind kind = Kind::kNone;
  uint32_t object = 0;      // barrier id, or offset of the mbarrier
  uint32_t generation = 0;  // counts from 1: its n-th completion in this CTA
  OpId earlier_op;          // the instruction by which each of the two took part
  OpId later_op;
};

struct Race {
  RuleId rule = RuleId::kNone;  // the edge that is missing
  Tier tier = Tier::kRace;
  Path path = Path::kNone;
  Space space = Space::kShared;
  Party earlier;
  Party later;
  uint64_t address = 0;         // of the first racing byte; in tensor memory see TensorCell
  uint32_t bytes = 0;           // racing bytes from there in the first instance
  uint64_t serial = 0;          // of the later access among all of the run
  bool after_unforced = false;  // a match that was not forced may have led here
  bool after_race = false;      // a value that raced may have led here (D-1)
  CtaId owner;                  // whose shared memory it is, or on whose SM the cells are
  // Of a write and the dealloc of its cells: loads of the same cells follow the write and lack the
  // same edge to the dealloc; with that edge this race would be gone too. Of a group: all of it.
  bool implied = false;
};

// Receives each racing stretch as it is found, ungrouped; for tests and for the replay.
class RaceSink {
 public:
  virtual ~RaceSink() = default;
  virtual void race(const Race& race) = 0;
};

// A release or an acquire of one of the two parties, between its access and the end (see Story).
struct SyncStep {
  enum class Kind : uint8_t {
    kBarrierArrive,
    kBarrierLeave,
    kMbarrierArrive,
    kMbarrierWait,
    kWarpSync,
    kStrongRelease,
    kStrongAcquire
  };
  Kind kind = Kind::kBarrierArrive;
  OpId op;
  WarpId warp;
  LaneMask lanes = 0;
  CtaId owner;  // of the barrier or object
  uint32_t object = 0;
  uint32_t generation = 0;
  uint32_t epoch = 0;
};

// The story of a race, rebuilt by a run with a watch on its bytes.
struct Story {
  Race race;  // with both execution counts
  Common common;
  std::vector<SyncStep> released;       // what the earlier party released after its access
  std::optional<size_t> released_from;  // steps of its CTA before that; nothing: not on the log
  std::vector<SyncStep>
      acquired;               // what the later party acquired after `common`, before its access
  std::vector<Party> others;  // other accesses to the bytes that race with the later one too
  // Of lanes of one warp that race: a later access of another warp that races with one of them.
  std::optional<Party> other_warp;
};

struct Interval {
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct RaceGroup {
  Race first;
  ByteSet bytes;           // that raced
  uint64_t instances = 0;  // executions of the later instruction that raced
  std::set<uint32_t> ctas;
  std::set<uint32_t> earlier_warps;
  std::set<uint32_t> later_warps;
  std::vector<Interval> addresses;  // disjoint, ascending; the last one grows when there are many
};

// A condition under which one run speaks for all schedules, and does not hold here.
struct Unforced {
  RuleId rule = RuleId::kNone;  // D-2, D-3, D-3b, D-3c, D-4, D-5, D-6
  CtaId cta;
  bool named_barrier = false;
  uint32_t object = 0;  // barrier id, offset of the mbarrier, or low bits of the word's address
  uint32_t generation = 0;
  Party first;   // what had to come before
  Party second;  // and may come too early
  uint64_t count = 0;
  uint64_t since = 0;  // another matching leaves all as it is before this access of the run
  // D-6: it is not known that the reader waits for this write; a run that holds it back, and those
  // before it, until the reader has polled may prove it.
  bool awaited = false;
};

// A poll that passed, and a write that it did not know of.
struct Awaited {
  Party poll;
  Party write;
};

// A plain error that only the shadow can see: access to a live mbarrier (MB-33).
struct PlainError {
  RuleId rule = RuleId::kNone;
  Party party;
  Space space = Space::kShared;
  uint64_t address = 0;
  uint64_t count = 0;
  uint64_t serial = 0;           // of its first instance, as in Race
  bool in_all_schedules = true;  // what makes it an error is there whatever the order
};

// A read of bytes that nobody wrote (E-20).
struct Unwritten {
  Party party;
  Space space = Space::kShared;
  uint64_t address = 0;  // first such byte
  uint64_t count = 0;    // bytes, over all executions
};

// An instruction whose order is not modelled was reached.
struct NotModelled {
  OpId op;
  RuleId rule = RuleId::kNone;
  uint64_t count = 0;
};

struct Facts {
  std::vector<RaceGroup> races;  // in the order of their first instance
  std::vector<Unforced> unforced;
  std::vector<Awaited> awaited;   // all instances of facts that are `awaited`
  bool polls_other_ctas = false;  // which must run beside the reader then
  std::vector<PlainError> errors;
  std::vector<Unwritten> unwritten;
  std::vector<NotModelled> not_modelled;
  std::vector<Story> stories;       // only in a run with watches
  uint64_t accesses = 0;            // warp instructions checked
  std::set<RuleId> practice;        // rules whose edges stand in shipped practice only
  bool names_instructions = false;  // something names the instruction of an access object
};

// A place to look at closely in a second run of the same schedule.
struct Watch {
  Space space = Space::kShared;
  CtaId cta;  // of a shared range
  uint64_t begin = 0;
  uint64_t end = 0;
};

}  // namespace lw::order
