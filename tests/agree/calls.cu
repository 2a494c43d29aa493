// Functions that call themselves, each other, and through pointers; memory by alloca. Made into
// calls.ptx by `nvcc -ptx -arch=sm_90`, for scripts/gpu_lanes.

struct Trace {
  int sum, last, depth;
};

__device__ __noinline__ unsigned fib(int n) {
  if (n < 2) return n;
  return fib(n - 1) + fib(n - 2);
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

// Each keeps an array in its frame over the call of the other.
__device__ bool odd(int n, Trace* trace);
__device__ __noinline__ bool even(int n, Trace* trace) {
  trace->sum += n;
  return n == 0 ? true : odd(n - 1, trace);
}
__device__ __noinline__ bool odd(int n, Trace* trace) {
  int mine[3] = {n, 2 * n, 3 * n};
  trace->last += mine[trace->sum % 3];
  const bool result = n == 0 ? false : even(n - 1, trace);
  trace->depth += mine[(trace->last & 0xff) % 3];
  return result;
}

// Writes into the frame of the kernel, from any depth.
__device__ __noinline__ void digits(unsigned n, char* to, int* at) {
  char mine[4];
  mine[0] = '0' + n % 10;
  if (n >= 10) digits(n / 10, to, at);
  to[(*at)++] = mine[0];
}

__device__ __noinline__ Trace descend(Trace before, int n) {
  if (n == 0) return before;
  Trace mine = {before.sum + n, before.sum, before.depth + 1};
  const Trace below = descend(mine, n - 1);
  return {below.sum ^ mine.last, below.last + mine.sum, below.depth};
}

typedef int (*Step)(int, int);
__device__ int down(int a, int depth);
__device__ int up(int a, int depth);
__device__ Step table[2] = {down, up};
__device__ __noinline__ int down(int a, int depth) {
  return depth == 0 ? a : table[(a ^ depth) & 1](a * 3 + 1, depth - 1) - depth;
}
__device__ __noinline__ int up(int a, int depth) {
  return depth == 0 ? -a : table[(a + depth) & 1](a * 5 + 2, depth - 1) + depth;
}

__device__ __noinline__ int reversed(int n, int seed) {
  int* const values = static_cast<int*>(__builtin_alloca(4 * n));
  for (int i = 0; i < n; ++i) values[i] = seed * i + (i ^ n);
  int hash = 0;
  for (int i = n - 1; i >= 0; --i) hash = hash * 31 + values[i];
  return hash;
}
__device__ __noinline__ int nested(int n, int seed) {
  int* const values = static_cast<int*>(__builtin_alloca(4 * n + 4));
  for (int i = 0; i <= n; ++i) values[i] = seed + i;
  const int below = n == 0 ? 1 : nested(n - 1, seed * 3);
  return below * 31 + values[n] - values[0] + reversed(n + 1, below);
}

extern "C" __global__ void recursion(unsigned* out) {
  const int t = threadIdx.x;
  out[t] = fib(t % 12);
  out[t + 32] = ackermann(t % 3, t % 5);
  Trace trace = {t, 1, 0};
  out[t + 64] = even(t % 9, &trace);
  out[t + 96] = trace.sum * 7 + trace.last * 3 + trace.depth;
  char text[12];
  int at = 0;
  digits(t * 7919u, text, &at);
  unsigned hash = 0;
  for (int i = 0; i < at; ++i) hash = hash * 31 + text[i];
  out[t + 128] = hash;
  __syncwarp();
  const Trace end = descend(trace, t % 20);
  out[t + 160] = end.sum * 5 + end.last * 3 + end.depth;
  __syncthreads();
  out[t + 192] = table[t & 1](t, t % 7);
}

extern "C" __global__ void stack(unsigned* out) {
  const int t = threadIdx.x;
  int hash = 0;
  for (int round = 1; round < 400; round += 37)
    hash = hash * 31 + reversed(1 + (t + round) % 40, t);
  out[t] = hash;
  out[t + 32] = nested(t % 10, t);
}
