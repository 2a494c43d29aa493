// Chooses the vector level of every whole-warp function once, at start.

#include "arith/warp.h"

#include "base/vector_level.h"

namespace lw::arith {

using In = const uint32_t*;
using Out = uint32_t*;

#define LW_WARP_LEVELS(name, parameters, arguments)                                   \
  namespace v2 {                                                                      \
  void name parameters;                                                               \
  }                                                                                   \
  namespace v3 {                                                                      \
  void name parameters;                                                               \
  }                                                                                   \
  namespace v4 {                                                                      \
  void name parameters;                                                               \
  }                                                                                   \
  static const auto chosen_##name = base::choose_level(v2::name, v3::name, v4::name); \
  void name parameters { chosen_##name arguments; }
#define LW_WARP_1(name) LW_WARP_LEVELS(name, (In a, Out d), (a, d))
#define LW_WARP_2(name) LW_WARP_LEVELS(name, (In a, In b, Out d), (a, b, d))
#define LW_WARP_3(name) LW_WARP_LEVELS(name, (In a, In b, In c, Out d), (a, b, c, d))
#include "arith/warp.def"
#undef LW_WARP_1
#undef LW_WARP_2
#undef LW_WARP_3

}  // namespace lw::arith
