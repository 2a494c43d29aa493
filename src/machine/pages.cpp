#include "machine/pages.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/check.h"

namespace lw::machine {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = 2u << 20;
constexpr uint64_t kWorthHuge = 512u << 10;

uint64_t round_up(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

// What is really mapped for `bytes`.
uint64_t mapped_size(uint64_t bytes) {
  return bytes >= kWorthHuge ? round_up(bytes, kHugePage) : round_up(std::max(bytes, kPage), kPage);
}

std::byte* map(uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  LW_CHECK(memory != MAP_FAILED, bytes);
  return static_cast<std::byte*>(memory);
}

}  // namespace

std::byte* map_pages(uint64_t bytes) {
  uint64_t size = mapped_size(bytes);
  if (bytes < kWorthHuge) return map(size);
  // A huge page more, to cut an aligned piece out of.
  std::byte* all = map(size + kHugePage);
  uint64_t before =
      round_up(reinterpret_cast<uint64_t>(all), kHugePage) - reinterpret_cast<uint64_t>(all);
  if (before != 0) munmap(all, before);
  munmap(all + before + size, kHugePage - before);
  madvise(all + before, size, MADV_HUGEPAGE);  // only a hint
  return all + before;
}

void unmap_pages(std::byte* memory, uint64_t bytes) { munmap(memory, mapped_size(bytes)); }

}  // namespace lw::machine
