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
  std::string_view base;
  Mod mod;
  int version;
  std::string_view target;
};

struct TypeNeed {
  std::string_view base;
  Type type;
  int version;
  std::string_view target;
};

struct Gone {
  FormId form;
  int version;
  int target;
};

#define LW_NEEDS(base, mod, version, target) {base, Mod::mod, version, target},
#define LW_TYPE_NEEDS(base, type, version, target)
#define LW_GONE(form, version, target)
constexpr ModNeed kModNeeds[] = {
#include "ptx/verify/requirements.def"
};

#define LW_NEEDS(base, mod, version, target)
#define LW_TYPE_NEEDS(base, type, version, target) {base, Type::type, version, target},
#define LW_GONE(form, version, target)
constexpr TypeNeed kTypeNeeds[] = {
#include "ptx/verify/requirements.def"
};

#define LW_NEEDS(base, mod, version, target)
#define LW_TYPE_NEEDS(base, type, version, target)
#define LW_GONE(form, version, target) {FormId::form, version, target},
constexpr Gone kGone[] = {
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
  const std::string_view base = pattern_of(opcode.form).base;
  const auto is_for = [&](std::string_view which) { return which.empty() || which == base; };
  for (const ModNeed& need : kModNeeds) {
    if (!opcode.has(need.mod) || !is_for(need.base)) continue;
    needs.push_back({fmt::format("`.{}`", name_of(need.mod)), need.version, need.target});
  }
  for (const TypeNeed& need : kTypeNeeds) {
    const bool has =
        std::find(opcode.types.begin(), opcode.types.end(), need.type) != opcode.types.end();
    if (!has || !is_for(need.base)) continue;
    needs.push_back(
        {fmt::format("`{}` with `.{}`", base, name_of(need.type)), need.version, need.target});
  }
  const bool to_cta =
      opcode.has(Mod::shared_cta) &&
      (opcode.form == FormId::cp_async_bulk_g2s || opcode.form == FormId::cp_async_bulk_tensor_g2s);
  if (to_cta) needs.push_back({"a bulk copy to `.shared::cta`", 86, "sm_90"});
  if (opcode.form == FormId::cvt_tf32_rn && opcode.has(Mod::satfinite)) {
    needs.push_back({"a rounding of `.tf32` with `.satfinite`", 86, "sm_100"});
  }
  const bool moves = row.effect == Effect::load || row.effect == Effect::store;
  if (moves && access_bits(opcode) == 256) {
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

const Gone* find_gone(FormId form, int version, const Target& target) {
  for (const Gone& gone : kGone) {
    if (gone.form == form && version >= gone.version && target.number >= gone.target) return &gone;
  }
  return nullptr;
}

}  // namespace

bool is_gone(FormId form, int version, const Target& target) {
  return find_gone(form, version, target) != nullptr;
}

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
  const auto target = module.target.empty() ? std::nullopt : parse_target(module.target[0]);
  const Opcode& opcode = module.opcode_of(instruction);
  const Gone* gone = target ? find_gone(opcode.form, have, *target) : nullptr;
  if (gone != nullptr) {
    report.at(function, instruction,
              fmt::format("`{}` is not supported on `sm_{}` and later from `.version {}.{}` on",
                          opcode.text, gone->target, gone->version / 10, gone->version % 10),
              "use the form with `.sync`");
    return;
  }
  for (const Need& need : needs_of(opcode)) {
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
