#include "machine/memory.h"

#include <algorithm>
#include <bit>

#include "machine/pages.h"

namespace lw::machine {
namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

Memory::~Memory() {
  for (size_t i = 0; i < buffers_.size(); ++i) unmap_pages(buffers_[i].data, limits_[i]);
}

BufferId Memory::add_buffer(std::string name, uint64_t size) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.address = (kFirstBuffer + buffers_.size()) << kRegionBits;
  buffer.size = size;
  buffer.data = map_pages(size, Pages::zeroed);
  buffers_.push_back(std::move(buffer));
  limits_.push_back(size);
  first_ = buffers_.data();
  count_ = buffers_.size();
  return BufferId(static_cast<uint32_t>(buffers_.size() - 1));
}

BufferId Memory::add_variable(std::string name, uint64_t size) {
  BufferId id = add_buffer(std::move(name), size);
  buffers_[id.value].variable = true;
  return id;
}

BufferId Memory::add_growing(std::string name, uint64_t limit) {
  BufferId id = add_buffer(std::move(name), std::min(limit, kRegionBytes / 2));
  Buffer& buffer = buffers_[id.value];
  buffer.size = 0;
  buffer.grows = true;
  return id;
}

std::span<std::byte> Memory::bytes(BufferId id) {
  return {buffers_[id.value].data, buffers_[id.value].size};
}

std::optional<BufferId> Memory::find(uint64_t address) const {
  uint64_t region = (address >> kRegionBits) - kFirstBuffer;
  if (region >= buffers_.size()) return std::nullopt;
  return BufferId(static_cast<uint32_t>(region));
}

RegionKind Memory::kind(uint64_t address) {
  uint64_t region = address >> kRegionBits;
  if (region >= kFirstBuffer) return region < kRegions ? RegionKind::global : RegionKind::none;
  switch (region << kRegionBits) {
    case kSharedWindow:
      return RegionKind::shared;
    case kLocalWindow:
      return RegionKind::local;
    case kConstantWindow:
      return RegionKind::constant;
    case kParamWindow:
      return RegionKind::param;
    default:
      return RegionKind::none;
  }
}

bool Memory::grow(uint64_t address, uint64_t size) {
  std::optional<BufferId> id = find(address);
  if (!id) return false;
  Buffer& buffer = buffers_[id->value];
  uint64_t limit = limits_[id->value];
  uint64_t end = (address & (kRegionBytes - 1)) + size;
  if (!buffer.grows || end > limit) return false;
  buffer.size = std::min(limit, std::max(std::bit_ceil(end), kPage));
  return true;
}

uint64_t Memory::bytes_in_use() const {
  uint64_t total = 0;
  for (const Buffer& buffer : buffers_) total += buffer.size;
  return total;
}

}  // namespace lw::machine
