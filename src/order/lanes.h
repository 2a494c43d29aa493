#pragma once
// One look at the lanes' addresses of an instruction, in vectors: what may be taken for granted of
// them. `scan` is compiled for each vector level and chosen at start.

#include "order/object.h"
#include "order/shadow.h"

namespace lw::order {

// Lanes in a row: lane i at base + i * stride, if `regular`; all at one address: stride 0.
struct Row {
  uint64_t base = 0;
  uint64_t stride = 0;
  bool regular = false;
};

struct Scan {
  Row row;
  bool aligned = true;  // each address is a multiple of what a lane accesses
  bool whole = false;   // all 32 lanes; together they fill one row, in some order
  uint64_t low = 0;     // where the row begins
  LaneOrder place{};    // of a whole row: each lane's place in it, counted from a multiple of a row
};

Scan scan(const EachShape& each);

// Are these the lanes of `pattern`, each `start` further on?
bool is_displaced(const EachShape& each, const EachShape& pattern, uint64_t start);

// What the lanes touch of one block.
struct Cover {
  uint64_t base = 0;  // address of the block
  CellMask cells = 0;
  bool injective = true;  // no byte belongs to two lanes
};

// The blocks that lanes of at least a cell touch, each once.
struct Covers {
  int count = 0;
  std::array<Cover, kWarpSize> cover;
};
void find_covers(const EachShape& each, Covers& covers);

}  // namespace lw::order
