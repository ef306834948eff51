// Rows of at most WIDTH products, a block a row: products numbered in the order of A's entries, keys sorted in runs by the
// block's warps, runs merged in shared memory.
#include "part/spgemm_esc.cuh"

namespace oplus {

// Shared memory of a block that sorts a row: scan words, rows of B, heads, then the keys and the terms.
template <u32 WIDTH> struct SortMemory {
  static constexpr u32 per_thread = 8, threads = WIDTH / per_thread, warps = threads / 32, run = 32 * per_thread;
  static constexpr u32 words = WIDTH / 32, scan = 34 * 8 + 16, walks = sizeof(WarpProducts) * warps;
  static_assert(WIDTH < 1u << 16, "places of two bytes");
  static constexpr u32 listed = rounded(2 * (WIDTH + 1)), scratch = walks > listed ? walks : listed;
  static constexpr u32 fixed = scan + scratch + 8 * words + EscKeys<WIDTH>::bytes;

  unsigned char* memory;
  __device__ Team<threads> team() const { return {reinterpret_cast<u64*>(memory)}; }
  __device__ WarpProducts* products() const { return reinterpret_cast<WarpProducts*>(memory + scan) + threadIdx.x / 32; }
  // Where the keys of each column begin, in turn, and where the last ones end: when no products are walked any more.
  __device__ unsigned short* begins() const { return reinterpret_cast<unsigned short*>(memory + scan); }
  // Bits of the sorted keys that are the first of their column, and how many there are before each word.
  __device__ u32* heads() const { return reinterpret_cast<u32*>(memory + scan + scratch); }
  __device__ u32* before() const { return heads() + words; }
  __device__ EscKeys<WIDTH> keys() const { return {heads() + 2 * words}; }

  // Calls f(batch, numbers) for all products of the row, each in one batch of one of the warps; `numbers` says for each of
  // the batch which product of the row it is, in the order of A's entries. Returns how many there are.
  template <u32 BATCH, class F> __device__ u32 for_numbered(const Operands& x, u32 row, F f) const {
    const u32 warp = threadIdx.x / 32;
    const u64 begin = x.a.offsets[row], end = x.a.offsets[row + 1], entries = end - begin;
    // Of few entries the warps do every round together, an equal part of its products each; of many, a stretch each.
    const bool together = entries <= u64(32) * warps;
    const u64 each = together ? entries : (entries + 32 * warps - 1) / (32 * warps) * 32;
    const u64 from = together ? begin : begin + warp * each;
    const u64 to = together || end < from + each ? end : from + each;
    const u32 part = together ? warp : 0, parts = together ? warps : 1;
    u32 total, at = 0;
    {
      u32 mine = 0;
      for (u64 e = from; e < to; e += 32) mine += u32(load_round(x.a.indices, Position(e), Position(to), x.b, 0, x.columns, false).left);
      if (together && warp > 0) mine = 0;
      const u32 ahead = team().exclusive_sum(mine, total);
      if (!together) at = shuffle(ahead, 0);
    }
    for (u64 e = from; e < to; e += 32) {
      const Round round = load_round(x.a.indices, Position(e), Position(to), x.b, 0, x.columns, false);
      const u32 last = warp_inclusive_sum(u32(round.left)), size = shuffle(last, 31);
      const u32 some = __popc(__ballot_sync(full_warp, round.left != 0)), lo = size * part / parts, hi = size * (part + 1) / parts;
      u32 next = at + lo;
      const auto numbered = [&](const Batch<BATCH>& p) {
        u32 number[BATCH];
#pragma unroll
        for (u32 t = 0; t < BATCH; t++) {
          number[t] = next + lane_id();
          next += __popc(__ballot_sync(full_warp, p.active[t]));
        }
        f(p, number);
      };
      if (lo < hi) {
        if (size >= some * tuning::long_rows) walk_long_rows<BATCH>(Position(e), round, last, lo, hi, numbered);
        else walk_short_rows<BATCH>(Position(e), round, last, lo, hi, products(), numbered);
      }
      at += size;
    }
    return total;
  }

  // Sorts the first n keys; what follows up to the next run is filled up. Barriers at both ends.
  __device__ void sort(u32 n) const {
    const EscKeys<WIDTH> keys = this->keys();
    __syncthreads();
    const u32 mine = threadIdx.x / 32 * run, runs = (n + run - 1) / run;
    if (mine < n) EscKeys<run>{keys.shared + mine + mine / 32}.template sort<false>(n - mine < run ? n - mine : run);
    __syncthreads();
    // Two neighbours become one until all are one; a thread writes the same places every time.
    for (u32 length = run; length < runs * run; length *= 2) {
      const u32 place = threadIdx.x * per_thread, low = place / (2 * length) * (2 * length), middle = low + length;
      const u32 stop = runs * run < middle + length ? runs * run : middle + length;
      u32 key[per_thread];
      const bool merged = middle < stop && place < stop;
      if (merged) {
        const u32 skip = place - low, right = stop - middle;
        u32 i = skip > right ? skip - right : 0, most = skip < length ? skip : length;
        while (i < most) {
          const u32 half = (i + most) / 2;
          if (keys.at(low + half) <= keys.at(middle + skip - 1 - half)) i = half + 1;
          else most = half;
        }
        // Whichever is not greater goes first and is looked up anew; what is beyond the end of its run is greater than all.
        u32 p = low + i, q = middle + skip - i;
        u32 x = p < middle ? keys.at(p) : keys.none, y = q < stop ? keys.at(q) : keys.none;
#pragma unroll
        for (u32 t = 0; t < per_thread; t++) {
          const bool left = x <= y;
          key[t] = left ? x : y;
          const u32 next = left ? ++p : ++q;
          const u32 found = next < (left ? middle : stop) ? keys.at(next) : keys.none;
          x = left ? found : x;
          y = left ? y : found;
        }
      }
      __syncthreads();
      if (merged) {
#pragma unroll
        for (u32 t = 0; t < per_thread; t++) keys.at(place + t) = key[t];
      }
      __syncthreads();
    }
  }

  // Marks which of the n sorted keys are the first of their column; keys of `none` are of no column. Returns how many are.
  __device__ u32 find_heads(u32 n) const {
    const EscKeys<WIDTH> keys = this->keys();
    for (u32 w = threadIdx.x / 32; w < words; w += warps) {
      const u32 i = w * 32 + lane_id(), key = i < n ? keys.at(i) : keys.none;
      const bool head = key != keys.none && (i == 0 || keys.column(keys.at(i - 1)) != keys.column(key));
      const u32 bits = __ballot_sync(full_warp, head);
      if (lane_id() == 0) heads()[w] = bits;
    }
    __syncthreads();
    u32 total;
    const u32 mine = threadIdx.x < words ? __popc(heads()[threadIdx.x]) : 0, ahead = team().exclusive_sum(mine, total);
    if (threadIdx.x < words) before()[threadIdx.x] = ahead;
    __syncthreads();
    return total;
  }

  // Lists where the `count` columns found begin among the n keys. Neighbouring threads then sum neighbouring columns, all of them busy.
  __device__ void list_begins(u32 n, u32 count) const {
    const EscKeys<WIDTH> keys = this->keys();
    for (u32 i = threadIdx.x; i < n; i += threads) {
      const u32 word = heads()[i / 32];
      if (word >> lane_id() & 1) begins()[before()[i / 32] + __popc(word & lanes_below())] = i;
      if (keys.at(i) != keys.none && (i + 1 == n || keys.at(i + 1) == keys.none)) begins()[count] = i + 1;
    }
    __syncthreads();
  }
};

}  // namespace oplus
