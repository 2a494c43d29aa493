#include "machine/cta_memory.h"

#include <algorithm>
#include <new>

namespace lw::machine {
namespace {

constexpr std::align_val_t kAlign{64};

}  // namespace

Block::Block(size_t bytes)
    : size_(bytes),
      data_(static_cast<std::byte*>(::operator new(std::max<size_t>(bytes, 64), kAlign))) {}

void Block::Free::operator()(std::byte* data) const { ::operator delete(data, kAlign); }

Block BlockPool::take(size_t bytes) {
  auto fits = [&](const Block& block) { return block.bytes().size() == bytes; };
  auto found = std::ranges::find_if(free_, fits);
  if (found == free_.end()) return Block(bytes);
  Block block = std::move(*found);
  free_.erase(found);
  return block;
}

void BlockPool::give_back(Block block) { free_.push_back(std::move(block)); }

}  // namespace lw::machine
