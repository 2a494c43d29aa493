#pragma once
// How near an output is to its reference, and when that is near enough.

#include <span>

namespace kda_prefill {

struct Agreement {
  double rmse_ratio;  // of the error to the reference, root mean squares
  double max_error;
  double cosine;
  double reference_norm;
  bool finite;

  // Either limit will do: 2^last of a full chunk is far below what fp32 holds, so that its ratio is
  // 1 in every right kernel. The cosine means something only where the reference is not all but 0.
  bool acceptable() const {
    return finite && (rmse_ratio <= 5e-3 || max_error <= 1e-6) &&
           (reference_norm <= 1e-6 || cosine > 0.999);
  }
};

Agreement agreement(std::span<const double> reference, std::span<const float> output);

}  // namespace kda_prefill
