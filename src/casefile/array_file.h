#pragma once
// Arrays in files: NumPy's .npy (one array) and .safetensors (named tensors).
//
// Only what a kernel's input needs is read: little endian, C order, numeric types. Anything else is
// a diagnostic that says what was found.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "casefile/dtype.h"
#include "diagnose/diagnostic.h"

namespace lw::casefile {

struct ArrayFile {
  Dtype dtype = Dtype::b8;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> bytes;
};

// `key` names the tensor in a .safetensors file; empty: the only one.
std::optional<ArrayFile> read_array(const std::string& path, const std::string& key,
                                    const diagnose::Place& place, diagnose::Emitter& emitter);

}  // namespace lw::casefile
