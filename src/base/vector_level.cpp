#include "base/vector_level.h"

namespace lw::base {

VectorLevel vector_level() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return VectorLevel::kV4;
  if (__builtin_cpu_supports("x86-64-v3")) return VectorLevel::kV3;
  return VectorLevel::kV2;
}

}  // namespace lw::base
