#pragma once
// Which keys of which request a role works on next. Every role walks the same sequence.

#include "layout.h"

namespace mqa_logits {

// A CTA's share of the work: from schedule[CTA] to schedule[CTA + 1], each (request, unit of 256
// keys within its context). schedule.h says how it is made.
class UnitWalk {
 public:
  int request;
  int unit;
  int context;                // keys of the request
  bool opens_request = true;  // its query rows are not those of the unit before

  __device__ __forceinline__ UnitWalk(const int2* schedule, const int* contexts)
      : contexts_(contexts), end_(schedule[blockIdx.x + 1]) {
    request = schedule[blockIdx.x].x;
    unit = schedule[blockIdx.x].y;
    if (valid()) context = contexts_[request];
  }

  __device__ __forceinline__ bool valid() const { return request != end_.x || unit != end_.y; }

  __device__ __forceinline__ bool closes_request() const {
    return last_of_request() || (request == end_.x && unit + 1 == end_.y);
  }

  __device__ __forceinline__ void advance() {
    opens_request = last_of_request();
    ++unit;
    if (!opens_request) return;
    unit = 0;
    // The end is the first request that has keys again, or the one after the last.
    do {
      ++request;
      if (!valid()) return;
      context = contexts_[request];
    } while (context == 0);
  }

 private:
  __device__ __forceinline__ bool last_of_request() const { return (unit + 1) * kUnit >= context; }

  const int* contexts_;
  int2 end_;
};

}  // namespace mqa_logits
