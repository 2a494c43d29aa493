#include "report/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "base/source_name.h"
#include "prove/objects.h"
#include "ptx/forms.h"
#include "schedule/line_index.h"

namespace lw::report {
namespace {

using order::Agent;

std::string without_comment(const std::string& line) {
  const size_t comment = line.find("//");
  std::string text = line.substr(0, comment);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
  return text;
}

void set_excerpt(Site& site, const std::optional<std::string>& line) {
  if (!line) return;
  const std::string text = without_comment(*line);
  const size_t indent = std::min(text.find_first_not_of(" \t"), text.size());
  site.excerpt = text.substr(indent);
  const size_t column = site.column > indent ? site.column - 1 - indent : 0;
  site.caret = static_cast<uint32_t>(column < site.excerpt.size() ? column : 0);
}

std::string_view issued_word(Agent agent) {
  switch (agent) {
    case Agent::kCpAsync:
      return "the cp.async";
    case Agent::kBulkLoad:
      return "the bulk copy to shared memory";
    case Agent::kBulkStore:
      return "the bulk copy from shared memory";
    case Agent::kTensorShared:
      return "the operand read of the tcgen05 operation";
    case Agent::kMmaOperand:
    case Agent::kMmaResult:
      return "the tcgen05.mma";
    case Agent::kTensorCopy:
    case Agent::kTensorCopy4x256b:
      return "the tcgen05.cp";
    case Agent::kTensorShift:
      return "the tcgen05.shift";
    case Agent::kTensorLoad:
      return "the tcgen05.ld";
    case Agent::kTensorStore:
      return "the tcgen05.st";
    default:
      return "";
  }
}

}  // namespace

std::string Site::text() const { return fmt::format("{}:{}", file, line); }

Site Names::site(base::OpId op) {
  const program::Place& place = machine_.place(op);
  Site site;
  site.ptx_file = place.module->file;
  site.ptx_line = place.line();
  const std::vector<schedule::SourceLine> frames = schedule::source_lines(place);
  if (frames.empty()) {
    site.file = site.ptx_file;
    site.line = site.ptx_line;
    site.column = place.get().column;
  } else {
    site.file = frames.back().file;
    site.line = frames.back().line;
    site.column = frames.back().column;
    for (size_t i = frames.size() - 1; i-- > 0;) {
      site.inlined.push_back(fmt::format("{}:{}", frames[i].file, frames[i].line));
    }
  }
  set_excerpt(site, sources_.line(site.file, site.line, site.ptx_file));
  return site;
}

std::string Names::line_text(base::OpId op, std::string_view file) {
  const Site here = site(op);
  if (here.file == file) return fmt::format("line {}", here.line);
  return fmt::format("{}:{}", schedule::file_name(here.file), here.line);
}

std::string Names::instruction(base::OpId op) {
  const program::Place& place = machine_.place(op);
  return place.module->opcode_of(place.get()).text;
}

std::string Names::form(base::OpId op) {
  const program::Place& place = machine_.place(op);
  return std::string(ptx::row_of(place.module->opcode_of(place.get()).form).name);
}

bool Names::is_antagonist(base::CtaId cta) const {
  uint64_t ctas = 0;
  for (const casefile::Launch& launch : inputs_.parts.launches) ctas += launch.grid.count();
  return cta.value >= ctas;
}

std::string Names::role(base::CtaId cta, base::WarpId warp) {
  if (is_antagonist(cta)) return {};
  return inputs_.parts.role_of(prove::launch_of(machine_, cta), warp.value);
}

std::string Names::warp(base::CtaId cta, base::WarpId warp) {
  if (is_antagonist(cta))
    return fmt::format("the next owner of the columns (CTA {}, on another stream)", cta.value);
  std::string text = fmt::format("warp {}", warp.value);
  const std::string role_name = role(cta, warp);
  if (!role_name.empty()) text += fmt::format(" ({})", role_name);
  if (cta.value != 0) text += fmt::format(" of CTA {}", cta.value);
  return text;
}

std::string Names::agent(const order::Party& party, bool lanes) {
  if (party.agent == Agent::kHost) return "the host, before the launch";
  std::string who = warp(party.cta, party.warp);
  const std::string_view issued = issued_word(party.agent);
  if (!issued.empty()) return fmt::format("{} that {} issued", issued, who);
  if (lanes && std::has_single_bit(party.lanes)) {
    return fmt::format("lane {} of {}", std::countr_zero(party.lanes), who);
  }
  return who;
}

std::string Names::object(const prove::Object& object) {
  using Kind = prove::Object::Kind;
  switch (object.kind) {
    case Kind::shared_variable: {
      const program::Program& program = *machine_.launches()[object.launch]->program;
      return base::source_name(
          program.module->variables[program.shared[object.index].variable.value].name);
    }
    case Kind::dynamic_shared: {
      const Site writer = site(object.writer);
      return fmt::format("what line {} writes to dynamic shared memory", writer.line);
    }
    case Kind::buffer:
      return machine_.memory().buffers()[object.index].name;
    case Kind::tensor_memory:
      return "tensor memory";
    case Kind::unknown:
      break;
  }
  return "memory without a name";
}

std::string Names::address(order::Space space, const prove::Object& object, uint64_t address) {
  if (object.kind == prove::Object::Kind::tensor_memory) {
    const order::TensorCell cell = order::TensorCell::at(address);
    return fmt::format("lane {} of column {} of tensor memory", cell.lane, cell.column);
  }
  if (object.kind == prove::Object::Kind::unknown) {
    return fmt::format("{} address {:#x}", space == order::Space::kShared ? "shared" : "global",
                       address);
  }
  return fmt::format("byte {} of {}", address - object.begin, this->object(object));
}

std::string Names::shared_place(base::CtaId cta, uint32_t offset) {
  const prove::Object object = prove::object_of(machine_, order::Space::kShared, cta, offset);
  if (object.kind != prove::Object::Kind::shared_variable) {
    return fmt::format("at byte {} of shared memory", offset);
  }
  const uint64_t inside = offset - object.begin;
  const std::string name = "`" + this->object(object) + "`";
  return inside == 0 ? name : fmt::format("{} + {}", name, inside);
}

std::string Names::near(uint64_t address) {
  const std::optional<machine::BufferId> id = machine_.memory().find(address);
  if (!id) return {};
  const machine::Memory::Buffer& buffer = machine_.memory().buffer(*id);
  const uint64_t end = buffer.address + buffer.size;
  if (address >= end) {
    return fmt::format(", {} past the end of `{}`", plural(address - end, "byte"), buffer.name);
  }
  return fmt::format(", byte {} of `{}`, which has {}", address - buffer.address, buffer.name,
                     buffer.size);
}

std::string_view access_word(order::Kind kind) {
  switch (kind) {
    case order::Kind::kRead:
      return "read";
    case order::Kind::kWrite:
      return "write";
    case order::Kind::kAtomic:
      return "atomic";
  }
  return "";
}

std::string counted(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string ordinal(uint64_t number) {
  const uint64_t tail = number % 100;
  std::string_view suffix = "th";
  if (tail / 10 != 1 && tail % 10 == 1) suffix = "st";
  if (tail / 10 != 1 && tail % 10 == 2) suffix = "nd";
  if (tail / 10 != 1 && tail % 10 == 3) suffix = "rd";
  return fmt::format("{}{}", number, suffix);
}

std::string plural(uint64_t number, std::string_view word) {
  return fmt::format("{} {}{}", counted(number), word, number == 1 ? "" : "s");
}

}  // namespace lw::report
