// The logits by their definition, in double.

#include <cmath>
#include <cstring>
#include <limits>

#include "casefile/generate.h"
#include "problem.h"

namespace mqa_logits {
namespace {

std::vector<float> decoded(const Fp8* bytes, size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = float(lw::casefile::decode_float(bytes[i], lw::casefile::kE4m3));
  }
  return values;
}

struct Page {
  std::vector<float> keys;  // [64, 128]
  float scales[kPage];

  explicit Page(const Fp8* bytes) : keys(decoded(bytes, kPageKeyBytes)) {
    std::memcpy(scales, bytes + kPageKeyBytes, sizeof scales);
  }
};

double dot(const float* a, const float* b) {
  double sum = 0;
  for (int channel = 0; channel < kHeadDim; ++channel) sum += double(a[channel]) * b[channel];
  return sum;
}

double logit(const Problem& problem, const std::vector<float>& q, int row, const Page& page,
             int key) {
  double sum = 0;
  for (int head = 0; head < problem.heads; ++head) {
    const size_t column = size_t(row) * problem.heads + head;
    const double score = dot(&q[column * kHeadDim], &page.keys[key * kHeadDim]);
    sum += problem.weights[column] * std::max(0.0, score);
  }
  return sum * page.scales[key];
}

}  // namespace

std::vector<double> reference_logits(const Problem& problem) {
  std::vector<Page> pages;
  for (int i = 0; i < kPoolPages; ++i) pages.emplace_back(&problem.pages[size_t(i) * kPageBytes]);
  const std::vector<float> q = decoded(problem.q.data(), problem.q.size());

  const size_t stride = problem.logits_stride();
  std::vector<double> logits(problem.logits_rows() * stride,
                             -std::numeric_limits<double>::infinity());
  for (int request = problem.first_request; request < problem.requests(); ++request) {
    const int* const table = &problem.block_table[size_t(request) * problem.table_stride()];
    for (int row = request * problem.next_n; row < (request + 1) * problem.next_n; ++row) {
      const size_t output = (row - problem.first_request * problem.next_n) * stride;
      for (int position = 0; position < problem.contexts[request]; ++position) {
        const int ours = position / kPage, key = position % kPage;
        const int column = (ours * problem.ranks + problem.rank) * kPage + key;
        logits[output + column] = logit(problem, q, row, pages[table[ours]], key);
      }
    }
  }
  return logits;
}

}  // namespace mqa_logits
