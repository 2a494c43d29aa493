#pragma once
// The bytes of a buffer when the run starts: made up, or read from a file.

#include <cstdint>
#include <optional>
#include <vector>

#include "casefile/case.h"
#include "diagnose/diagnostic.h"

namespace lw::casefile {

// Empty when nobody wrote the buffer (DataKind::none).
std::optional<std::vector<uint8_t>> make_contents(const Buffer& buffer, diagnose::Emitter& emitter);

}  // namespace lw::casefile
