// Device-wide primitives, free of any semiring.
#include "warp/scan.cuh"

namespace oplus {

// sums[w] = sum of warp w's 32 values. Launch: 1-D blocks of a multiple of 32 threads, one thread a value.
extern "C" __global__ void warp_sums(const u64* values, u64 n, u64* sums) {
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  const u64 sum = warp_inclusive_sum<u64>(i < n ? values[i] : 0);
  if ((threadIdx.x & 31) == 31 && i / 32 < (n + 31) / 32) sums[i / 32] = sum;
}

}  // namespace oplus
