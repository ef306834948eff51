// Rows whose columns lie within number::width of each other: sums in a window of shared memory that one warp owns.
#include "part/spgemm.cuh"
#include "part/spgemm_sets.cuh"
#include "part/spgemm_supernodes.cuh"

namespace oplus {

// What tells whether a column has a product.
template <bool IN_PLACE> struct SeenAs {
  typedef unsigned char Type;
};
template <> struct SeenAs<true> {
  typedef u32 Type;
};
// For kernels of any T, of which those that add in place have u32.
template <bool UNITED, class T> __device__ inline void add_in_place(T* sum, const T& x) {
  if constexpr (SameType<T, u32>::value && UNITED) set_bits(sum, x);
  else if constexpr (SameType<T, u32>::value) atomicAdd(sum, x);
}

// A byte a column tells whether it has a product yet. The warp adds one row of B at a time, in which columns are distinct,
// so no atomics are needed and sums run in the order of A's entries. Numbers of products, and sets, are that byte and the sum in one.
template <class T> struct Window {
  T* seen;

  __device__ void clear(u32 span) const {
    u32* words = reinterpret_cast<u32*>(seen);
    for (u32 i = lane_id(); i < (span * u32(sizeof(T)) + 3) / 4; i += 32) words[i] = 0;
    __syncwarp();
  }
  // f(column of the window, rank) for each column that was seen; returns their number.
  template <class F> __device__ u32 for_seen(u32 span, F f) const {
    u32 columns = 0;
    for (u32 tile = 0; tile < span; tile += 32) {
      const u32 at = tile + lane_id();
      const bool is = at < span && seen[at];
      const u32 all = __ballot_sync(full_warp, is);
      if (is) f(at, columns + __popc(all & lanes_below()));
      columns += __popc(all);
    }
    return columns;
  }
};

// The same where all there is to know of a column is whether it has a product: a bit each, from a multiple of 32 on.
struct BitWindow {
  u32* bits;

  // The columns of the row: bits of those from low, a multiple of 32, to last.
  template <u32 BATCH> __device__ void mark(const Operands& x, u32 row, u32 low, u32 last, WarpProducts* scratch) const {
    for (u32 i = lane_id(); i <= (last - low) / 32; i += 32) bits[i] = 0;
    __syncwarp();
    for_sets<BATCH, supernode_walk>(Share{0, 1}, x.a.indices, x.a.offsets[row], x.a.offsets[row + 1], x.b, 0, x.columns, false, scratch,
                    [&](u32 word, u32 columns) { set_bits(&bits[word - low / 32], columns); });
    __syncwarp();
  }
  // As that of a window.
  template <class F> __device__ u32 for_seen(u32 span, F f) const {
    u32 columns = 0;
    for (u32 w = 0; w <= (span - 1) / 32; w++) {
      const u32 all = bits[w];
      if (all >> lane_id() & 1) f(w * 32 + lane_id(), columns + __popc(all & lanes_below()));
      columns += __popc(all);
    }
    return columns;
  }
};

// `load(batch)`, then `put(batch, t, column)` for each product the mask admits, with TURNS products of one column never at once.
template <u32 BATCH, bool TURNS, class Load, class Put>
__device__ inline void window_products(const Operands& x, u32 row, WarpProducts* scratch, Load load, Put put) {
  for_products<BATCH, supernode_walk>(Share{0, 1}, x.a.indices, x.a.offsets[row], x.a.offsets[row + 1], x.b, 0, x.columns, false, scratch,
                      [&](const Batch<BATCH>& p) {
                        u32 column[BATCH];
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          if (p.active[t]) column[t] = x.b.indices[p.b[t]];
                        }
                        load(p);
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          const bool keep = p.active[t] && admitted(x, row, column[t]);
                          if constexpr (!TURNS) {
                            if (keep) put(p, t, column[t]);
                            continue;
                          }
                          for (u32 turn = 0; turn < p.groups[t]; turn++) {
                            if (keep && p.group[t] == turn) put(p, t, column[t]);
                            __syncwarp();
                          }
                        }
                      });
  if constexpr (!TURNS) __syncwarp();
}

}  // namespace oplus
