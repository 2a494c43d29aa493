#include "casefile/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "casefile/array_file.h"

namespace lw::casefile {
namespace {

constexpr double kSmallNorm = 1e-6;
constexpr size_t kFirstWords = 4;

}  // namespace

Comparison compare(const std::string& name, const std::vector<double>& output,
                   const std::vector<double>& reference, const Check& bounds) {
  Comparison result;
  result.buffer = name;
  double error = 0, product = 0, output_square = 0, reference_square = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double a = output[i], b = reference[i];
    if (!std::isfinite(a) || !std::isfinite(b)) {
      const bool same = (std::isnan(a) && std::isnan(b)) || a == b;
      result.not_numbers += same ? 0 : 1;
      continue;
    }
    error += (a - b) * (a - b);
    product += a * b;
    output_square += a * a;
    reference_square += b * b;
    result.max_abs = std::max(result.max_abs, std::fabs(a - b));
  }
  result.reference_norm = std::sqrt(reference_square);
  result.rmse_ratio = error == 0 ? 0 : std::sqrt(error / reference_square);
  const double norms = std::sqrt(output_square) * result.reference_norm;
  if (norms > 0) result.cosine = product / norms;
  const bool close = result.rmse_ratio <= bounds.rmse_ratio || result.max_abs <= bounds.max_abs;
  const bool aligned = result.reference_norm <= kSmallNorm || result.cosine >= bounds.cosine;
  result.passed = close && aligned && result.not_numbers == 0;
  return result;
}

std::vector<double> as_numbers(const std::vector<uint8_t>& bytes, Dtype dtype) {
  std::vector<double> numbers(bytes.size() / dtype_bytes(dtype));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = decode(load_element(bytes.data(), i, dtype), dtype);
  return numbers;
}

std::optional<std::vector<double>> read_reference(const Case& parts, const Buffer& output,
                                                  diagnose::Emitter& emitter) {
  const Check& check = parts.check;
  std::optional<ArrayFile> array =
      read_array(check.reference, output.name, check.reference_place, emitter);
  if (!array) return std::nullopt;
  std::vector<double> numbers = as_numbers(array->bytes, array->dtype);
  if (numbers.size() != output.element_count()) {
    emitter.emit({check.reference_place,
                  fmt::format("the reference of `{}` has {} elements, the buffer {}", output.name,
                              numbers.size(), output.element_count()),
                  {},
                  "save a reference of the buffer's shape"});
    return std::nullopt;
  }
  return numbers;
}

Difference difference(const std::vector<uint8_t>& before, const std::vector<uint8_t>& after,
                      Dtype dtype) {
  Difference result;
  result.words = before.size() / dtype_bytes(dtype);
  for (uint64_t i = 0; i < result.words; ++i) {
    const uint32_t size = dtype_bytes(dtype);
    if (std::equal(&before[i * size], &before[i * size] + size, &after[i * size])) continue;
    ++result.changed;
    if (result.first.size() < kFirstWords) {
      result.first.push_back(
          {i, load_element(before.data(), i, dtype), load_element(after.data(), i, dtype)});
    }
  }
  return result;
}

}  // namespace lw::casefile
