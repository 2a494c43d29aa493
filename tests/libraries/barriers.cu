// Kernels that stand on the barriers, pipelines and atomics of libcu++, each right or, where its
// name says so, wrong in one place. `launches.tsv` says how each is launched and what it is.

#include <cooperative_groups.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void barrier_twice(const float* in, float* out) {
  __shared__ BlockBarrier bar;
  __shared__ float s[256];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  float acc = 0;
  for (int i = 0; i < 4; i++) {
    s[threadIdx.x] = in[i * 256 + threadIdx.x];
    bar.arrive_and_wait();
    acc += s[(threadIdx.x + 37) % 256];
    auto tok = bar.arrive();
    bar.wait(std::move(tok));
  }
  out[threadIdx.x] = acc;
}

extern "C" __global__ void barrier_once_wrong(const float* in, float* out) {
  __shared__ BlockBarrier bar;
  __shared__ float s[256];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  float acc = 0;
  for (int i = 0; i < 4; i++) {
    s[threadIdx.x] = in[i * 256 + threadIdx.x];
    bar.arrive_and_wait();
    acc += s[(threadIdx.x + 37) % 256];
  }
  out[threadIdx.x] = acc;
}

extern "C" __global__ void producers_and_consumers(const float* in, float* out) {
  __shared__ BlockBarrier ready[2], filled[2];
  __shared__ float s[2][128];
  auto block = cg::this_thread_block();
  if (block.thread_rank() < 4) {
    auto* b =
        block.thread_rank() < 2 ? &ready[block.thread_rank()] : &filled[block.thread_rank() - 2];
    init(b, 256);
  }
  block.sync();
  if (threadIdx.x < 128) {
    for (int i = 0; i < 6; i++) {
      ready[i % 2].arrive_and_wait();
      s[i % 2][threadIdx.x] = in[i * 128 + threadIdx.x];
      (void)filled[i % 2].arrive();
    }
  } else {
    int t = threadIdx.x - 128;
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    float acc = 0;
    for (int i = 0; i < 6; i++) {
      filled[i % 2].arrive_and_wait();
      acc += s[i % 2][(t * 7) % 128];
      (void)ready[i % 2].arrive();
    }
    out[t] = acc;
  }
}

extern "C" __global__ void pipeline_of_block(const int4* in, int4* out) {
  constexpr int stages = 3;
  __shared__ int4 s[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> st;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &st);
  int n = 10;
  int4 acc = {0, 0, 0, 0};
  for (int c = 0, f = 0; c < n; c++) {
    for (; f < n && f < c + stages; f++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[f % stages], in + f * 128, sizeof(int4) * 128, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    int4 v = s[c % stages][(threadIdx.x + 5) % 128];
    acc.x += v.x;
    acc.y ^= v.y;
    acc.z += v.z;
    acc.w ^= v.w;
    pipe.consumer_release();
  }
  out[threadIdx.x] = acc;
}

extern "C" __global__ void pipeline_of_threads(const int4* in, int4* out) {
  constexpr int stages = 2;
  __shared__ int4 s[stages][128];
  auto pipe = cuda::make_pipeline();
  int n = 10;
  int4 acc = {0, 0, 0, 0};
  for (int c = 0, f = 0; c < n; c++) {
    for (; f < n && f < c + stages; f++) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[f % stages][threadIdx.x], in + f * 128 + threadIdx.x, sizeof(int4),
                         pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    int4 v = s[c % stages][(threadIdx.x + 5) % 128];
    acc.x += v.x;
    acc.y ^= v.y;
    __syncthreads();
    pipe.consumer_release();
  }
  out[threadIdx.x] = acc;
}

extern "C" __global__ void pipeline_of_roles(const int4* in, int4* out) {
  constexpr int stages = 2;
  __shared__ int4 s[stages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> st;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &st, role);
  int n = 8;
  int4 acc = {0, 0, 0, 0};
  if (role == cuda::pipeline_role::producer) {
    for (int i = 0; i < n; i++) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[i % stages][threadIdx.x], in + i * 64 + threadIdx.x,
                         cuda::aligned_size_t<16>(16), pipe);
      pipe.producer_commit();
    }
  } else {
    for (int i = 0; i < n; i++) {
      pipe.consumer_wait();
      int4 v = s[i % stages][(threadIdx.x * 3) % 64];
      acc.x += v.x;
      acc.y ^= v.y;
      pipe.consumer_release();
    }
    out[threadIdx.x - 64] = acc;
  }
}

extern "C" __global__ void bulk_copies(const int* in, int* out) {
  __shared__ alignas(128) int s[1024];
  __shared__ BlockBarrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  BlockBarrier::arrival_token tok;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(s, in, cuda::aligned_size_t<16>(4096), bar);
    tok = cuda::device::barrier_arrive_tx(bar, 1, 4096);
  } else
    tok = bar.arrive();
  bar.wait(std::move(tok));
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] += 1;
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, s, 4096);
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }
}

template <bool kRight>
__device__ void pass_by_flag(int* flag, int* data, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x * 3;
    __syncthreads();
    if (threadIdx.x == 0)
      f.store(1, kRight ? cuda::memory_order_release : cuda::memory_order_relaxed);
  } else {
    if (threadIdx.x == 0)
      while (f.load(cuda::memory_order_acquire) == 0)
        ;
    __syncthreads();
    out[(blockIdx.x - 1) * blockDim.x + threadIdx.x] = data[threadIdx.x];
  }
}

extern "C" __global__ void flag(int* flag, int* data, int* out) {
  pass_by_flag<true>(flag, data, out);
}
extern "C" __global__ void flag_relaxed_wrong(int* flag, int* data, int* out) {
  pass_by_flag<false>(flag, data, out);
}

extern "C" __global__ void last_block(const float* in, float* part, unsigned* count, float* out) {
  __shared__ float s[8];
  __shared__ bool last;
  float v = in[blockIdx.x * 256 + threadIdx.x];
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0;
    for (int i = 0; i < 8; i++) t += s[i];
    part[blockIdx.x] = t;
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float t = 0;
    for (int i = 0; i < gridDim.x; i++) t += ((volatile float*)part)[i];
    out[0] = t;
    *count = 0;
  }
}

template <bool kRight>
__device__ void take_turns(int* lock, float* acc, const float* in) {
  // split-K serial reduction semaphore
  float v = in[blockIdx.x * 128 + threadIdx.x];
  if (threadIdx.x == 0) {
    int s;
    do {
      asm volatile("ld.global.acquire.gpu.b32 %0,[%1];" : "=r"(s) : "l"(lock) : "memory");
    } while (s != blockIdx.x);
  }
  __syncthreads();
  acc[threadIdx.x] = (blockIdx.x ? acc[threadIdx.x] : 0.f) + v;
  if (kRight) __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("st.global.release.gpu.b32 [%0],%1;" ::"l"(lock), "r"(blockIdx.x + 1) : "memory");
  }
}

extern "C" __global__ void turns(int* lock, float* acc, const float* in) {
  take_turns<true>(lock, acc, in);
}
extern "C" __global__ void turns_wrong(int* lock, float* acc, const float* in) {
  take_turns<false>(lock, acc, in);
}

template <bool kRight>
__device__ void add_under_mutex(int* lock, int* total) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    *total = *total + blockIdx.x + 1;
    if (kRight) __threadfence();
    atomicExch(lock, 0);
  }
}

extern "C" __global__ void mutex(int* lock, int* total) { add_under_mutex<true>(lock, total); }
extern "C" __global__ void mutex_wrong(int* lock, int* total) {
  add_under_mutex<false>(lock, total);
}
