#pragma once
// Can this case be launched at all? What the PTX and the hardware say about its kernels, grids and
// arguments, known before anything runs.

#include <vector>

#include "casefile/case.h"
#include "diagnose/diagnostic.h"
#include "program/program.h"
#include "ptx/module.h"

namespace lw::casefile {

// The module and kernel of a launch.
struct Kernel {
  size_t module = 0;  // index into Case::modules
  const ptx::Function* function = nullptr;
};

// Nothing, with a diagnostic, if there is no such kernel or several modules have it.
std::optional<Kernel> find_kernel(const Case& parts, const std::vector<ptx::Module>& modules,
                                  const Launch& launch, diagnose::Emitter& emitter);

// Grid, block, cluster, shared memory and registers against the hardware's limits and the kernel's
// own directives.
void check_launch(const Launch& launch, const Kernel& kernel, const ptx::Module& module,
                  diagnose::Emitter& emitter);

// The same once the kernel's own shared variables are laid out.
void check_shared_memory(const Launch& launch, const ptx::Module& module, uint64_t static_bytes,
                         diagnose::Emitter& emitter);

// Number and sizes of the arguments.
void check_arguments(const Case& parts, const Launch& launch,
                     const std::vector<program::Parameter>& parameters, diagnose::Emitter& emitter);

}  // namespace lw::casefile
