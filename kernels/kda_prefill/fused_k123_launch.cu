#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "../host/encode_tiled.h"
#include "fused_k123.h"

extern "C" __global__ void fused_k123(
    const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
    const __grid_constant__ CUtensorMap gate_map, const float* beta_logits, const float* a_log,
    const float* dt_bias, const int* cu_seqlens, const int* chunk_indices,
    kda_prefill::Bf16* k_scaled, kda_prefill::Bf16* q_scaled, kda_prefill::Bf16* kg,
    float* decay_last, kda_prefill::Bf16* aqk, kda_prefill::Bf16* akk, int heads, int chunks,
    int tokens_per_sequence, int real_tokens, float scale, float lower_bound);

namespace kda_prefill {
namespace {

// Boxes of 64 rows of one head, `channels` wide.
CUresult encode_rows(host::EncodeTiled encode, CUtensorMap& map, const Bf16* rows,
                     const FusedK123& a, cuuint32_t channels, CUtensorMapSwizzle swizzle) {
  const cuuint64_t heads = a.heads;
  const cuuint64_t dims[3] = {kHeadDim, heads, cuuint64_t(a.batch) * a.tokens};
  const cuuint64_t strides[2] = {kHeadDim * sizeof(Bf16), heads * kHeadDim * sizeof(Bf16)};
  const cuuint32_t box[3] = {channels, 1, kChunk};
  const cuuint32_t element_strides[3] = {1, 1, 1};
  return encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, const_cast<Bf16*>(rows), dims, strides,
                box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

bool valid(const FusedK123& a) {
  const uint64_t rows = uint64_t(a.batch) * a.tokens;
  const uint64_t largest =
      std::max(rows * a.heads * kHeadDim, uint64_t(a.heads) * a.chunks * kChunk * kChunk);
  const bool varlen = a.cu_seqlens != nullptr;
  const bool lengths = varlen ? a.chunk_indices != nullptr && a.batch == 1
                              : a.tokens % kChunk == 0 && uint64_t(a.chunks) * kChunk == rows;
  return a.heads > 0 && rows > 0 && a.chunks > 0 && lengths && largest < uint64_t{1} << 32;
}

bool aligned(const FusedK123& a) {
  const void* const vectors[] = {a.dt_bias,    a.k_scaled, a.q_scaled, a.kg,
                                 a.decay_last, a.aqk,      a.akk};
  return std::all_of(std::begin(vectors), std::end(vectors), [](const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
  });
}

cudaError_t multiprocessors(int& count) {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
}

}  // namespace

cudaError_t launch_fused_k123(const FusedK123& arguments, cudaStream_t stream) {
  return launch_fused_k123(arguments, stream, reinterpret_cast<const void*>(&fused_k123));
}

cudaError_t launch_fused_k123(const FusedK123& arguments, cudaStream_t stream, const void* kernel) {
  FusedK123 a = arguments;
  if (!valid(a) || !aligned(a)) return cudaErrorInvalidValue;
  static const host::EncodeTiled encode = host::find_encode_tiled();
  if (encode == nullptr) return cudaErrorNotSupported;
  CUtensorMap q_map, k_map, gate_map;
  if (encode_rows(encode, q_map, a.q, a, 64, CU_TENSOR_MAP_SWIZZLE_128B) != CUDA_SUCCESS ||
      encode_rows(encode, k_map, a.k, a, 64, CU_TENSOR_MAP_SWIZZLE_128B) != CUDA_SUCCESS ||
      encode_rows(encode, gate_map, a.gate, a, 128, CU_TENSOR_MAP_SWIZZLE_NONE) != CUDA_SUCCESS) {
    return cudaErrorInvalidValue;
  }
  int sm_count = 0;
  if (const cudaError_t error = multiprocessors(sm_count)) return error;
  if (const cudaError_t error = cudaFuncSetAttribute(
          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(StageTiles))) {
    return error;
  }
  const int units = (a.chunks + kUnitChunks - 1) / kUnitChunks * a.heads;
  void* parameters[] = {&q_map,     &k_map,        &gate_map,        &a.beta,     &a.a_log,
                        &a.dt_bias, &a.cu_seqlens, &a.chunk_indices, &a.k_scaled, &a.q_scaled,
                        &a.kg,      &a.decay_last, &a.aqk,           &a.akk,      &a.heads,
                        &a.chunks,  &a.tokens,     &a.real_tokens,   &a.scale,    &a.lower_bound};
  return cudaLaunchKernel(kernel, dim3(std::min(units, sm_count)), dim3(kThreads), parameters,
                          sizeof(StageTiles), stream);
}

}  // namespace kda_prefill
