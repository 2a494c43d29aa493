#pragma once
// What fits on an SM at once. Per SM: 228 KiB of shared memory, of which each CTA takes 1 KiB for
// the system; 64 warps; 65,536 registers, given out per warp in units of 256; 32 CTAs.

#include <cstdint>
#include <optional>
#include <vector>

namespace lw::machine {

struct CtaNeeds {
  uint32_t shared_bytes = 0;
  uint32_t warps = 0;
  uint32_t registers = 0;  // per thread
};

class Residency {
 public:
  static constexpr uint32_t kSharedBytes = 228 * 1024;
  static constexpr uint32_t kReservedBytes = 1024;                            // per CTA
  static constexpr uint32_t kMaxSharedBytes = kSharedBytes - kReservedBytes;  // of one CTA
  static constexpr uint32_t kWarps = 64;
  static constexpr uint32_t kRegisters = 64 * 1024;
  static constexpr uint32_t kCtas = 32;

  explicit Residency(uint32_t sm_count) : sms_(sm_count) {}

  // The lowest-numbered SM from `first` on with room, now taken; nullopt: none has any.
  std::optional<uint32_t> take(const CtaNeeds& needs, uint32_t first = 0);
  void give_back(uint32_t sm, const CtaNeeds& needs);
  uint32_t sm_count() const { return static_cast<uint32_t>(sms_.size()); }

 private:
  struct Sm {
    uint32_t shared_bytes = 0;
    uint32_t warps = 0;
    uint32_t registers = 0;
    uint32_t ctas = 0;
  };
  static uint32_t registers_of(const CtaNeeds& needs);

  std::vector<Sm> sms_;
};

}  // namespace lw::machine
