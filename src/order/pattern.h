#pragma once
// How the lanes of an access lie, without where. A kernel repeats what it does with another start
// in every round, warp and CTA; one comparison of distances then replaces the whole look at the
// addresses (lanes.h).
//
// Distances count from the block of the first lane. A few of them choose a slot, in which the last
// pattern of its kind is kept.

#include <vector>

#include "order/lanes.h"

namespace lw::order {

struct Pattern {
  uint64_t start = 0;  // of the present access: the first byte of a block
  EachShape distance;  // of each lane from it
  Scan found;          // places in it, and in `covers`, are distances
  Covers covers;       // none yet, or of lanes of at least a cell

  // What a look at the addresses themselves would give.
  Scan scan() const;
};

class Patterns {
 public:
  // That of these lanes; it stands until the next call.
  Pattern& of(const EachShape& each);

 private:
  static constexpr size_t kSlots = 256;
  std::vector<Pattern> slots_;  // empty before the first access
};

}  // namespace lw::order
