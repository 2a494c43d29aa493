#include "machine/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

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

// Pieces given back.
class Kept {
 public:
  std::byte* take(uint64_t size) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(pieces_, size, &Piece::size);
    if (found == pieces_.end()) return nullptr;
    std::byte* memory = found->memory;
    bytes_ -= size;
    *found = pieces_.back();
    pieces_.pop_back();
    return memory;
  }
  bool keep(std::byte* memory, uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (size > kMostOfOne || bytes_ + size > kMost) return false;
    pieces_.push_back({memory, size});
    bytes_ += size;
    return true;
  }

 private:
  static constexpr uint64_t kMostOfOne = 64u << 20;  // more is often hardly touched
  static constexpr uint64_t kMost = 512u << 20;
  struct Piece {
    std::byte* memory;
    uint64_t size;
  };
  std::mutex mutex_;
  std::vector<Piece> pieces_;
  uint64_t bytes_ = 0;
};

Kept& kept() {
  static Kept pieces;
  return pieces;
}

std::byte* map(uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  LW_CHECK(memory != MAP_FAILED, bytes);
  return static_cast<std::byte*>(memory);
}

}  // namespace

std::byte* map_pages(uint64_t bytes, Pages contents) {
  uint64_t size = mapped_size(bytes);
  if (std::byte* memory = kept().take(size)) {
    if (contents == Pages::zeroed) std::memset(memory, 0, bytes);
    return memory;
  }
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

void unmap_pages(std::byte* memory, uint64_t bytes) {
  const uint64_t size = mapped_size(bytes);
  if (!kept().keep(memory, size)) munmap(memory, size);
}

}  // namespace lw::machine
