#pragma once
// Tensor memory and the matrix instructions that write it (PTX: tcgen05), of one CTA
// (cta_group::1).
//
// Tensor memory is 128 lanes x 512 columns of 32 bits; an address holds the lane in its upper half
// and the column in its lower. Warp w of a CTA reaches lanes 32 (w mod 4) and up. Every instruction
// here but `mma` and `commit` is one of the whole converged warp.
//
// mma, load and the like are asynchronous: an mma is finished for whoever waited for the mbarrier
// of a commit that followed it, a load for the warp that executed `wait_loads`.

#include <cstdint>

#include "mbarrier.cuh"

namespace ptx::tcgen05 {

using Address = uint32_t;

__device__ __forceinline__ Address at_lane(Address base, int lane) {
  return base + (static_cast<uint32_t>(lane) << 16);
}

// Takes `kColumns` columns, waiting until as many are free on the SM, and stores their address at
// `result` in shared memory: an ordinary store, to be published by a barrier.
template <int kColumns>
__device__ __forceinline__ void alloc(Address& result) {
  static_assert(kColumns >= 32 && kColumns <= 512 && (kColumns & (kColumns - 1)) == 0);
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                   shared_address(&result)),
               "n"(kColumns)
               : "memory");
}

// Gives all of an allocation back. Nobody may still be using it: loads that are not finished read
// what its next owner writes.
template <int kColumns>
__device__ __forceinline__ void dealloc(Address base) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base), "n"(kColumns)
               : "memory");
}

// This CTA allocates no more; frees nothing.
__device__ __forceinline__ void relinquish_alloc_permit() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}

// d (+)= a b^T, fp8 with fp32 sums, K = 32. By one thread. `accumulate` false: d is not read.
__device__ __forceinline__ void mma_f8f6f4(Address d, uint64_t a, uint64_t b, uint32_t instruction,
                                           bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, accumulate;\n"
      "}" ::"r"(d),
      "l"(a), "l"(b), "r"(instruction), "r"(static_cast<uint32_t>(accumulate))
      : "memory");
}

// 128 rows of 32 bytes from shared memory into eight columns of all lanes. By one thread.
__device__ __forceinline__ void copy_128_rows(Address to, uint64_t rows) {
  asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(to), "l"(rows) : "memory");
}

// One arrival on `barrier` once every earlier mma and copy of this thread is finished: its
// reads of shared memory and its writes of tensor memory.
__device__ __forceinline__ void commit(Mbarrier& barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                   shared_address(&barrier))
               : "memory");
}

// Lane l of the warp gets columns 0-31 of the l-th lane of its quarter; `from` is lane 0 of the
// quarter. The registers hold numbers once the wait is over, so it is in the same statement: no use
// of them can come between. The wait finishes every earlier load of the warp.
__device__ __forceinline__ void load_32_columns(float (&d)[32], Address from) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];\n\t"
      "tcgen05.wait::ld.sync.aligned;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]),
        "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]),
        "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]),
        "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]),
        "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31])
      : "r"(from)
      : "memory");
}

__device__ __forceinline__ void wait_loads() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

// On both sides of a signal between threads: what was finished before it, what starts after it.
__device__ __forceinline__ void fence_before_signal() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

__device__ __forceinline__ void fence_after_signal() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// d (+)= a b^T, bf16 (or f16) with fp32 sums, K = 16. By one thread. `accumulate` false: d is not
// read.
__device__ __forceinline__ void mma_f16(Address d, uint64_t a, uint64_t b, uint32_t instruction,
                                        bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, accumulate;\n"
      "}" ::"r"(d),
      "l"(a), "l"(b), "r"(instruction), "r"(static_cast<uint32_t>(accumulate))
      : "memory");
}

}  // namespace ptx::tcgen05
