#pragma once
// Paged fp8 MQA logits on data-centre Blackwell. For every query row t of request r and every key p
// of its context
//
//   logits[r, t, p] = scale_p sum_h weights[r, t, h] max(0, sum_d q[r, t, h, d] key_p[d])
//
// Which kernel is launched is said when it is compiled (variants.h).

#include <cuda_runtime.h>

#include "layout.h"

namespace mqa_logits {

// Pointers to device memory, arrays row-major.
struct PagedMqaLogits {
  const Fp8* q;            // [requests, next_n, heads, 128], e4m3
  const float* weights;    // [requests, next_n, heads]; the caller folds q's scale into them
  const uint8_t* pages;    // [page_count] of 64 x 128 e4m3, then 64 fp32 scales
  const int2* schedule;    // [ctas + 1], made by make_schedule (schedule.h)
  const int* contexts;     // [requests], keys that this rank holds
  const int* block_table;  // [requests, table_stride], numbers of pages
  // [requests, next_n, logits_stride]. `rows`: without the rows before first_row. `cp`: page i of
  // this rank is page i ranks + rank of the row. Columns past the context are not written.
  float* logits;

  int requests;
  int next_n;  // query rows of a request
  int heads;   // a multiple of 32; next_n heads <= 256
  int page_count;
  size_t page_stride_bytes;  // of the pool, a multiple of 16, at least kPageBytes
  int table_stride;
  int logits_stride;
  int ctas;
  int first_row = 0;  // `rows`: of this rank
  int rank = 0;       // `cp`
  int ranks = 1;
  // May start before the grid in front of it in the stream ends. With the early keys of
  // `low_latency`, that grid may write q, weights and what else reads logits, and nothing more.
  bool programmatic = false;
};

// Launches the kernel on `stream`. cudaErrorInvalidValue: sizes that the variant does not take, or
// a pointer to what the copy engine reads that is not aligned to 16 bytes.
cudaError_t launch_paged_mqa_logits(const PagedMqaLogits& arguments, cudaStream_t stream);

// The same with a kernel loaded from a module: a cudaKernel_t, cast.
cudaError_t launch_paged_mqa_logits(const PagedMqaLogits& arguments, cudaStream_t stream,
                                    const void* kernel);

}  // namespace mqa_logits
