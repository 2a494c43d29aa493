#pragma once
// One launch of the case: what was asked for, and its state while it runs.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "machine/cta.h"
#include "machine/modules.h"
#include "program/program.h"
#include "ptx/module.h"

namespace lw::machine {

struct LaunchRequest {
  ModuleId module;
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;
  uint32_t dynamic_shared_bytes = 0;
  uint32_t registers = 0;  // per thread; 0: .maxnreg, else what fits
  uint32_t stream = 0;
  bool programmatic = false;  // may start when the launch before it in the stream lets it
  // Of a cooperative launch, else 0: two words in global memory, of which cooperative groups keep
  // the count of their barrier in the second. The kernel finds them by %envreg1 and %envreg2.
  uint64_t grid_workspace = 0;
  std::vector<std::byte> parameters;  // the parameter block, laid out as Program::parameters says
};

struct Launch {
  base::GridId id;
  LaunchRequest request;
  std::shared_ptr<const program::Program> program;
  uint32_t warps_per_cta = 0;
  uint32_t registers = 0;     // per thread
  uint32_t shared_bytes = 0;  // static and dynamic
  uint32_t first_cta = 0;     // CtaId of its CTA 0
  uint32_t ctas_started = 0;  // in linear order, cluster by cluster
  uint32_t ctas_finished = 0;
  uint32_t ctas_triggered = 0;  // let the next launch of the stream start, or finished
  bool lets_go_early = false;   // some CTA has executed griddepcontrol.launch_dependents

  uint32_t cta_count() const { return static_cast<uint32_t>(request.grid.count()); }
  bool is_finished() const { return ctas_finished == cta_count(); }
};

}  // namespace lw::machine
