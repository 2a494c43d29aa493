#pragma once
// Memory from the system, given only where it is touched, in huge pages where the
// system has them (a run touches most of what it maps, and a page fault costs as much as a hundred
// warp instructions). A case is run several times, so pieces of a moderate size are kept when they
// are given back, for the next run that wants one of that size.

#include <cstddef>
#include <cstdint>

namespace lw::machine {

enum class Pages { zeroed, any };
std::byte* map_pages(uint64_t bytes, Pages contents);
void unmap_pages(std::byte* memory, uint64_t bytes);

}  // namespace lw::machine
