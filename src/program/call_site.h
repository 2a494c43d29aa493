#pragma once
// The parts of a `call`, and which functions one through a pointer may mean.

#include <vector>

#include "ptx/module.h"

namespace lw::program {

struct CallSite {
  const ptx::Operand* returns = nullptr;
  const ptx::Operand* callee = nullptr;
  const ptx::Operand* params = nullptr;
  const ptx::Operand* list = nullptr;  // .calltargets or .callprototype
};

CallSite call_site(const ptx::Function& function, const ptx::Instruction& instruction);

class Callees {
 public:
  explicit Callees(const ptx::Module& module) : module_(module) {}

  ptx::FunctionId resolve_alias(ptx::FunctionId id) const;
  // Those of `.calltargets`, else those whose address is taken, of them those that fit.
  std::vector<ptx::FunctionId> through_pointer(const ptx::Function& caller, const CallSite& site);

 private:
  void find_taken();
  bool fits(const ptx::Function& caller, const CallSite& site, ptx::FunctionId id) const;
  bool same_sizes(const ptx::Function& caller, const ptx::Operand* actual,
                  const std::vector<ptx::VariableId>& formal) const;
  bool same_size(const ptx::Function& caller, const ptx::Operand& argument,
                 const ptx::Variable& formal) const;

  const ptx::Module& module_;
  std::vector<char> taken_;  // by FunctionId: its address is; filled when first asked
};

}  // namespace lw::program
