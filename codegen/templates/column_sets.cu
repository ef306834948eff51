// Rows as column sets: words of 32 columns and which of these a row has. Blocks of tuning::primitive_block threads. Deterministic.
// Launches: README.md.
#include "device/report.cuh"
#include "warp/scan.cuh"

namespace oplus {

__device__ inline u64 global_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// counts[r] = words of 32 columns in which row r has entries. Rows that have many entries are named often: sums[0] += entries and
// sums[1] += words, each as often as the row has entries, up to 2^16. Any grid: a warp a row.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
column_set_counts(u64 rows, const u64* offsets, const u32* indices, u64* counts, u64* sums) {
  u64 entries = 0, words = 0;
  for (u64 r = global_thread() / 32; r < rows; r += u64(gridDim.x) * blockDim.x / 32) {
    const u64 begin = offsets[r], end = offsets[r + 1], length = end - begin, often = length < 1 << 16 ? length : 1 << 16;
    u32 n = 0;
    for (u64 e = begin + lane_id(); e < end; e += 32) n += e == begin || indices[e - 1] / 32 != indices[e] / 32;
    n = warp_sum(n);
    if (lane_id() == 0) counts[r] = n;
    entries += length * often;
    words += n * often;
  }
  if (lane_id() == 0 && entries) {
    atomicAdd(&sums[0], entries);
    atomicAdd(&sums[1], words);
  }
}

// These words, ascending in each row, and a bit for each of their columns. starts: sums of the counts; sets: 0 before. Any grid: a warp a row.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
column_sets(u64 rows, const u64* offsets, const u32* indices, const u64* starts, u32* words, u32* sets) {
  for (u64 r = global_thread() / 32; r < rows; r += u64(gridDim.x) * blockDim.x / 32) {
    const u64 begin = offsets[r], end = offsets[r + 1];
    u64 at = starts[r];
    for (u64 from = begin; from < end; from += 32) {
      const u64 e = from + lane_id();
      const bool in = e < end;
      const u32 column = in ? indices[e] : 0;
      const bool first = in && (e == begin || indices[e - 1] / 32 != column / 32);
      const u32 all = __ballot_sync(full_warp, first);
      const u64 place = at + __popc(all & (lanes_below() << 1 | 1)) - 1;
      if (first) words[place] = column / 32;
      if (in) atomicOr(&sets[place], 1u << (column & 31));
      at += __popc(all);
    }
  }
}

// offsets[r] = columns before row r of rows of sets, r = 0 ..= rows. begins: where its sets begin; starts[s]: columns before set s.
// control[0] = the last of them, control[1] = columns of the longest row (0 before). page, number: Report; `words` from `control` on are
// left zero.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
set_offsets(u64 rows, const u64* begins, const u64* starts, u64* offsets, u64* control, u64* page, u64 number, u64 words) {
  __shared__ u64 place;
  const u64 r = global_thread();
  u64 length = 0;
  if (r <= rows) {
    const u64 begin = starts[begins[r]];
    offsets[r] = begin;
    if (r < rows) length = starts[begins[r + 1]] - begin;
    else control[0] = begin;
  }
  length = warp_max(length);
  // Nearly always somebody was here with a longer one.
  if (lane_id() == 0 && length > *const_cast<volatile u64*>(&control[1])) atomicMax(&control[1], length);
  tell({page, number}, control, report_said, words, &place);
}

// The columns of n sets, one set after the other.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
set_columns(u64 n, const u32* words, const u32* sets, const u64* starts, u32* out) {
  // A lane lists the columns of its set, lanes write those of all side by side. A place is left out after every row of banks.
  __shared__ u32 listed[33 * tuning::primitive_block];
  u32* const ours = listed + threadIdx.x / 32 * (33 * 32);
  const u64 s = global_thread(), first = s - lane_id();
  if (first >= n) return;
  u32 left = s < n ? sets[s] : 0;
  const u32 column = s < n ? words[s] * 32 : 0, stop = warp_inclusive_sum(u32(__popc(left))), all = shuffle(stop, 31);
  for (u32 at = stop - u32(__popc(left)); left; left &= left - 1, at++) ours[at + at / 32] = column + u32(__ffs(i32(left))) - 1;
  __syncwarp();
  const u64 begin = starts[first];
  for (u32 e = lane_id(); e < all; e += 32) out[begin + e] = ours[e + e / 32];
}

}  // namespace oplus
