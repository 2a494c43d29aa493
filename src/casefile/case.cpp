#include "casefile/case.h"

#include <algorithm>

namespace lw::casefile {

uint64_t Buffer::element_count() const {
  uint64_t count = 1;
  for (uint64_t extent : shape) count *= extent;
  return count;
}

const Buffer* Case::find_buffer(const std::string& buffer) const {
  auto it = std::ranges::find(buffers, buffer, &Buffer::name);
  return it == buffers.end() ? nullptr : &*it;
}

const TensorMap* Case::find_tensor_map(const std::string& map) const {
  auto it = std::ranges::find(tensor_maps, map, &TensorMap::name);
  return it == tensor_maps.end() ? nullptr : &*it;
}

std::string Case::role_of(size_t launch, uint32_t warp) const {
  for (const Role& role : launches[launch].roles) {
    for (auto [first, last] : role.warps) {
      if (first <= warp && warp <= last) return role.name;
    }
  }
  return {};
}

}  // namespace lw::casefile
