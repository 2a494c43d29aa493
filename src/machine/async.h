#pragma once
// Asynchronous operations in flight (cp.async, bulk and tensor copies, ...).
//
// Each is an agent with two milestones: *read-done* (its sources may be overwritten) and
// *write-done* (its results exist). The policy says when each is performed; nothing happens between
// the issue and the first of them. The subclass belongs to the instruction family.

#include <cstdint>

#include "base/ids.h"

namespace lw::machine {

class Machine;

enum class Milestone : uint8_t { read, write, done };

class AsyncOperation {
 public:
  virtual ~AsyncOperation() = default;

  // Reads the sources (into a copy of its own). Then `next()` is Milestone::write.
  virtual void perform_read(Machine& machine) = 0;
  // Writes the results and raises the signals: mbarrier bytes, group counts; wakes who waits.
  virtual void perform_write(Machine& machine) = 0;
  // Whether the next milestone may be performed now: false while an operation that must come before
  // it (of the same group order, say) is not done.
  virtual bool can_advance() const { return true; }

  Milestone next() const { return next_; }

  base::AsyncId id;        // given by Machine::start
  base::OpId instruction;  // that issued it
  base::CtaId cta;         // who issued it
  base::WarpId warp;
  base::LaneMask lanes = 0;
  uint64_t issue_step = 0;

 private:
  friend class Machine;
  Milestone next_ = Milestone::read;
};

}  // namespace lw::machine
