#include "agreement.h"

#include <algorithm>
#include <cmath>

namespace kda_prefill {

Agreement agreement(std::span<const double> reference, std::span<const float> output) {
  double error_squares = 0, reference_squares = 0, output_squares = 0, product = 0, max_error = 0;
  bool finite = reference.size() == output.size();
  for (size_t i = 0; finite && i < reference.size(); ++i) {
    const double expected = reference[i], actual = output[i];
    finite = std::isfinite(actual);
    max_error = std::max(max_error, std::abs(actual - expected));
    error_squares += (actual - expected) * (actual - expected);
    reference_squares += expected * expected;
    output_squares += actual * actual;
    product += expected * actual;
  }
  const double norms = std::sqrt(reference_squares * output_squares);
  const double ratio = reference_squares > 0 ? std::sqrt(error_squares / reference_squares)
                                             : (error_squares > 0 ? HUGE_VAL : 0.0);
  return {ratio, max_error, norms > 0 ? product / norms : 0.0, std::sqrt(reference_squares),
          finite};
}

}  // namespace kda_prefill
