#pragma once
// Bytes of memory, each counted once however often it is added: which bytes raced. A page of them
// is a bit each, so that strided and scattered bytes cost no more than whole ranges.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

namespace lw::order {

class ByteSet {
 public:
  // `owner` tells apart memories that have the same addresses: the shared memory of CTAs.
  void add(uint32_t owner, uint64_t begin, uint64_t end) {
    while (begin < end) {
      Page& page = pages_[{owner, begin / kPage}];
      const uint64_t stop = std::min(end, (begin / kPage + 1) * kPage);
      for (; begin < stop; begin = next_word(begin, stop))
        page[begin % kPage / 64] |= bits(begin, stop);
    }
  }

  void add(const ByteSet& other) {
    for (const auto& [key, from] : other.pages_) {
      Page& into = pages_[key];
      for (size_t i = 0; i < into.size(); ++i) into[i] |= from[i];
    }
  }

  uint64_t count() const {
    uint64_t bytes = 0;
    for (const auto& [key, page] : pages_)
      for (const uint64_t word : page) bytes += static_cast<uint64_t>(std::popcount(word));
    return bytes;
  }

 private:
  static constexpr uint64_t kPage = 1024;
  using Page = std::array<uint64_t, kPage / 64>;

  static uint64_t next_word(uint64_t at, uint64_t stop) { return std::min(stop, (at | 63) + 1); }
  // Those from `begin` to the end of its word or to `stop`.
  static uint64_t bits(uint64_t begin, uint64_t stop) {
    const uint64_t count = next_word(begin, stop) - begin;
    return (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << begin % 64;
  }

  std::map<std::pair<uint32_t, uint64_t>, Page> pages_;
};

}  // namespace lw::order
