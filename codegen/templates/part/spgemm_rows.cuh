// Rows of B scattered into a dense vector, a block a row of A, a tile of columns at a time.
//
// The vector a tile of columns long: Matam, Bharadwaj, Kothapalli (10.1109/HiPC.2012.6507483). Dynamic virtual warps: Kurt,
// Thumma, Hong, Sukumaran-Rajam, Sadayappan, "Characterization of data movement requirements for sparse matrix computations on
// GPUs" (10.1109/HiPC.2017.00040), section VII: a block's threads fall into as many groups as suit the rows of B.
#include "device/look_back.cuh"
#include "part/spgemm.cuh"

namespace oplus {

constexpr u32 rows_threads = u32(number::threads), rows_chunk = 8, no_column = 0xffffffffu;

// Threads that share a row of B: the power of two at its rows' mean length.
__device__ inline u32 virtual_warp(u64 products, u64 entries) {
  u32 lanes = 1;
  while (lanes < rows_threads && u64(lanes) * entries < products) lanes *= 2;
  return lanes;
}

// f(row, products) for the rows of least to most products that fall to this block. `tickets`: 0 before the launch.
template <class F>
__device__ inline void for_rows_of(u64 rows, const u32* products, u32 least, u32 most, u64* tickets, F f) {
  __shared__ u64 place;
  for (;;) {
    const u64 first = next_tile(tickets, &place) * rows_chunk;
    if (first >= rows) return;
    for (u64 row = first; row < first + rows_chunk && row < rows; row++) {
      const u32 work = products[row];
      if (work >= least && work <= most) f(u32(row), work);
    }
  }
}

// WIDTH columns from `low` on: a bit each for those there are and, under a mask, for those it has.
template <u32 WIDTH> struct RowTile {
  static constexpr u32 words = WIDTH / 32;
  u32 *bits, *listed;  // shared, [words]
  u32* next;           // shared: the least column behind the tile
  u64 low, high;
  u32 used;            // words that its columns take

  // Columns from the word of `column` on, none behind `last`. Ends with a barrier.
  __device__ void open(const Operands& x, u32 row, u32 column, u32 last) {
    low = column & ~31u;
    high = min(low + WIDTH, u64(last) + 1);
    used = u32((high - low + 31) / 32);
    for (u32 w = threadIdx.x; w < used; w += rows_threads) {
      bits[w] = 0;
      if constexpr (flag::masked) listed[w] = 0;
    }
    if (threadIdx.x == 0) *next = no_column;
    __syncthreads();
    if constexpr (flag::masked) {
      u64 begin = x.m.offsets[row], end = x.m.offsets[row + 1];
      begin = lower_bound<u32, u64>(x.m.indices, begin, end, u32(low));
      for (u64 e = begin + threadIdx.x; e < end && x.m.indices[e] < high; e += rows_threads) {
        const u32 at = u32(x.m.indices[e] - low);
        atomicOr(&listed[at / 32], 1u << (at & 31));
      }
      __syncthreads();
    }
  }
  __device__ bool admits(u32 at) const {
    if constexpr (!flag::masked) return true;
    else return bool(listed[at / 32] >> (at & 31) & 1) != flag::complement;
  }
  __device__ void mark(u32 at) const {
    const u32 bit = 1u << (at & 31);
    if (!(const_cast<volatile u32*>(bits)[at / 32] & bit)) atomicOr(&bits[at / 32], bit);
  }
  // f(a, b, place in the tile) for the products of A's entries [begin, end) with the tile's columns that the mask admits, each
  // by one thread: `lanes` threads an entry of A. partial: rows of B may have columns before the tile.
  template <class F> __device__ void walk(const Operands& x, u64 begin, u64 end, u32 lanes, bool partial, F f) const {
    u32 behind = no_column;
    for (u64 a = begin + threadIdx.x / lanes; a < end; a += rows_threads / lanes) {
      const u32 k = x.a.indices[a];
      u64 b = x.b.offsets[k];
      const u64 b_end = x.b.offsets[u64(k) + 1];
      if (partial) b = lower_bound<u32, u64>(x.b.indices, b, b_end, u32(low));
      for (b += threadIdx.x & (lanes - 1); b < b_end; b += lanes) {
        const u32 column = x.b.indices[b];
        if (column >= high) {
          behind = min(behind, column);
          break;
        }
        const u32 at = u32(column - low);
        if (admits(at)) f(a, b, at);
      }
    }
    if (behind != no_column) atomicMin(next, behind);
  }
};

}  // namespace oplus
