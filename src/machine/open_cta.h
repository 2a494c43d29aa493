#pragma once
// A CTA comes to life: memory, registers with their constants, special registers, warps.

#include <memory>
#include <span>

#include "machine/cta.h"
#include "machine/cta_memory.h"
#include "machine/launch.h"

namespace lw::machine {

// What a resident CTA consists of.
struct CtaHolder {
  CtaHolder(Block registers, Block shared, Block local)
      : registers(registers), shared(shared), local(local) {}
  Cta cta;
  std::vector<Cta*> cluster;
  Block registers;
  Block shared;
  Block local;
};

std::unique_ptr<CtaHolder> open_cta(Machine& machine, Launch& launch, uint32_t index, uint32_t sm,
                                    uint8_t poison, BlockPool& pool);
void close_cta(std::unique_ptr<CtaHolder> holder, BlockPool& pool);

}  // namespace lw::machine
