#pragma once
// Who computes what: the keys of all requests, in units of 256, dealt evenly over the CTAs.

#include <span>
#include <vector>

namespace mqa_logits {

struct UnitPlace {
  int request;
  int unit;  // within the request's context

  bool operator==(const UnitPlace&) const = default;
};

// CTA i works from entry i to entry i + 1; the first CTAs get one unit more where they do not come
// out even. Requests before `first_request` belong to another rank. Requests without keys have no
// units, and no entry names one: the end of the last is (number of requests, 0).
std::vector<UnitPlace> make_schedule(std::span<const int> contexts, int first_request, int ctas);

}  // namespace mqa_logits
