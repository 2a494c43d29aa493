// Kernels of blocks and grids that stand on CUB and cooperative groups, each right or, where its
// name says so, wrong by one missing barrier. `launches.tsv` says how each is launched and what it
// is.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_merge_sort.cuh>

namespace cg = cooperative_groups;

extern "C" __global__ void scan(const int* in, int* out) {
  using BS = cub::BlockScan<int, 256>;
  __shared__ typename BS::TempStorage t;
  int v = in[threadIdx.x], r, agg;
  for (int i = 0; i < 3; i++) {
    BS(t).ExclusiveSum(v, r, agg);
    v = r + agg;
    __syncthreads();
  }
  out[threadIdx.x] = v;
}

extern "C" __global__ void scan_by_raking(const int* in, int* out) {
  using BS = cub::BlockScan<int, 256, cub::BLOCK_SCAN_RAKING>;
  __shared__ typename BS::TempStorage t;
  int v = in[threadIdx.x], r;
  BS(t).InclusiveSum(v, r);
  out[threadIdx.x] = r;
}

extern "C" __global__ void reduce_in_any_order(const float* in, float* out) {
  using BR = cub::BlockReduce<float, 256, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>;
  __shared__ typename BR::TempStorage t;
  float s = BR(t).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) out[0] = s;
}

extern "C" __global__ void radix_sort(const unsigned* in, unsigned* out) {
  using S = cub::BlockRadixSort<unsigned, 128, 4>;
  __shared__ typename S::TempStorage t;
  unsigned k[4];
  for (int i = 0; i < 4; i++) k[i] = in[threadIdx.x * 4 + i];
  S(t).Sort(k);
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = k[i];
}

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};

extern "C" __global__ void merge_sort(const int* in, int* out) {
  using S = cub::BlockMergeSort<int, 128, 4>;
  __shared__ typename S::TempStorage t;
  int k[4];
  for (int i = 0; i < 4; i++) k[i] = in[threadIdx.x * 4 + i];
  S(t).Sort(k, Less{});
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = k[i];
}

extern "C" __global__ void merge_sort_of_warps(const int* in, int* out) {
  using S = cub::WarpMergeSort<int, 4, 32>;
  __shared__ typename S::TempStorage t[4];
  int k[4];
  for (int i = 0; i < 4; i++) k[i] = in[threadIdx.x * 4 + i];
  S(t[threadIdx.x / 32]).Sort(k, Less{});
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = k[i];
}

extern "C" __global__ void exchange(const int* in, int* out) {
  using X = cub::BlockExchange<int, 128, 4>;
  __shared__ typename X::TempStorage t;
  int k[4];
  for (int i = 0; i < 4; i++) k[i] = in[threadIdx.x + i * 128];
  X(t).StripedToBlocked(k, k);
  for (int i = 0; i < 4; i++) k[i] += i;
  __syncthreads();
  X(t).BlockedToWarpStriped(k, k);
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = k[i];
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* out) {
  using H = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename H::TempStorage t;
  __shared__ unsigned h[256];
  unsigned char k[4];
  for (int i = 0; i < 4; i++) k[i] = in[threadIdx.x * 4 + i];
  H(t).Histogram(k, h);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 128) out[i] = h[i];
}

extern "C" __global__ void reduce_by_tiles(const float* in, float* out) {
  auto b = cg::this_thread_block();
  auto w = cg::tiled_partition<32>(b);
  __shared__ float s[8];
  float v = cg::reduce(w, in[b.thread_rank()], cg::plus<float>());
  if (w.thread_rank() == 0) s[w.meta_group_rank()] = v;
  b.sync();
  if (w.meta_group_rank() == 0) {
    float x = w.thread_rank() < 8 ? s[w.thread_rank()] : 0;
    x = cg::reduce(w, x, cg::plus<float>());
    if (w.thread_rank() == 0) out[0] = x;
  }
}

extern "C" __global__ void half_warps(const float* in, float* out) {
  auto b = cg::this_thread_block();
  auto w = cg::tiled_partition<16>(b);
  __shared__ float s[256];
  s[threadIdx.x] = in[threadIdx.x];
  w.sync();
  float v = s[threadIdx.x ^ 5];
  w.sync();
  s[threadIdx.x] = v * 2;
  w.sync();
  out[threadIdx.x] = s[threadIdx.x ^ 3];
}

extern "C" __global__ void half_warps_too_far_wrong(const float* in, float* out) {
  auto b = cg::this_thread_block();
  auto w = cg::tiled_partition<16>(b);
  __shared__ float s[256];
  s[threadIdx.x] = in[threadIdx.x];
  w.sync();
  float v = s[threadIdx.x ^ 17];
  out[threadIdx.x] = v;
}

template <bool kRight>
__device__ void shift_over_grid(float* data, float* out) {
  auto g = cg::this_grid();
  int i = g.thread_rank();
  for (int it = 0; it < 3; it++) {
    float v = data[(i + 77) % g.size()];
    g.sync();
    data[i] = v + 1;
    if (kRight) g.sync();
  }
  out[i] = data[i];
}

extern "C" __global__ void sync_grid(float* data, float* out) { shift_over_grid<true>(data, out); }
extern "C" __global__ void sync_grid_once_wrong(float* data, float* out) {
  shift_over_grid<false>(data, out);
}

extern "C" __global__ void coalesced(int* ctr, int* out) {
  if (threadIdx.x % 3 == 0) {
    auto a = cg::coalesced_threads();
    int base;
    if (a.thread_rank() == 0) base = atomicAdd(ctr, a.size());
    base = a.shfl(base, 0);
    out[base + a.thread_rank()] = 1;
  }
}
