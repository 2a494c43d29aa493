#include "ptx/verify/requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/forms.h"

namespace lw::ptx {
namespace {

struct ModNeed {
  Mod mod;
  int version;
  std::string_view target;
};

constexpr ModNeed kModNeeds[] = {
#define LW_NEEDS(mod, version, target) {Mod::mod, version, target},
#include "ptx/verify/requirements.def"
};

// One thing of an opcode, and what it needs.
struct Need {
  std::string what;
  int version;
  std::string_view target;
};

// Bits that each thread of a vector load or store moves.
int access_bits(const Opcode& opcode) {
  const int count = opcode.has(Mod::v8) ? 8 : opcode.has(Mod::v4) ? 4 : opcode.has(Mod::v2) ? 2 : 1;
  return count * bits_of(opcode.type());
}

std::vector<Need> needs_of(const Opcode& opcode) {
  const FormRow& row = row_of(opcode.form);
  std::vector<Need> needs{{fmt::format("`{}`", opcode.text), row.version, row.target}};
  for (const ModNeed& need : kModNeeds) {
    if (!opcode.has(need.mod)) continue;
    needs.push_back({fmt::format("`.{}`", name_of(need.mod)), need.version, need.target});
  }
  const bool moves = row.effect == Effect::load || row.effect == Effect::store;
  if (moves && access_bits(opcode) > 128) {
    needs.push_back({"an access of 256 bits", 88, "sm_100"});
  }
  return needs;
}

std::vector<std::string_view> split(std::string_view targets) {
  std::vector<std::string_view> names;
  while (!targets.empty()) {
    names.push_back(first_of(targets));
    targets.remove_prefix(std::min(names.back().size() + 1, targets.size()));
  }
  return names;
}

}  // namespace

bool meets_requirements(const Opcode& opcode, const Target& target) {
  const std::vector<Need> needs = needs_of(opcode);
  return std::all_of(needs.begin(), needs.end(),
                     [&](const Need& need) { return meets(target, need.target); });
}

int needed_version(const Opcode& opcode) {
  int version = 0;
  for (const Need& need : needs_of(opcode)) version = std::max(version, need.version);
  return version;
}

void check_requirements(const Module& module, const Function& function,
                        const Instruction& instruction, VerifyReport& report) {
  const int have = static_cast<int>(module.version_major * 10 + module.version_minor);
  const auto target =
      module.target.empty() ? std::nullopt : parse_target(module.target[0]);
  for (const Need& need : needs_of(module.opcode_of(instruction))) {
    if (have < need.version) {
      report.at(function, instruction,
                fmt::format("{} needs `.version {}.{}`, and the module says {}.{}", need.what,
                            need.version / 10, need.version % 10, module.version_major,
                            module.version_minor));
      return;
    }
    if (target && !meets(*target, need.target)) {
      report.at(function, instruction,
                fmt::format("{} is not supported on `.target {}`", need.what, module.target[0]),
                fmt::format("it needs `{}`", fmt::join(split(need.target), "` or `")));
      return;
    }
  }
}

}  // namespace lw::ptx
