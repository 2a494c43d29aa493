#include "machine/cta_memory.h"

#include <algorithm>

#include "machine/pages.h"

namespace lw::machine {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kChunk = 4u << 20;

}  // namespace

BlockPool::~BlockPool() {
  for (Block chunk : chunks_) unmap_pages(chunk.data(), chunk.size());
}

Block BlockPool::take(size_t bytes) {
  std::vector<Block>& same = free_[bytes];
  if (!same.empty()) {
    Block block = same.back();
    same.pop_back();
    return block;
  }
  size_t room = (bytes + kLine - 1) / kLine * kLine;
  if (chunks_.empty() || room > chunks_.back().size() - used_) {
    size_t size = std::max(kChunk, room);
    chunks_.push_back({map_pages(size, Pages::any), size});
    used_ = 0;
  }
  Block block = chunks_.back().subspan(used_, bytes);
  used_ += room;
  return block;
}

void BlockPool::give_back(Block block) { free_[block.size()].push_back(block); }

}  // namespace lw::machine
