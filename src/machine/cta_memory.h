#pragma once
// The memory of resident CTAs: registers, shared and local memory. Blocks come out of large chunks
// that the system may back with huge pages, and go from a CTA that has ended to the next one of the
// same kind, so that starting one costs few page faults.

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace lw::machine {

// Aligned to cache lines; contents are whatever was there.
using Block = std::span<std::byte>;

class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();

  Block take(size_t bytes);
  void give_back(Block block);

 private:
  std::vector<Block> chunks_;
  size_t used_ = 0;                            // of the last chunk
  std::map<size_t, std::vector<Block>> free_;  // by size
};

}  // namespace lw::machine
