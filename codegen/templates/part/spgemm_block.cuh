// Rows of many products: a block sums a row, or slices of it one after the other, in a window over its columns.
#include "part/spgemm.cuh"

namespace oplus {

// Bits of the columns seen, in shared memory, and ranks of their words.
template <u32 THREADS> struct BlockWindow {
  static constexpr u32 threads = THREADS, warps = THREADS / 32, scan = 34 * 8 + 16, scratch = sizeof(WarpProducts) * warps;
  static constexpr u32 fixed(u32 width) { return scan + scratch + rounded(width / 32 * 4); }

  unsigned char* memory;
  __device__ Team<THREADS> team() const { return {reinterpret_cast<u64*>(memory)}; }
  __device__ u32* counters() const { return reinterpret_cast<u32*>(memory + 34 * 8); }
  __device__ WarpProducts* products() const { return reinterpret_cast<WarpProducts*>(memory + scan) + threadIdx.x / 32; }
  __device__ Share share() const { return {threadIdx.x / 32, warps}; }
  __device__ u32* bits() const { return reinterpret_cast<u32*>(memory + scan + scratch); }

  __device__ void clear(u32 words) const {
    for (u32 i = threadIdx.x; i < words; i += THREADS) bits()[i] = 0;
  }
  __device__ void set(u32 at) const {
    const u32 bit = 1u << (at & 31);
    if (!(const_cast<volatile u32*>(bits())[at / 32] & bit)) atomicOr(&bits()[at / 32], bit);
  }
  __device__ u32 count(u32 words) const {
    u32 n = 0;
    for (u32 i = threadIdx.x; i < words; i += THREADS) n += __popc(bits()[i]);
    return team().sum(n);
  }
  // f(column of the window, rank) for every column seen, after a barrier; returns their number. `bases`: u32[warps · 32].
  template <class F> __device__ u32 for_seen(u32 words, u32* bases, F f) const {
    u32 before = 0;
    for (u32 tile = 0; tile < words; tile += THREADS) {
      const u32 i = tile + threadIdx.x, n = i < words ? __popc(bits()[i]) : 0;
      u32 total;
      bases[threadIdx.x] = before + team().exclusive_sum(n, total);
      before += total;
      __syncthreads();
      // A warp a word, a lane a column.
      const u32 end = words - tile < THREADS ? words - tile : THREADS;
      for (u32 w = threadIdx.x / 32; w < end; w += warps) {
        const u32 word = bits()[tile + w];
        if (word >> lane_id() & 1) f((tile + w) * 32 + lane_id(), bases[w] + __popc(word & lanes_below()));
      }
      __syncthreads();
    }
    return before;
  }
};

// f(low, high, partial) for windows of `width` columns over the row's; low is a multiple of 32.
template <class F> __device__ inline void for_windows(Range row, u32 width, F f) {
  const bool partial = row.high - row.low > width;
  for (u64 low = row.low; low < row.high; low += width) {
    f(Range{low, low + width < row.high ? low + width : row.high, partial});
  }
}

// Calls f(row) for rows of the list by ticket.
template <class Window, class F>
__device__ inline void for_rows(const Window& window, const u32* list, u64 n, u64* tickets, F f) {
  volatile u32* next = window.counters();
  for (;;) {
    if (threadIdx.x == 0) {
      const u64 ticket = atomicAdd(tickets, u64(1));
      *next = ticket < n ? u32(ticket) : 0xffffffffu;
    }
    __syncthreads();
    const u32 u = *next;
    __syncthreads();
    if (u >= n) return;
    f(list[u]);
  }
}

}  // namespace oplus
