#pragma once
// The memory of resident CTAs: registers, shared and local memory. Blocks are handed from a CTA
// that has ended to the next one that starts, so that their pages stay warm.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace lw::machine {

// Aligned to cache lines; contents are whatever was there.
class Block {
 public:
  explicit Block(size_t bytes);
  std::span<std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

class BlockPool {
 public:
  Block take(size_t bytes);
  void give_back(Block block);

 private:
  std::vector<Block> free_;
};

}  // namespace lw::machine
