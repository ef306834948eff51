// Rows of many products: a block a row, its columns as bits in shared memory, sums at the ranks of the bits.
#include "part/spgemm.cuh"
#include "part/spgemm_sets.cuh"
#include "part/spgemm_supernodes.cuh"
#include "thread/rank.cuh"

namespace oplus {

// Bits of the columns seen, in shared memory, and ranks of their words. LEAVES: its warps leave each other large rounds, which
// costs registers and helps where there are few rows.
template <u32 THREADS, bool LEAVES> struct BlockWindow {
  static constexpr u32 threads = THREADS, warps = THREADS / 32, scan = 34 * 8 + 16 + Share::left_bytes, scratch = sizeof(WarpProducts) * warps;
  static constexpr u32 fixed(u32 width) { return scan + scratch + rounded(width / 32 * 4); }

  unsigned char* memory;
  __device__ Team<THREADS> team() const { return {reinterpret_cast<u64*>(memory)}; }
  __device__ u32* counters() const { return reinterpret_cast<u32*>(memory + 34 * 8); }
  __device__ WarpProducts* products() const { return reinterpret_cast<WarpProducts*>(memory + scan) + threadIdx.x / 32; }
  __device__ Share share() const { return {threadIdx.x / 32, warps, LEAVES ? counters() + 4 : nullptr}; }
  __device__ u32* bits() const { return reinterpret_cast<u32*>(memory + scan + scratch); }

  __device__ void clear(u32 words) const {
    for (u32 i = threadIdx.x; i < words; i += THREADS) bits()[i] = 0;
  }
  __device__ void set(u32 at) const {
    const u32 bit = 1u << (at & 31);
    if (!(const_cast<volatile u32*>(bits())[at / 32] & bit)) atomicOr(&bits()[at / 32], bit);
  }
  template <u32 N> __device__ void set_all(const bool (&active)[N], const u32 (&at)[N]) const {
    u32 word[N];
#pragma unroll
    for (u32 t = 0; t < N; t++) {
      if (active[t]) word[t] = const_cast<volatile u32*>(bits())[at[t] / 32];
    }
#pragma unroll
    for (u32 t = 0; t < N; t++) {
      const u32 bit = 1u << (at[t] & 31);
      if (active[t] && !(word[t] & bit)) atomicOr(&bits()[at[t] / 32], bit);
    }
  }
  __device__ void set_word(u32 w, u32 word) const { set_bits(&bits()[w], word); }
  __device__ u32 count(u32 words) const {
    u32 n = 0;
    for (u32 i = threadIdx.x; i < words; i += THREADS) n += __popc(bits()[i]);
    return team().sum(n);
  }
  // bases[w] = columns seen before word w; returns how many there are. Barriers at the end.
  __device__ u32 rank(u32 words, u32* bases) const {
    // A run of words a thread, of odd length so that threads meet in few banks.
    const u32 run = (words + THREADS - 1) / THREADS | 1, begin = threadIdx.x * run;
    const u32 end = begin + run < words ? begin + run : words;
    u32 n = 0;
    for (u32 i = begin; i < end; i++) n += __popc(bits()[i]);
    u32 total, at = team().exclusive_sum(n, total);
    for (u32 i = begin; i < end; i++) {
      bases[i] = at;
      at += __popc(bits()[i]);
    }
    __syncthreads();
    return total;
  }
  __device__ u32 position(const u32* bases, u32 at) const {
    return bases[at / 32] + __popc(bits()[at / 32] & ((1u << (at & 31)) - 1));
  }
  // f(column of the window, rank) for every one of `count` columns seen: a warp a word and a lane a column where words are
  // well filled; else a thread a column, which looks for its word among as many as there are threads: nobody waits for the fullest word. A
  // thread a word where most words are empty.
  template <class F> __device__ void for_seen(u32 words, u32 count, const u32* bases, F f) const {
    if (u64(words) * 8 <= count) {
      for (u32 w = threadIdx.x / 32; w < words; w += warps) {
        const u32 word = bits()[w];
        if (word >> lane_id() & 1) f(w * 32 + lane_id(), bases[w] + __popc(word & lanes_below()));
      }
    } else if (words <= 4 * count) {
      for (u32 from = 0; from < words; from += THREADS) {
        const u32 most = words - from < THREADS ? words - from : THREADS, end = from + most < words ? bases[from + most] : count;
        for (u32 e = bases[from] + threadIdx.x; e < end; e += THREADS) {
          // The last word that has no more before it.
          u32 w = from;
#pragma unroll
          for (u32 step = THREADS / 2; step > 0; step /= 2) {
            if (w + step < from + most && bases[w + step] <= e) w += step;
          }
          f(w * 32 + nth_mark(bits()[w], e - bases[w]), e);
        }
      }
    } else {
      for (u32 w = threadIdx.x; w < words; w += THREADS) {
        u32 at = bases[w];
        for (u32 word = bits()[w]; word; word &= word - 1) f(w * 32 + __ffs(word) - 1, at++);
      }
    }
  }
};

// f(range) for windows of `width` columns over the row's, which begin at multiples of 32: one, but for flag::far.
template <class F> __device__ inline void for_windows(Range row, u32 width, F f) {
  if constexpr (!flag::far) {
    if (row.low < row.high) f(Range{row.low, row.high, false});
    return;
  }
  const bool partial = row.high - row.low > width;
  for (u64 low = row.low; low < row.high; low += width) {
    f(Range{low, low + width < row.high ? low + width : row.high, partial});
  }
}

// Sets the bits of the columns in the window that A's entries of the row give, those the mask admits. Barriers at both ends.
template <u32 WALK = supernode_walk, class Window, class T = NoSlots>
__device__ inline void mark_window(const Window& window, const Operands& x, u32 row, u64 a_begin, u64 a_end, Range r, T take = {}) {
  constexpr u32 batch = tuning::symbolic_batch;
  window.clear(u32((r.high - r.low + 31) / 32));
  __syncthreads();
  static_assert(!(flag::column_sets && flag::masked), "a mask is looked up column by column");
  if constexpr (flag::column_sets) {
    for_sets<batch, WALK>(window.share(), x.a.indices, a_begin, a_end, x.b, r.low, r.high, r.partial, window.products(),
                          [&](u32 word, u32 columns) { window.set_word(word - u32(r.low / 32), columns); }, take);
    __syncthreads();
    return;
  }
  for_products<batch, WALK>(window.share(), x.a.indices, a_begin, a_end, x.b, r.low, r.high, r.partial,
                      window.products(), [&](const Batch<batch>& p) {
                        u32 column[batch];
#pragma unroll
                        for (u32 t = 0; t < batch; t++) {
                          if (p.active[t]) column[t] = x.b.indices[p.b[t]];
                        }
#pragma unroll
                        for (u32 t = 0; t < batch; t++) {
                          if (p.active[t] && admitted(x, row, column[t])) window.set(column[t] - u32(r.low));
                        }
                      }, take);
  __syncthreads();
}

// The bits of rows that were counted, from one pass to the next: row_words for each row of a list, null where none are kept.
// Rows of many products may be split among blocks, which meet in the row's state: 0 before and after.
struct SavedBits {
  static constexpr u32 begun = 1u << 31;

