// Kernels with a thread an entry, whatever the lengths of the rows.
#include "thread/search.cuh"

namespace oplus {

__device__ inline u64 global_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// The row of entry e of n, the thread's own: the block's rows are found once, so a search is among few. All threads call,
// those past the end too; e is global_thread() + a multiple of the block's first.
__device__ inline u64 row_of(const u64* offsets, u64 rows, u64 e, u64 n) {
  __shared__ u64 bounds[2];
  if (threadIdx.x < 2) {
    u64 at = e - threadIdx.x + (threadIdx.x ? blockDim.x - 1 : 0);
    if (at >= n) at = n - 1;
    bounds[threadIdx.x] = upper_bound<u64, u64>(offsets, 0, rows, at) - 1;
  }
  __syncthreads();
  const u64 low = bounds[0], high = bounds[1];
  __syncthreads();
  if (e >= n) return 0;
  return upper_bound<u64, u64>(offsets, low + 1, high + 1, e) - 1;
}

// The name of a place; null: itself.
__device__ inline i64 place_name(const u64* ids, u64 place) { return i64(ids ? ids[place] : place); }

}  // namespace oplus
