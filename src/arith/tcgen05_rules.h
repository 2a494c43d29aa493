#pragma once
// The block rules of tcgen05.mma (tcgen05.h): one block of all K products.

#include "arith/block_sum.h"

namespace lw::arith {

inline constexpr BlockRules kTensorRulesF32{25, -133, BlockRules::Result::kF32Cut};
inline constexpr BlockRules kTensorRulesF16{25, -21, BlockRules::Result::kF16};

// ue8m0.
inline constexpr int kScaleBias = 127;
inline constexpr uint8_t kNanScale = 255;

}  // namespace lw::arith
