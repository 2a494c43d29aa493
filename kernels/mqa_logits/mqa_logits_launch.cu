#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "../host/encode_tiled.h"
#include "mqa_logits.h"
#include "variants.h"

extern "C" __global__ void paged_mqa_logits(
    const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap weights_map,
    const __grid_constant__ CUtensorMap keys_map, const __grid_constant__ CUtensorMap scales_map,
    const int2* schedule, const int* contexts, const int* block_table, float* logits, int heads,
    int next_n, int table_stride, int logits_stride, int first_row, int rank, int ranks);

namespace mqa_logits {
namespace {

struct Box {
  CUtensorMapDataType type;
  const void* base;
  int rank;
  cuuint64_t dims[3];
  cuuint64_t strides[2];  // bytes, from dimension 1 on
  cuuint32_t box[3];
  CUtensorMapSwizzle swizzle;
};

bool encode(CUtensorMap& map, const Box& of) {
  static const host::EncodeTiled encoder = host::find_encode_tiled();
  const cuuint32_t element_strides[3] = {1, 1, 1};
  return encoder != nullptr &&
         encoder(&map, of.type, of.rank, const_cast<void*>(of.base), of.dims, of.strides, of.box,
                 element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, of.swizzle,
                 CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

struct Maps {
  CUtensorMap q, weights, keys, scales;
};

// Boxes: all query rows of a request, its weights, the keys of a page, its scales.
bool encode_all(Maps& maps, const PagedMqaLogits& a) {
  constexpr auto kBytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr auto kPlain = CU_TENSOR_MAP_SWIZZLE_NONE;
  constexpr auto kSwizzled = CU_TENSOR_MAP_SWIZZLE_128B;
  const cuuint32_t columns = a.next_n * a.heads;
  const cuuint64_t requests = a.requests, pages = a.page_count;
  return encode(maps.q, {kBytes,
                         a.q,
                         2,
                         {kHeadDim, requests * columns},
                         {kHeadDim},
                         {kHeadDim, columns},
                         kSwizzled}) &&
         encode(maps.weights, {CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                               a.weights,
                               2,
                               {columns, requests},
                               {columns * sizeof(float)},
                               {columns, 1},
                               kPlain}) &&
         encode(maps.keys, {kBytes,
                            a.pages,
                            3,
                            {kHeadDim, kPage, pages},
                            {kHeadDim, a.page_stride_bytes},
                            {kHeadDim, kPage, 1},
                            kSwizzled}) &&
         encode(maps.scales, {kBytes,
                              a.pages,
                              2,
                              {kPageBytes, pages},
                              {a.page_stride_bytes},
                              {kPageScaleBytes, 1},
                              kPlain});
}

bool valid(const PagedMqaLogits& a) {
  const bool shape = a.heads > 0 && a.heads % kHeadStep == 0 && a.next_n >= row_shares(kVariant) &&
                     a.next_n <= kMaxColumns / a.heads;
  const bool pool = a.page_count > 0 && a.page_stride_bytes >= size_t{kPageBytes};
  const bool share = a.rank >= 0 && a.rank < a.ranks && a.first_row >= 0;
  return shape && pool && share && a.requests > 0 && a.ctas > 0;
}

}  // namespace

cudaError_t launch_paged_mqa_logits(const PagedMqaLogits& arguments, cudaStream_t stream) {
  return launch_paged_mqa_logits(arguments, stream,
                                 reinterpret_cast<const void*>(&paged_mqa_logits));
}

cudaError_t launch_paged_mqa_logits(const PagedMqaLogits& arguments, cudaStream_t stream,
                                    const void* kernel) {
  PagedMqaLogits a = arguments;
  Maps maps;
  if (!valid(a) || !encode_all(maps, a)) return cudaErrorInvalidValue;
  if (const cudaError_t error = cudaFuncSetAttribute(
          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles))) {
    return error;
  }
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(a.ctas);
  launch.blockDim = dim3(threads(kVariant));
  launch.dynamicSmemBytes = sizeof(Tiles);
  launch.stream = stream;
  launch.attrs = &early;
  launch.numAttrs = a.programmatic ? 1 : 0;
  void* parameters[] = {&maps.q,         &maps.weights,    &maps.keys,   &maps.scales, &a.schedule,
                        &a.contexts,     &a.block_table,   &a.logits,    &a.heads,     &a.next_n,
                        &a.table_stride, &a.logits_stride, &a.first_row, &a.rank,      &a.ranks};
  return cudaLaunchKernelExC(&launch, kernel, parameters);
}

}  // namespace mqa_logits
