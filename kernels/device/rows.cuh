// Rows of the entries of compressed rows, for kernels that are spread over entries: empty and huge rows cost the same.
#include "thread/search.cuh"
#include "warp/search.cuh"

namespace oplus {

constexpr u32 entry_tile = tuning::primitive_block * tuning::entry_items;

// The row among [first, last] that has entry e; one of them has it.
__device__ inline u32 row_of(const u64* offsets, u32 first, u32 last, u64 e) {
  return u32(upper_bound<u64, u64>(offsets, u64(first) + 1, u64(last) + 1, e) - 1);
}

struct RowRange {
  u32 first, last;
};

// The rows of the first and the last of the entries [begin, end), which are not none. All threads of a block of at least
// two warps call. Has barriers.
__device__ inline RowRange rows_of_entries(const u64* offsets, u64 rows, u64 begin, u64 end) {
  __shared__ u32 found[2];
  if (threadIdx.x < 64) {
    const u64 e = threadIdx.x < 32 ? begin : end - 1;
    const u64 r = warp_last_not_above(0, rows - 1, e, [&](u64 i) { return offsets[i]; });
    if (lane_id() == 0) found[threadIdx.x / 32] = u32(r);
  }
  __syncthreads();
  const RowRange range = {found[0], found[1]};
  __syncthreads();
  return range;
}

}  // namespace oplus
