// The diagonals of a matrix: which there are, and which entries of them.
//
// Entry (i, j) is on diagonal j - i, number j - i + rows - 1 from below. See README.md for launches and sizes.
#include "warp/scan.cuh"

namespace oplus {

constexpr u32 band_block = tuning::primitive_block;

// Bits of `seen` (u32[ceil((rows + columns) / 32)], zero at first) at the numbers of the diagonals of every `stride`-th row.
// Launch: any grid, a warp a row at a time.
extern "C" __global__ void __launch_bounds__(band_block)
band_mark(u64 rows, u64 stride, const u64* offsets, const u32* indices, u32* seen) {
  const u64 warps = u64(gridDim.x) * (band_block / 32);
  for (u64 row = (u64(blockIdx.x) * (band_block / 32) + threadIdx.x / 32) * stride; row < rows; row += warps * stride) {
    for (u64 e = offsets[row] + lane_id(); e < offsets[row + 1]; e += 32) {
      const u64 number = indices[e] + (rows - 1 - row);
      const u32 bit = 1u << (number & 31);
      if (!(const_cast<volatile u32*>(seen)[number / 32] & bit)) atomicOr(&seen[number / 32], bit);
    }
  }
}

// list[0] += how many bits there are; list[1 ..= room] = their numbers, in any order. Launch: any grid, a thread a word.
extern "C" __global__ void __launch_bounds__(band_block)
band_list(u64 words, const u32* seen, u32 room, u32* list) {
  for (u64 w = u64(blockIdx.x) * band_block + threadIdx.x; w < words; w += u64(gridDim.x) * band_block) {
    for (u32 word = seen[w]; word; word &= word - 1) {
      const u32 at = atomicAdd(&list[0], 1u);
      if (at < room) list[1 + at] = u32(w * 32) + __ffs(word) - 1;
    }
  }
}

// present: u32[ceil(diagonals / 32) · rows], bit d of row i stands in word d / 32 · rows + i. numbers: the diagonals, ascending.
// full[i / 32]: bits of the rows that have all of them. Launch: ceil(rows / block) blocks, a thread a row.
extern "C" __global__ void __launch_bounds__(band_block)
band_lay_out(u64 rows, u32 diagonals, const u32* numbers, const u64* offsets, const u32* indices, u32* present, u32* full) {
  const u64 row = u64(blockIdx.x) * band_block + threadIdx.x;
  const bool live = row < rows;
  bool is_full = false;
  if (live) {
    u64 e = offsets[row];
    const u64 end = offsets[row + 1];
    is_full = end - e == diagonals;
    for (u32 word = 0; word * 32 < diagonals; word++) {
      const u32 n = diagonals - word * 32 < 32 ? diagonals - word * 32 : 32;
      u32 bits = n == 32 ? 0xffffffffu : (1u << n) - 1;
      if (!is_full) {
        bits = 0;
        for (u32 d = 0; d < n && e < end; d++) {
          if (indices[e] + (rows - 1 - row) == numbers[word * 32 + d]) {
            bits |= 1u << d;
            e++;
          }
        }
      }
      present[word * rows + row] = bits;
    }
  }
  const u32 bits = __ballot_sync(full_warp, is_full);
  if (live && lane_id() == 0) full[row / 32] = bits;
}

}  // namespace oplus
