#pragma once
// Which instructions make a value that another schedule may make otherwise: clocks, numbers of the
// SM and of the warp's place, `activemask`, results of mbarrier tests, values of strong loads and
// atomics; and what may have to wait where it stands.

#include <optional>
#include <vector>

#include "program/nodes.h"
#include "ptx/module.h"

namespace lw::program {

enum class Cause : uint8_t {
  clock,           // %clock, %globaltimer, ...
  placement,       // %smid, %nsmid, %warpid, %nwarpid
  active_lanes,    // activemask
  mbarrier_test,   // test_wait, try_wait
  strong_read,     // a load that is not weak, an atomic whose result is used
  register_pool,   // setmaxnreg.inc: may wait for what other warps give back
  tensor_columns,  // tcgen05.alloc: may wait for what other CTAs free
};

// An instruction and what it makes of the schedule, if anything.
struct Made : Node {
  std::optional<Cause> cause;
};

// As code.instructions.
std::vector<Made> describe_made(const ptx::Module& module, const FlatCode& code);

// test_wait or try_wait of an mbarrier.
bool is_test(ptx::FormId form);

bool is_strong_read(const ptx::Opcode& opcode, ptx::Effect effect);

}  // namespace lw::program
