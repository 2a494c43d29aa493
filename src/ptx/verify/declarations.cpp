#include "ptx/verify/declarations.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/verify/spaces.h"
#include "ptx/verify/targets.h"

namespace lw::ptx {
namespace {

constexpr uint64_t kConstantBytes = 64 * 1024;
constexpr int kVectorBits = 128;

bool is_open(const Variable& variable) { return !variable.dims.empty() && variable.dims[0] == 0; }

// The part of a variable that memory holds: its type, vector and size.
void check_shape(const Variable& variable, VerifyReport& report) {
  if (variable.type == Type::pred) {
    report.at_line(variable.line, fmt::format("`{}` is `.pred` in memory", variable.name),
                   "only registers are predicates");
  } else if (variable.vector * bits_of(variable.type) > kVectorBits) {
    report.at_line(variable.line,
                   fmt::format("`{}` is a vector of {} bits", variable.name,
                               variable.vector * bits_of(variable.type)),
                   fmt::format("a vector has {} at most", kVectorBits));
  }
}

void check_initial(const Module& module, const Variable& variable, VerifyReport& report) {
  if (variable.has_initial && variable.linkage == Linkage::external) {
    report.at_line(variable.line,
                   fmt::format("`{}` is external and has an initial value", variable.name),
                   "leave `.extern` out, or the value");
    return;
  }
  const auto wide = static_cast<int>(module.address_size);
  const auto cut = [&](const Initial& initial) {
    return initial.kind != Initial::Kind::number && initial.mask == 0 &&
           bits_of(variable.type) != wide;
  };
  if (std::any_of(variable.initial.begin(), variable.initial.end(), cut)) {
    report.at_line(variable.line,
                   fmt::format("`.{}` of `{}` does not hold an address of {} bits",
                               name_of(variable.type), variable.name, wide),
                   fmt::format("declare it `.u{}`", wide));
  }
}

void check_variable(const Module& module, const Variable& variable, VerifyReport& report) {
  if (kind_of(variable.type) == TypeKind::opaque) return;
  check_shape(variable, report);
  check_initial(module, variable, report);
  if (is_open(variable) && variable.linkage != Linkage::external &&
      variable.space != Space::param) {
    report.at_line(variable.line, fmt::format("`{}` has no size", variable.name),
                   "write it between the brackets, or `.extern` in front");
  }
}

void check_constants(const Module& module, VerifyReport& report) {
  uint64_t bytes = 0;
  for (const Variable& variable : module.variables) {
    if (variable.space != Space::constant || variable.linkage == Linkage::external) continue;
    bytes += variable.size_bytes();
    if (bytes <= kConstantBytes) continue;
    report.at_line(variable.line,
                   fmt::format("`{}` is the one too many: {} bytes of `.const` variables",
                               variable.name, bytes),
                   fmt::format("a module has {} at most", kConstantBytes));
    return;
  }
}

// Parameters of kernels lie in memory that the host fills.
void check_kernel_parameter(const Variable& parameter, VerifyReport& report) {
  if (parameter.space == Space::reg) {
    report.at_line(parameter.line,
                   fmt::format("parameter `{}` of a kernel is a register", parameter.name),
                   "declare it `.param`");
  } else if (is_open(parameter)) {
    report.at_line(parameter.line,
                   fmt::format("parameter `{}` of a kernel has no size", parameter.name),
                   "write it between the brackets");
  } else {
    check_shape(parameter, report);
  }
}

void check_parameters(const Module& module, const Function& function, VerifyReport& report) {
  for (VariableId id : function.params) {
    const Variable& parameter = module.variables[id.value];
    if (function.entry) {
      check_kernel_parameter(parameter, report);
    } else if (parameter.pointer) {
      report.at_line(
          parameter.line,
          fmt::format("`{}` is `.ptr`, which only parameters of kernels are", parameter.name),
          "leave `.ptr` out");
    }
  }
  if (function.entry && !function.returns.empty()) {
    report.at_line(function.line, fmt::format("kernel `{}` returns a value", function.name),
                   "store it to global memory");
  }
}

void check_cluster(const Module& module, const Function& function, VerifyReport& report) {
  const bool sized = !function.required_cluster.empty();
  const bool any = sized || function.max_cluster_rank != 0 || function.explicit_cluster ||
                   function.blocks_are_clusters;
  const auto target = module.target.empty() ? std::nullopt : parse_target(module.target[0]);
  if (any && target && target->number < 90) {
    report.at_line(function.line,
                   fmt::format("clusters of `{}` are not supported on `.target {}`", function.name,
                               module.target[0]),
                   "they need `sm_90`");
  } else if (sized && function.max_cluster_rank != 0) {
    report.at_line(
        function.line,
        fmt::format("`{}` has both `.reqnctapercluster` and `.maxclusterrank`", function.name),
        "keep one of them");
  } else if (function.blocks_are_clusters && (!sized || function.required_threads.empty())) {
    report.at_line(function.line,
                   fmt::format("`{}` is `.blocksareclusters` without sizes", function.name),
                   "add `.reqntid` and `.reqnctapercluster`");
  }
}

void check_sizes(const Function& function, VerifyReport& report) {
  const auto zero = [](const std::vector<uint32_t>& values) {
    return std::find(values.begin(), values.end(), 0u) != values.end();
  };
  if (zero(function.max_threads) || zero(function.required_threads) ||
      zero(function.required_cluster)) {
    report.at_line(function.line, fmt::format("`{}` has a dimension of 0", function.name),
                   "write at least 1");
  }
  if (!function.max_threads.empty() && !function.required_threads.empty()) {
    report.at_line(function.line,
                   fmt::format("`{}` has both `.maxntid` and `.reqntid`", function.name),
                   "keep one of them");
  }
}

void check_kind(const Function& function, VerifyReport& report) {
  const bool tuned = !function.max_threads.empty() || !function.required_threads.empty() ||
                     !function.required_cluster.empty() || function.min_ctas != 0 ||
                     function.max_cluster_rank != 0;
  if (tuned && !function.entry) {
    report.at_line(function.line,
                   fmt::format("`{}` is no kernel, and has a size of its launch", function.name),
                   "move the directive to the `.entry`");
  }
  if (function.entry && function.no_return) {
    report.at_line(function.line, fmt::format("kernel `{}` is `.noreturn`", function.name),
                   "leave it out");
  }
  if (function.entry && function.linkage == Linkage::external && function.defined) {
    report.at_line(function.line, fmt::format("`{}` is external and has a body", function.name),
                   "write `.visible` in place of `.extern`");
  }
}

}  // namespace

void check_globals(const Module& module, VerifyReport& report) {
  for (const Module::TopLevel& item : module.order) {
    if (item.kind != Module::TopLevel::Kind::variable) continue;
    const Variable& variable = module.variables[item.index];
    if (variable.space == Space::reg || variable.space == Space::param) {
      report.at_line(variable.line,
                     fmt::format("`{}` is `.{}` outside of functions", variable.name,
                                 word_for(variable.space)),
                     "declare it in the function that uses it");
    } else {
      check_variable(module, variable, report);
    }
  }
  check_constants(module, report);
}

void check_declarations(const Module& module, const Function& function, VerifyReport& report) {
  check_parameters(module, function, report);
  check_sizes(function, report);
  check_kind(function, report);
  check_cluster(module, function, report);
  for (const Item& item : function.items) {
    if (item.kind == Item::Kind::variable)
      check_variable(module, module.variables[item.index], report);
  }
}

}  // namespace lw::ptx
