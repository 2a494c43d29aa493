#pragma once
// Memory from the system: zero-filled, given only where it is touched, in huge pages where the
// system has them (a run touches most of what it maps, and a page fault costs as much as a hundred
// warp instructions).

#include <cstddef>
#include <cstdint>

namespace lw::machine {

std::byte* map_pages(uint64_t bytes);
void unmap_pages(std::byte* memory, uint64_t bytes);

}  // namespace lw::machine
