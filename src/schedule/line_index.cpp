#include "schedule/line_index.h"

#include "ptx/forms.h"

namespace lw::schedule {
namespace {

bool names(std::string_view path, std::string_view tail) {
  if (!path.ends_with(tail)) return false;
  return path.size() == tail.size() || path[path.size() - tail.size() - 1] == '/';
}

bool comes_from(const program::Place& place, std::string_view file, uint32_t line) {
  for (const SourceLine& source : source_lines(place)) {
    if (source.line == line && names(source.file, file)) return true;
  }
  return false;
}

}  // namespace

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::vector<SourceLine> source_lines(const program::Place& place) {
  std::vector<SourceLine> lines;
  const ptx::Module& module = *place.module;
  ptx::LocationId id = place.get().location;
  while (id.value != 0 && id.value < module.locations.size()) {
    const ptx::Location& location = module.locations[id.value];
    const ptx::File* file = module.find_file(location.file);
    if (file != nullptr && location.line != 0) {
      lines.push_back({file->name, location.line, location.column});
    }
    id = location.inlined_at;
  }
  return lines;
}

bool touches_memory(const program::Place& place) {
  const ptx::Opcode& opcode = place.module->opcode_of(place.get());
  switch (ptx::row_of(opcode.form).effect) {
    case ptx::Effect::none:
    case ptx::Effect::control:
      return false;
    default:
      // Parameters are constants of a launch.
      return opcode.text.find(".param") == std::string::npos;
  }
}

std::vector<base::OpId> instructions_of_line(std::span<const program::Place> places,
                                             std::string_view file, uint32_t line) {
  std::vector<base::OpId> ptx, touching, all;
  for (uint32_t i = 0; i < places.size(); ++i) {
    const program::Place& place = places[i];
    if (place.line() == line && names(place.module->file, file)) ptx.push_back(base::OpId(i));
    if (!comes_from(place, file, line)) continue;
    all.push_back(base::OpId(i));
    if (touches_memory(place)) touching.push_back(base::OpId(i));
  }
  if (!ptx.empty()) return ptx;
  return touching.empty() ? all : touching;
}

}  // namespace lw::schedule
