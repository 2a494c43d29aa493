#include "ptx/module.h"

#include <algorithm>

namespace lw::ptx {

uint64_t Variable::size_bytes() const {
  uint64_t elements = vector;
  for (uint64_t dim : dims) elements *= dim;
  return elements * static_cast<uint64_t>((bits_of(type) + 7) / 8);
}

uint32_t Variable::align_bytes() const {
  if (align != 0) return align;
  const uint32_t natural = static_cast<uint32_t>((bits_of(type) + 7) / 8) * vector;
  return std::max(natural, 1u);
}

// The definition if there is one, else the declaration.
std::optional<FunctionId> Module::find_function(std::string_view name) const {
  std::optional<FunctionId> found;
  for (uint32_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name != name) continue;
    if (!found || functions[i].defined) found = FunctionId(i);
  }
  return found;
}

const File* Module::find_file(FileId id) const {
  const auto found =
      std::find_if(files.begin(), files.end(), [id](const File& file) { return file.id == id; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace lw::ptx
