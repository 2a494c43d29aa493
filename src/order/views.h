#pragma once
// The views of an agent (rule book 1.2): causality H, execution E and control C, with H ⊆ E ⊆ C,
// and beside H what a proxy fence has carried to the async proxy, for shared and for global memory.
//
// They are equal most of the time, so a bundle holds five references to clocks that are mostly one
// object. A bundle is immutable and shared like its clocks: after a barrier every warp holds the
// same.

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "order/clock.h"

namespace lw::order {

enum class View : uint8_t { kCausality, kAsyncShared, kAsyncGlobal, kExecution, kControl };
inline constexpr int kViews = 5;

struct Bundle {
  uint32_t references = 0;
  std::array<ClockRef, kViews> clock;
};

class BundleRef {
 public:
  BundleRef() = default;
  explicit BundleRef(Bundle* bundle) : bundle_(bundle) { ++bundle_->references; }
  BundleRef(const BundleRef& other) : bundle_(other.bundle_) {
    if (bundle_ != nullptr) ++bundle_->references;
  }
  BundleRef(BundleRef&& other) noexcept : bundle_(std::exchange(other.bundle_, nullptr)) {}
  BundleRef& operator=(BundleRef other) noexcept {
    std::swap(bundle_, other.bundle_);
    return *this;
  }
  ~BundleRef() {
    if (bundle_ != nullptr && --bundle_->references == 0) delete bundle_;
  }

  const Bundle* get() const { return bundle_; }
  const ClockRef& view(View view) const;
  // Null (knows nothing) or a clock.
  const Clock* clock(View which) const {
    return bundle_ == nullptr ? nullptr : bundle_->clock[static_cast<int>(which)].get();
  }
  friend bool operator==(const BundleRef& a, const BundleRef& b) { return a.bundle_ == b.bundle_; }

 private:
  Bundle* bundle_ = nullptr;
};

inline const ClockRef& BundleRef::view(View which) const {
  static const ClockRef kNothing;
  return bundle_ == nullptr ? kNothing : bundle_->clock[static_cast<int>(which)];
}

using ViewSet = uint8_t;  // bit v: view v
constexpr ViewSet view_bit(View view) { return static_cast<ViewSet>(1u << static_cast<int>(view)); }
inline constexpr ViewSet kAllViews = (1u << kViews) - 1;
inline constexpr ViewSet kExecutionAndControl =
    view_bit(View::kExecution) | view_bit(View::kControl);

// `base` with the views of `more` in `views` joined in; `base` itself if that adds nothing.
BundleRef join(const BundleRef& base, const BundleRef& more, ViewSet views = kAllViews);

// `base` with one view replaced.
BundleRef with_view(const BundleRef& base, View view, const ClockRef& clock);

}  // namespace lw::order
