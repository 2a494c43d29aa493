#pragma once
// Global memory of the device, and the map of generic addresses.
//
// Addresses are 47 bits. The upper 13 name a *region*, the lower 34 the byte in it: so a buffer is
// found by one table look-up, lies at the same address in every run, and is followed by a red zone
// that reaches to the next region. A buffer is one region: a `buffer` of the case, a `.global`
// variable of a module, or what a pointer nobody described points into (which grows as it is used).
// The windows of the other state spaces are regions too; what a generic address means is its
// region's kind. Constant banks and parameter blocks are in one region each, per module and launch.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"

namespace lw::machine {

using BufferId = base::Id<struct BufferTag>;

enum class RegionKind : uint8_t { none, global, shared, local, constant, param };

class Memory {
 public:
  static constexpr int kRegionBits = 34;
  static constexpr uint64_t kRegionBytes = uint64_t{1} << kRegionBits;
  static constexpr uint32_t kRegions = 1u << 13;
  // Generic windows.
  static constexpr uint64_t kSharedWindow = 1 * kRegionBytes;
  static constexpr uint64_t kLocalWindow = 2 * kRegionBytes;
  static constexpr uint64_t kConstantWindow = 3 * kRegionBytes;
  static constexpr uint64_t kParamWindow = 4 * kRegionBytes;
  static constexpr uint32_t kFirstBuffer = 16;

  struct Buffer {
    std::string name;
    uint64_t address = 0;
    uint64_t size = 0;  // bytes that may be accessed
    std::byte* data = nullptr;
    bool grows = false;     // size follows the accesses, up to a limit
    bool variable = false;  // a `.global` variable
    bool written = true;    // its bytes have a value when the run starts
  };

  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  // Zero-filled.
  BufferId add_buffer(std::string name, uint64_t size);
  BufferId add_variable(std::string name, uint64_t size);  // a `.global` variable
  // Nobody wrote it yet: reads of it before the kernel's writes are told to the order engine.
  void set_unwritten(BufferId id) { buffers_[id.value].written = false; }
  // The most bytes that a buffer can come to have.
  uint64_t limit(BufferId id) const { return limits_[id.value]; }
  // A buffer whose size is not known: it reads 0 and grows up to `limit` bytes.
  BufferId add_growing(std::string name, uint64_t limit);

  const Buffer& buffer(BufferId id) const { return buffers_[id.value]; }
  std::span<const Buffer> buffers() const { return buffers_; }
  std::span<std::byte> bytes(BufferId id);
  std::optional<BufferId> find(uint64_t address) const;  // the buffer whose region holds it

  static RegionKind kind(uint64_t address);

  // The `size` bytes at a global address, or null if any of them is outside its buffer.
  std::byte* resolve(uint64_t address, uint64_t size) {
    if (std::byte* bytes = peek(address, size)) return bytes;
    return grow(address, size) ? peek(address, size) : nullptr;
  }
  // The same without letting a buffer grow.
  [[gnu::always_inline]] std::byte* peek(uint64_t address, uint64_t size) const {
    uint64_t region = (address >> kRegionBits) - kFirstBuffer;
    if (region >= count_) return nullptr;
    const Buffer& buffer = first_[region];
    uint64_t offset = address & (kRegionBytes - 1);
    return offset + size > buffer.size ? nullptr : buffer.data + offset;
  }
  uint64_t bytes_in_use() const;

 private:
  bool grow(uint64_t address, uint64_t size);

  std::vector<Buffer> buffers_;    // index: region - kFirstBuffer
  std::vector<uint64_t> limits_;   // bytes mapped
  const Buffer* first_ = nullptr;  // buffers_, as `peek` wants it
  uint64_t count_ = 0;
};

}  // namespace lw::machine
