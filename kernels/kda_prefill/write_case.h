#pragma once
// A problem as files that latewarp reads: a case, its inputs, and the reference its outputs are
// compared with. Made when tests run, since the inputs are too large to commit.

#include <filesystem>

#include "problem.h"

namespace kda_prefill {

// Writes case.toml, inputs.safetensors and expected.safetensors into `folder`, which is created.
// `ptx` is the kernel's PTX. Throws std::ios_base::failure if a file cannot be written.
void write_case(const Problem& problem, const std::filesystem::path& ptx,
                const std::filesystem::path& folder);

}  // namespace kda_prefill
