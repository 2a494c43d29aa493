#include "ptx/printer.h"

#include <fmt/format.h>

#include <iterator>

#include "ptx/print/declarations.h"
#include "ptx/print/operands.h"

namespace lw::ptx {
namespace {

class FunctionPrinter {
 public:
  FunctionPrinter(const Module& module, const Function& function, std::string& out)
      : module_(module),
        function_(function),
        out_(out),
        declarations_(module, out),
        operands_(module, function, out) {}

  void print() {
    header();
    if (!function_.defined) {
      out_ += ";\n";
      return;
    }
    out_ += "\n{\n";
    depth_ = 1;
    for (const Item& each : function_.items) item(each);
    out_ += "}\n";
  }

 private:
  void header() {
    declarations_.linkage(function_.linkage);
    out_ += function_.entry ? ".entry " : ".func ";
    if (!function_.attributes.empty()) {
      append(".attribute({}) ", fmt::join(function_.attributes, ", "));
    }
    if (!function_.returns.empty()) {
      declarations_.parameters(function_.returns);
      out_ += ' ';
    }
    out_ += function_.name;
    declarations_.parameters(function_.params);
    threads(".maxntid", function_.max_threads);
    threads(".reqntid", function_.required_threads);
    threads(".reqnctapercluster", function_.required_cluster);
    number(".minnctapersm", function_.min_ctas);
    number(".maxnreg", function_.max_registers);
    number(".maxclusterrank", function_.max_cluster_rank);
    if (function_.explicit_cluster) out_ += "\n.explicitcluster";
    if (function_.blocks_are_clusters) out_ += "\n.blocksareclusters";
    if (function_.no_return) out_ += " .noreturn";
    for (const std::string& other : function_.other_directives) out_ += '\n' + other;
    for (const std::string& pragma : function_.pragmas) append("\n.pragma \"{}\";", pragma);
  }

  template <class... Values>
  void append(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }

  void threads(std::string_view name, const std::vector<uint32_t>& values) {
    if (!values.empty()) append("\n{} {}", name, fmt::join(values, ", "));
  }
  void number(std::string_view name, uint32_t value) {
    if (value != 0) append("\n{} {}", name, value);
  }

  void item(const Item& item) {
    switch (item.kind) {
      case Item::Kind::instruction:
        indent();
        operands_.instruction(function_.instructions[item.index]);
        out_ += ";\n";
        break;
      case Item::Kind::label:
        append("{}:\n", function_.labels[item.index].name);
        break;
      case Item::Kind::registers:
        indent();
        declarations_.registers(function_.register_groups[item.index]);
        out_ += '\n';
        break;
      case Item::Kind::variable:
        indent();
        declarations_.variable(module_.variables[item.index]);
        out_ += '\n';
        break;
      case Item::Kind::open_scope:
        indent();
        out_ += "{\n";
        ++depth_;
        break;
      case Item::Kind::close_scope:
        --depth_;
        indent();
        out_ += "}\n";
        break;
      default:
        rare_item(item);
        break;
    }
  }

  void rare_item(const Item& item) {
    indent();
    switch (item.kind) {
      case Item::Kind::location:
        location(module_.locations[item.index]);
        break;
      case Item::Kind::pragma:
        append(".pragma \"{}\";\n", function_.body_pragmas[item.index]);
        break;
      case Item::Kind::branch_targets:
        targets(function_.targets[item.index], ".branchtargets", function_.labels);
        break;
      case Item::Kind::call_targets:
        targets(function_.targets[item.index], ".calltargets", module_.functions);
        break;
      default:
        call_prototype(function_.targets[item.index]);
        break;
    }
  }

  void location(const Location& location) {
    append("{} {} {} {}", location.intermediate ? ".loc_intermediate" : ".loc", location.file.value,
           location.line, location.column);
    if (!location.function.empty()) {
      append(", function_name {}", location.function);
      if (location.function_offset != 0) append("+{}", location.function_offset);
    }
    if (location.inlined_at.value != 0) {
      const Location& call = module_.locations[location.inlined_at.value];
      append(", inlined_at {} {} {}", call.file.value, call.line, call.column);
    }
    out_ += '\n';
  }

  // `named`: what the ids of the list are indices of.
  template <class Named>
  void targets(const TargetList& list, std::string_view directive, const Named& named) {
    append("{}: {} ", list.name, directive);
    const char* between = "";
    for (uint32_t id : list.ids) {
      append("{}{}", between, named[id].name);
      between = ", ";
    }
    out_ += ";\n";
  }

  void call_prototype(const TargetList& list) {
    append("{}: .callprototype ", list.name);
    if (!list.returns.empty()) {
      declarations_.parameters(list.returns);
      out_ += ' ';
    }
    out_ += "_ ";
    declarations_.parameters(list.params);
    if (list.no_return) out_ += " .noreturn";
    for (const std::string& directive : list.directives) append(" {}", directive);
    out_ += ";\n";
  }

  void indent() { out_.append(static_cast<size_t>(depth_), '\t'); }

  const Module& module_;
  const Function& function_;
  std::string& out_;
  DeclarationPrinter declarations_;
  OperandPrinter operands_;
  int depth_ = 0;
};

void print_file(const File& file, std::string& out) {
  const auto end = std::back_inserter(out);
  fmt::format_to(end, ".file {} \"{}\"", file.id.value, file.name);
  if (file.timestamp != 0 || file.size != 0) {
    fmt::format_to(end, ", {}, {}", file.timestamp, file.size);
  }
  out += '\n';
}

void print_entry(const Module& module, const Module::TopLevel& entry, std::string& out) {
  const auto end = std::back_inserter(out);
  switch (entry.kind) {
    case Module::TopLevel::Kind::variable:
      DeclarationPrinter(module, out).variable(module.variables[entry.index]);
      out += '\n';
      break;
    case Module::TopLevel::Kind::function:
      out += '\n';
      FunctionPrinter(module, module.functions[entry.index], out).print();
      break;
    case Module::TopLevel::Kind::section: {
      const Section& section = module.sections[entry.index];
      fmt::format_to(end, "{}{}\n{{{}}}\n", section.directive ? "" : ".section ", section.name,
                     section.body);
      break;
    }
    case Module::TopLevel::Kind::pragma:
      fmt::format_to(end, ".pragma \"{}\";\n", module.pragmas[entry.index]);
      break;
    case Module::TopLevel::Kind::alias: {
      const Module::Alias& alias = module.aliases[entry.index];
      fmt::format_to(end, ".alias {}, {};\n", module.functions[alias.name.value].name,
                     module.functions[alias.target.value].name);
      break;
    }
    case Module::TopLevel::Kind::file:
      print_file(module.files[entry.index], out);
      break;
  }
}

}  // namespace

std::string print(const Module& module) {
  std::string out =
      fmt::format(".version {}.{}\n.target {}\n.address_size {}\n\n", module.version_major,
                  module.version_minor, fmt::join(module.target, ", "), module.address_size);
  for (const Module::TopLevel& entry : module.order) print_entry(module, entry, out);
  return out;
}

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  std::string out;
  OperandPrinter(module, function, out).instruction(instruction);
  return out;
}

std::string print(const Module& module, const Function& function, const Operand& operand) {
  std::string out;
  OperandPrinter(module, function, out).operand(operand);
  return out;
}

}  // namespace lw::ptx
