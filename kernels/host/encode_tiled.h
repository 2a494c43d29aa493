#pragma once
// The driver's encoder of tensor maps, without linking to the driver.

#include <cuda.h>
#include <cuda_runtime.h>

namespace host {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

// Null where the driver has none.
inline EncodeTiled find_encode_tiled() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                             12000, cudaEnableDefault, &found);
  return error == cudaSuccess ? reinterpret_cast<EncodeTiled>(function) : nullptr;
}

}  // namespace host
