#pragma once
// The async-groups of a warp's threads: of cp.async one set, of bulk copies another (PTX: Data
// Movement, asynchronous copies, async-group mechanism).
//
// Every thread has groups of its own: `commit` closes the group that its operations since the last
// commit are in, `wait_group N` asks that all its groups but the newest N are done, with their
// reads or with everything. An operation here is what one instruction of the warp issued for some
// lanes; where those lanes had committed equally often (nearly always) it is one entry.

#include <array>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace lw::machine {

enum class CopyPart : uint8_t { reads, writes };  // which part of an operation is done

class AsyncGroups {
 public:
  // `operation` names it in `done`; it is not touched.
  void issue(base::LaneMask lanes, const void* operation);
  void commit(base::LaneMask lanes);
  // The operation has come this far; after its writes it is forgotten.
  void done(const void* operation, CopyPart part);

  // Whether all groups of all `lanes` but the newest `left` of each are done.
  bool is_done(base::LaneMask lanes, uint32_t left, CopyPart part) const;
  // Whether no operation of the lanes, committed or not, is unfinished.
  bool is_idle(base::LaneMask lanes) const;
  // A place in the order of issue, and whether an operation of the lanes issued before it is
  // unfinished.
  uint64_t now() const { return issued_; }
  bool has_before(base::LaneMask lanes, uint64_t place) const;

  uint32_t unfinished() const { return static_cast<uint32_t>(entries_.size()); }

 private:
  struct Entry {
    const void* operation;
    uint64_t place;
    base::LaneMask lanes;
    uint32_t group;  // commits of these lanes before it was issued
    bool reads_done;
  };
  std::vector<Entry> entries_;  // in order of issue
  std::array<uint32_t, base::kWarpSize> commits_{};
  uint64_t issued_ = 0;
};

}  // namespace lw::machine
