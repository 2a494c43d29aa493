#pragma once
// One look at the lanes' addresses of an instruction, in vectors: what may be taken for granted of
// them. `scan` is compiled for each vector level and chosen at start.

#include "order/object.h"

namespace lw::order {

struct Scan {
  bool aligned = true;  // each address is a multiple of what a lane accesses
  bool ascends = true;  // no lane goes to a lower block than the one before it
  bool whole = false;   // all 32 lanes; together they fill one row, in some order
  uint64_t low = 0;     // where the row begins
  LaneOrder place{};    // of a whole row: each lane's place in it, counted from a multiple of a row
};

Scan scan(const EachShape& each);

}  // namespace lw::order
