#include <fmt/format.h>

#include "ptx/verify/instruction.h"

// Version and target that a form and its modifiers need.

namespace lw::ptx {
namespace {

struct Need {
  Mod mod;
  int version;
  std::string_view target;
};

constexpr Need kNeeds[] = {
#define LW_NEEDS(mod, version, target) {Mod::mod, version, target},
#include "ptx/verify/requirements.def"
};

class Requirements {
 public:
  Requirements(const Module& module, const Function& function, const Instruction& instruction,
               VerifyReport& report)
      : module_(module), function_(function), instruction_(instruction), report_(report) {}

  void check() {
    const Opcode& opcode = module_.opcode_of(instruction_);
    const FormRow& row = row_of(opcode.form);
    if (!needs(fmt::format("`{}`", opcode.text), row.version, row.target)) return;
    for (const Need& need : kNeeds) {
      if (!opcode.has(need.mod)) continue;
      if (!needs(fmt::format("`.{}`", name_of(need.mod)), need.version, need.target)) return;
    }
  }

 private:
  bool needs(const std::string& what, int version, std::string_view target) {
    const int have = static_cast<int>(module_.version_major * 10 + module_.version_minor);
    if (have < version) {
      report_.at(
          function_, instruction_,
          fmt::format("{} needs `.version {}.{}`, and the module says {}.{}", what, version / 10,
                      version % 10, module_.version_major, module_.version_minor));
      return false;
    }
    const auto own = module_.target.empty() ? std::nullopt : parse_target(module_.target[0]);
    if (own && !meets(*own, target)) {
      report_.at(function_, instruction_,
                 fmt::format("{} is not supported on `.target {}`", what, module_.target[0]),
                 fmt::format("it needs `{}`", fmt::join(split(target), "` or `")));
      return false;
    }
    return true;
  }

  static std::vector<std::string_view> split(std::string_view targets) {
    std::vector<std::string_view> names;
    while (!targets.empty()) {
      names.push_back(first_of(targets));
      targets.remove_prefix(std::min(names.back().size() + 1, targets.size()));
    }
    return names;
  }

  const Module& module_;
  const Function& function_;
  const Instruction& instruction_;
  VerifyReport& report_;
};

}  // namespace

void check_requirements(const Module& module, const Function& function,
                        const Instruction& instruction, VerifyReport& report) {
  Requirements(module, function, instruction, report).check();
}

}  // namespace lw::ptx
