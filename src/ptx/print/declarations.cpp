#include "ptx/print/declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lw::ptx {

std::string_view word_of(Space space) {
  switch (space) {
    case Space::reg:
      return "reg";
    case Space::sreg:
      return "sreg";
    case Space::constant:
      return "const";
    case Space::global:
      return "global";
    case Space::local:
      return "local";
    case Space::param:
      return "param";
    case Space::shared:
      return "shared";
    case Space::tex:
      return "tex";
    case Space::none:
      break;
  }
  return "";
}

void DeclarationPrinter::linkage(Linkage linkage) {
  switch (linkage) {
    case Linkage::visible:
      out_ += ".visible ";
      break;
    case Linkage::weak:
      out_ += ".weak ";
      break;
    case Linkage::external:
      out_ += ".extern ";
      break;
    case Linkage::common:
      out_ += ".common ";
      break;
    case Linkage::internal:
      break;
  }
}

void DeclarationPrinter::variable(const Variable& variable) {
  linkage(variable.linkage);
  qualifiers(variable);
  declarator(variable);
  initial(variable);
  out_ += ';';
}

void DeclarationPrinter::qualifiers(const Variable& variable) {
  const auto out = std::back_inserter(out_);
  fmt::format_to(out, ".{} ", word_of(variable.space));
  if (!variable.attributes.empty()) {
    fmt::format_to(out, ".attribute({}) ", fmt::join(variable.attributes, ", "));
  }
  if (variable.align != 0) fmt::format_to(out, ".align {} ", variable.align);
  if (variable.vector > 1) fmt::format_to(out, ".v{} ", variable.vector);
  fmt::format_to(out, ".{} ", name_of(variable.type));
  if (!variable.pointer) return;
  out_ += ".ptr ";
  if (variable.pointer_space != Space::none) {
    fmt::format_to(out, ".{} ", word_of(variable.pointer_space));
  }
  if (variable.pointer_align != 0) fmt::format_to(out, ".align {} ", variable.pointer_align);
}

void DeclarationPrinter::declarator(const Variable& variable) {
  out_ += variable.name;
  for (uint64_t dim : variable.dims) {
    out_ += dim == 0 ? "[]" : fmt::format("[{}]", dim);
  }
}

void DeclarationPrinter::initial(const Variable& variable) {
  if (!variable.opaque_initial.empty()) {
    fmt::format_to(std::back_inserter(out_), " = {{ {} }}", variable.opaque_initial);
  } else if (variable.has_initial) {
    out_ += " = ";
    std::vector<uint64_t> dims = variable.dims;
    if (variable.vector > 1) dims.push_back(variable.vector);
    if (dims.empty()) {
      element(variable, variable.initial[0]);
    } else {
      braces(variable, dims, 0);
    }
  }
}

// One level of braces for each dimension; what comes after the last kept element is zero.
void DeclarationPrinter::braces(const Variable& variable, std::span<const uint64_t> dims,
                                uint64_t start) {
  uint64_t stride = 1;
  for (uint64_t dim : dims.subspan(1)) stride *= dim;
  const uint64_t left = variable.initial.size() - std::min(start, variable.initial.size());
  const uint64_t entries = std::min(dims[0], (left + stride - 1) / stride);
  out_ += '{';
  for (uint64_t i = 0; i < entries; ++i) {
    if (i != 0) out_ += ", ";
    if (dims.size() > 1) {
      braces(variable, dims.subspan(1), start + i * stride);
    } else {
      element(variable, variable.initial[start + i]);
    }
  }
  out_ += '}';
}

void DeclarationPrinter::element(const Variable& variable, const Initial& initial) {
  const auto out = std::back_inserter(out_);
  if (initial.kind == Initial::Kind::number) {
    if (variable.type == Type::f32) {
      fmt::format_to(out, "0f{:08X}", static_cast<uint32_t>(initial.bits));
    } else if (variable.type == Type::f64) {
      fmt::format_to(out, "0d{:016X}", initial.bits);
    } else {
      fmt::format_to(out, "{}", initial.bits);
    }
    return;
  }
  const bool is_function = initial.kind == Initial::Kind::function;
  const std::string& name =
      is_function ? module_.functions[initial.id].name : module_.variables[initial.id].name;
  if (initial.mask != 0) fmt::format_to(out, "0x{:X}(", initial.mask);
  if (initial.generic) out_ += "generic(";
  out_ += name;
  if (initial.generic) out_ += ')';
  const auto offset = static_cast<int64_t>(initial.bits);
  if (offset != 0) fmt::format_to(out, "+{}", offset);
  if (initial.mask != 0) out_ += ')';
}

void DeclarationPrinter::registers(const RegisterGroup& group) {
  const auto out = std::back_inserter(out_);
  out_ += ".reg ";
  if (group.vector > 1) fmt::format_to(out, ".v{} ", group.vector);
  fmt::format_to(out, ".{} ", name_of(group.type));
  if (group.prefix.empty()) {
    fmt::format_to(out, "{};", fmt::join(group.names, ", "));
  } else {
    fmt::format_to(out, "{}<{}>;", group.prefix, group.count);
  }
}

void DeclarationPrinter::parameters(std::span<const VariableId> ids) {
  out_ += '(';
  const char* between = "";
  for (VariableId id : ids) {
    out_ += between;
    qualifiers(module_.variables[id.value]);
    declarator(module_.variables[id.value]);
    between = ", ";
  }
  out_ += ')';
}

void DeclarationPrinter::parameters(std::span<const Variable> parameters) {
  out_ += '(';
  const char* between = "";
  for (const Variable& parameter : parameters) {
    out_ += between;
    qualifiers(parameter);
    declarator(parameter);
    between = ", ";
  }
  out_ += ')';
}

}  // namespace lw::ptx
