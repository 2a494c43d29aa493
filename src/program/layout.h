#pragma once
// Where variables and parameters lie. PTX does not say in which order static shared variables are
// placed, nor where the dynamic block starts; ours: in order of declaration, then the dynamic block
// at the strictest alignment that an unsized variable asks for. All unsized `.extern .shared` of a
// module name the same bytes.

#include <vector>

#include "program/flat.h"
#include "program/program.h"
#include "ptx/module.h"

namespace lw::program {

uint64_t align_up(uint64_t value, uint64_t step);

// The parameter block of a kernel: fills Program::parameters and parameter_bytes.
void lay_out_parameters(const ptx::Module& module, ptx::FunctionId kernel, Program& program);

// The shared variables that the code names, and all of its functions: ptxas counts those, used or
// not, and of the others only the used ones.
void lay_out_shared(const ptx::Module& module, const FlatCode& code, Program& program);

// The constant bank of a module: every `.const` variable in order of declaration. Returns its size.
uint64_t lay_out_constants(const ptx::Module& module, std::vector<VariablePlace>& places);

const VariablePlace* find_place(const std::vector<VariablePlace>& places, ptx::VariableId id);

}  // namespace lw::program
