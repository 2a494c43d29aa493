#pragma once
// From the words of a [[tensor_map]] to the fields that the machine encodes.

#include <vector>

#include "casefile/case.h"
#include "diagnose/diagnostic.h"
#include "machine/tensor_map.h"

namespace lw::casefile {

// The 128 bytes of a map given raw; empty if it is described by fields or cannot be read.
std::vector<uint8_t> read_raw_map(const TensorMap& map, diagnose::Emitter& emitter);

// Does the map keep the driver's rules, and does it stay inside its buffer?
void check_tensor_map(const Case& parts, const TensorMap& map, diagnose::Emitter& emitter);

// The bytes that the kernel sees; `address` is the buffer's.
machine::TensorMapBytes tensor_map_bytes(const TensorMap& map, const std::vector<uint8_t>& raw,
                                         Dtype dtype, uint64_t address);

}  // namespace lw::casefile
