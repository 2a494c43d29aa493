#pragma once
// While it lives the order engine can ask how often the instruction was executed (StoreValues).

#include "machine/machine.h"
#include "machine/warp.h"

namespace lw::machine {

class Telling {
 public:
  Telling(const Op& op, const Warp& warp) : machine_(*warp.machine) {
    machine_.values().begin(op, warp);
  }
  ~Telling() { machine_.values().end(); }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

 private:
  Machine& machine_;
};

}  // namespace lw::machine
