#pragma once
// What all instructions on tensor memory ask before they do anything.

#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "machine/tensor_memory.h"
#include "order/event.h"
#include "program/decoder.h"

namespace lw::machine {

// A fault of rule E-13, or of the rule that says more.
void misuse_tensor_memory(const Op& op, Warp& warp, std::string text,
                          diagnose::RuleId rule = diagnose::RuleId::kE13, base::LaneMask lanes = 0);

// Whether all 32 lanes are here together; else the lanes wait, or it is a fault.
bool require_whole_warp(const Op& op, Warp& warp);

// The value that all running lanes have; without one the fault has been reported.
std::optional<uint32_t> uniform_value(const Op& op, Warp& warp, std::string_view what, Slot slot);

// Whether columns [first, first + count) are the CTA's. Columns that another warp of it freed pass:
// whether that came first is a question of order (rule T5-3), and their cells hold what the next
// owner makes of them.
bool check_columns(const Op& op, Warp& warp, uint32_t first, uint32_t count,
                   base::LaneMask lanes = 0);
// The same of another CTA of the pair.
bool check_columns(const Op& op, Warp& warp, const Cta& cta, uint32_t first, uint32_t count,
                   base::LaneMask lanes);

// The offset in the CTA's shared memory of 16 bytes of an operand; without one the fault has been
// reported.
std::optional<uint32_t> operand_piece(const Op& op, Warp& warp, const Cta& cta, uint32_t address,
                                      int lane);

inline TensorMemory& tensor_memory_of(const Warp& warp) {
  return warp.machine->tensor_memory(warp.cta->sm);
}

// Pieces of shared memory as ranges, for the order engine.
std::vector<order::Range> ranges_of(std::vector<uint32_t> pieces);

// For what is modelled of cta_group::1 alone.
bool is_single_cta(program::Decoder& decoder);

}  // namespace lw::machine
