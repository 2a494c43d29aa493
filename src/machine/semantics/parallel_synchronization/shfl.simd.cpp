#include "machine/semantics/parallel_synchronization/shfl.h"

#include "machine/semantics/lanes.h"
#include "order/engine.h"

namespace lw::machine::LW_SIMD_NAMESPACE {
namespace {

// d[lane] = a[from[lane]]; d may be a.
LW_ALWAYS_INLINE void permute(const uint32_t* a, const int32_t* from, uint32_t* d) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_load_si512(a);
  const __m512i high = _mm512_load_si512(a + 16);
  for (int lane = 0; lane < kLanes; lane += 16) {
    const __m512i index = _mm512_load_si512(from + lane);
    _mm512_store_si512(d + lane, _mm512_permutex2var_epi32(low, index, high));
  }
#else
  uint32_t values[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) values[lane] = a[lane];
  for (int lane = 0; lane < kLanes; ++lane) d[lane] = values[from[lane]];
#endif
}

// All 32 lanes.
template <Shuffle kind>
LW_ALWAYS_INLINE void shuffle(const Op* op, std::byte* registers, Warp& warp) {
  const Slot* more = warp.program->more(*op);
  const uint32_t* b = lanes_at<uint32_t>(registers, op->b);
  const uint32_t* c = lanes_at<uint32_t>(registers, more[0]);
  alignas(64) int32_t from[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int32_t target = shuffle_target(kind, lane, b[lane], c[lane]);
    from[lane] = shuffle_in_range(kind, lane, target, c[lane]) ? target : lane;
  }
  permute(lanes_at<uint32_t>(registers, op->a), from, lanes_at<uint32_t>(registers, op->d));
  if (op->extra < 2) return;
  warp.predicate(more[1]) = lanes_where([&](int lane) LW_LAMBDA_INLINE {
    const int32_t target = shuffle_target(kind, lane, b[lane], c[lane]);
    return shuffle_in_range(kind, lane, target, c[lane]);
  });
}

template <Shuffle kind>
void shfl(const Op* op, std::byte* registers, Warp& warp) {
  if (!is_complete(*op, warp) || warp.active != base::kAllLanes) [[unlikely]]
    return general_shfl(op, registers, warp);
  if (warp.order) warp.order->warp_meet(*warp.order_warp, warp.active);
  shuffle<kind>(op, registers, warp);
  return next<Mode::full>(op, registers, warp);
}

template <Shuffle kind>
constexpr Handlers kShfl{&shfl<kind>, &general_shfl, true};

}  // namespace

Handlers hot_shfl(Shuffle kind) {
  switch (kind) {
    case Shuffle::up:
      return kShfl<Shuffle::up>;
    case Shuffle::down:
      return kShfl<Shuffle::down>;
    case Shuffle::butterfly:
      return kShfl<Shuffle::butterfly>;
    case Shuffle::index:
      return kShfl<Shuffle::index>;
  }
  return {};
}

}  // namespace lw::machine::LW_SIMD_NAMESPACE
