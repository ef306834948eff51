// Rows of at most WIDTH products: expanded into shared memory, sorted by column in a warp's registers.
#include "part/spgemm.cuh"
#include "warp/sort_many.cuh"

namespace oplus {

// One row's keys: (column - first column) · WIDTH + number of the product, in the order of A's entries. Padded so that
// lanes may write runs of their own without meeting in a bank.
template <u32 WIDTH> struct EscKeys {
  static constexpr u32 per_lane = WIDTH / 32, bytes = rounded(4 * (WIDTH + WIDTH / 32));
  static constexpr u32 none = 0xffffffffu;
  u32* shared;

  __device__ u32& at(u32 i) const { return shared[i + i / 32]; }
  __device__ static u32 column(u32 key) { return key / WIDTH; }
  __device__ static u32 source(u32 key) { return key % WIDTH; }

  // The first n keys, ascending, n <= 32 · K. FIT: by the narrowest network that holds them.
  template <bool FIT, u32 K = per_lane> __device__ __forceinline__ void sort(u32 n) const {
    if constexpr (FIT && K > 1) {
      if (n <= 16 * K) return sort<FIT, K / 2>(n);
    }
    u32 key[K];
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < K; j++) key[j] = j * 32 + lane_id() < n ? at(j * 32 + lane_id()) : none;
    warp_sort_many<K>(key);
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < K; j++) at(lane_id() * K + j) = key[j];
    __syncwarp();
  }
  // The first of n sorted keys whose code is at least that.
  __device__ u32 first_not_below(u32 n, u32 code) const {
    u32 low = 0;
    while (low < n) {
      const u32 middle = (low + n) / 2;
      if (column(at(middle)) < code) low = middle + 1;
      else n = middle;
    }
    return low;
  }
  // f(i, key, head, rank) for every sorted key, 32 at a time: `head` marks the first of its column, `rank` counts these.
  // Returns the number of columns.
  template <class F> __device__ u32 for_sorted(u32 n, F f) const {
    u32 columns = 0;
    for (u32 tile = 0; tile < n; tile += 32) {
      const u32 i = tile + lane_id(), key = i < n ? at(i) : none;
      const bool head = i < n && (i == 0 || column(at(i - 1)) != column(key));
      const u32 heads = __ballot_sync(full_warp, head);
      f(i, key, head, columns + __popc(heads & lanes_below()));
      columns += __popc(heads);
    }
    return columns;
  }
};

// Which of a warp's sorted keys are the first of their code: lane l holds those of keys 32 · l .. 32 · l + 31.
struct Heads {
  u32 bits, before;
  // How many there are before key i; all lanes call.
  __device__ u32 rank(u32 i) const {
    const u32 from = shuffle(before, i / 32 & 31), word = shuffle(bits, i / 32 & 31);
    return from + __popc(word & ((1u << (i & 31)) - 1));
  }
  __device__ u32 all() const { return shuffle(before + __popc(bits), 31); }
};
template <u32 WIDTH> __device__ inline Heads find_heads(EscKeys<WIDTH> keys, u32 n) {
  Heads heads = {0, 0};
  for (u32 tile = 0; tile < n; tile += 32) {
    const u32 i = tile + lane_id();
    const bool head = i < n && (i == 0 || keys.column(keys.at(i - 1)) != keys.column(keys.at(i)));
    const u32 bits = __ballot_sync(full_warp, head);
    if (lane_id() == tile / 32) heads.bits = bits;
  }
  heads.before = warp_inclusive_sum(__popc(heads.bits)) - __popc(heads.bits);
  return heads;
}

// ROWS rows next to each other, the end of row `first` + l among A's entries in lane l, and all ones in the other lanes.
template <u32 ROWS> struct RowRun {
  u32 first;
  Position stop;
  // Which row an entry belongs to, counted from the first. All lanes call.
  __device__ u32 row_of(Position entry) const {
    u32 row = 0;
#pragma unroll
    for (u32 step = ROWS / 2; step > 0; step /= 2) {
      if (shuffle(stop, row + step - 1) <= entry) row += step;
    }
    return row;
  }
};

// As `expand`, for A's entries begin .. end of several rows: the codes are row << bits | column. More products than there is
// room for are only counted.
template <u32 WIDTH, u32 BATCH, u32 ROWS, class Load, class Each>
__device__ inline u32 expand_rows(const Operands& x, const RowRun<ROWS>& run, u64 begin, u64 end, u32 bits, EscKeys<WIDTH> keys,
                                  WarpProducts* scratch, Load load, Each each) {
  u32 filled = 0;
  for_products<BATCH>(Share{0, 1}, x.a.indices, begin, end, x.b, 0, x.columns, false, scratch, [&](const Batch<BATCH>& p) {
    u32 column[BATCH], local[BATCH];
#pragma unroll
    for (u32 t = 0; t < BATCH; t++) {
      if (p.active[t]) column[t] = x.b.indices[p.b[t]];
    }
    load(p);
#pragma unroll
    for (u32 t = 0; t < BATCH; t++) local[t] = run.row_of(p.active[t] ? p.a[t] : Position(begin));
#pragma unroll
    for (u32 t = 0; t < BATCH; t++) {
      const bool keep = p.active[t] && admitted(x, run.first + local[t], column[t]);
      const u32 kept = __ballot_sync(full_warp, keep);
      const u32 i = filled + __popc(kept & lanes_below());
      if (keep && i < WIDTH) {
        keys.at(i) = (local[t] << bits | column[t]) * WIDTH + i;
        each(p, t, column[t], run.first + local[t], i);
      }
      filled += __popc(kept);
    }
  });
  return filled;
}

// Keys of the row's products that the mask admits; `each(t, i)` is told that product t of the batch became number i.
// Returns how many there are.
template <u32 WIDTH, u32 BATCH, class Load, class Each>
__device__ inline u32 expand(const Operands& x, u32 row, u32 base, EscKeys<WIDTH> keys, WarpProducts* scratch, Load load,
                             Each each) {
  u32 filled = 0;
  for_products<BATCH>(Share{0, 1}, x.a.indices, x.a.offsets[row], x.a.offsets[row + 1], x.b, 0, x.columns, false, scratch,
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
                          const u32 kept = __ballot_sync(full_warp, keep);
                          if (keep) {
                            const u32 i = filled + __popc(kept & lanes_below());
                            keys.at(i) = (column[t] - base) * WIDTH + i;
                            each(p, t, column[t], i);
                          }
                          filled += __popc(kept);
                        }
                      });
  return filled;
}

}  // namespace oplus
