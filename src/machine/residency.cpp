#include "machine/residency.h"

namespace lw::machine {

uint32_t Residency::registers_of(const CtaNeeds& needs) {
  uint32_t per_warp = (needs.registers * 32 + 255) / 256 * 256;
  return per_warp * needs.warps;
}

std::optional<uint32_t> Residency::take(const CtaNeeds& needs, uint32_t first) {
  uint32_t shared = needs.shared_bytes + kReservedBytes;
  uint32_t registers = registers_of(needs);
  for (uint32_t i = first; i < sms_.size(); ++i) {
    Sm& sm = sms_[i];
    bool fits = sm.shared_bytes + shared <= kSharedBytes && sm.warps + needs.warps <= kWarps &&
                sm.registers + registers <= kRegisters && sm.ctas < kCtas;
    if (!fits) continue;
    sm.shared_bytes += shared;
    sm.warps += needs.warps;
    sm.registers += registers;
    ++sm.ctas;
    return i;
  }
  return std::nullopt;
}

void Residency::give_back(uint32_t sm, const CtaNeeds& needs) {
  sms_[sm].shared_bytes -= needs.shared_bytes + kReservedBytes;
  sms_[sm].warps -= needs.warps;
  sms_[sm].registers -= registers_of(needs);
  --sms_[sm].ctas;
}

}  // namespace lw::machine
