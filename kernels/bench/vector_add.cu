// The smallest useful kernel: what a verdict costs at the least.

extern "C" __global__ void __launch_bounds__(256)
    vector_add(const float* a, const float* b, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}