  u32 *words, *states;
  u32 row_words;

  __device__ u32* at(u32 place, Range row, Range window) const {
    return words + u64(place) * row_words + (window.low - row.low) / 32;
  }
  // Waits for the row's first part, which was drawn before: its block runs. All threads call.
  __device__ void wait_for_first(u32 place) const {
    if (threadIdx.x == 0) {
      while (!(*const_cast<volatile u32*>(&states[place]) & begun)) __nanosleep(32);
      __threadfence();
    }
    __syncthreads();
  }
  // The first part's word that others may go on. All threads call.
  __device__ void let_others_begin(u32 place) const {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicOr(&states[place], begun);
  }
  // A part is done; true in the last of them, after which the state is as before. All threads call. `last`: shared memory.
  __device__ bool end_part(u32 place, u32 of, volatile u32* last) const {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      *last = (atomicAdd(&states[place], 1u) & ~begun) + 1 == of;
      if (*last) states[place] = 0;
      __threadfence();
    }
    __syncthreads();
    const bool is_last = *last;
    __syncthreads();
    return is_last;
  }
};

// How many blocks share a row of so many products, of `parts` at most. One window is all that they can share.
__device__ inline u32 parts_of(u32 parts, u32 products, Range row, u32 width) {
  const u32 wanted = row.high - row.low > width ? 1 : products / tuning::split_products + 1;
  return wanted < parts ? wanted : parts;
}

// A part of a row's entries of A.
struct RowPart {
  u32 row, place, number;
  __device__ u64 begin(const u64* offsets, u32 of) const { return at(offsets, number, of); }
  __device__ u64 end(const u64* offsets, u32 of) const { return at(offsets, number + 1, of); }
  __device__ u64 at(const u64* offsets, u32 n, u32 of) const {
    const u64 length = offsets[row + 1] - offsets[row];
    // Whole rounds of a warp.
    const u64 cut = n == of ? length : length / of * n / 32 * 32;
    return offsets[row] + cut;
  }
};

// Rows of a class, in the order in which blocks draw them: the heavy ones, which are at the end of its list, and then the others.
struct DrawnRows {
  u32 count, heavy;
  const u32 *last, *others;  // of the heavy ones the first to be drawn; of the others as if they were drawn first

  // `units`, `begin`: places in the control block.
  __device__ static DrawnRows of(const u32* list, const u64* control, u32 units, u32 begin) {
    const u32 kind = units - control_units, heavy = is_block(kind) ? u32(control[control_heavy + kind - class_block]) : 0;
    return {u32(control[units]), heavy, list + control[begin + 1] - 1, list + control[begin] - heavy};
  }
  __device__ u32 operator[](u32 i) const { return i < heavy ? *(last - i) : others[i]; }
};

// Rows 0 .. count.
struct AllRows {
  u64 count;
  __device__ u32 operator[](u32 i) const { return i; }
};

// Calls f(part) for `parts` parts of each of the rows, by ticket: the first part first.
template <class Window, class Rows, class F>
__device__ inline void for_rows(const Window& window, const Rows& rows, u32 parts, u64* tickets, F f) {
  volatile u32* next = window.counters();
  for (;;) {
    if (threadIdx.x == 0) {
      const u64 ticket = atomicAdd(tickets, u64(1));
      *next = ticket < u64(rows.count) * parts ? u32(ticket) : 0xffffffffu;
    }
    __syncthreads();
    const u32 u = *next;
    __syncthreads();
    if (u == 0xffffffffu) return;
    f(RowPart{rows[u / parts], u / parts, u % parts});
  }
}

}  // namespace oplus
