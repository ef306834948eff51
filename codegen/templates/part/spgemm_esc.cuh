// Rows of at most WIDTH products: expanded into shared memory, sorted by column in a warp's registers.
#include "part/spgemm.cuh"
#include "warp/sort_many.cuh"

namespace oplus {

// Which of a warp's sorted keys are the first of their code: lane l holds those of keys l << log .. (l + 1) << log.
struct Heads {
  struct Place {
    bool head;
    u32 rank;  // heads before it
  };
  u32 bits, before, log;
  __device__ static Heads of(u32 bits, u32 log) { return {bits, warp_inclusive_sum(u32(__popc(bits))) - __popc(bits), log}; }
  // Key i's; all lanes call.
  __device__ Place at(u32 i) const {
    const u32 bit = 1u << (i & ((1u << log) - 1)), word = shuffle(bits, i >> log);
    return {(word & bit) != 0, shuffle(before, i >> log) + __popc(word & (bit - 1))};
  }
  __device__ u32 all() const { return shuffle(before + __popc(bits), 31); }
};

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
    sort_to<FIT, K>(n, [](const auto&) {});
  }
  // The same, and where columns begin: found while the keys are in registers where they are few.
  template <bool FIT> __device__ __forceinline__ Heads sort_and_find(u32 n) const {
    u32 bits = 0, log = 5;
    if constexpr (per_lane <= 8) {
      sort_to<FIT, per_lane>(n, [&](const auto& key) {
        log = log2_of(sizeof(key) / sizeof(*key));
        bits = heads_of(key, n);
      });
    } else {
      sort<FIT>(n);
      for (u32 tile = 0; tile < n; tile += 32) {
        const u32 i = tile + lane_id();
        const u32 word = __ballot_sync(full_warp, i < n && (i == 0 || differ(at(i - 1), at(i))));
        if (lane_id() == tile / 32) bits = word;
      }
    }
    return Heads::of(bits, log);
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
  // f(i, key, place) for every sorted key, 32 at a time.
  template <class F> __device__ void for_sorted(u32 n, const Heads& heads, F f) const {
    for (u32 tile = 0; tile < n; tile += 32) {
      const u32 i = tile + lane_id();
      f(i, i < n ? at(i) : none, heads.at(i));
    }
  }

 private:
  // Codes are what is above the number of the product.
  __device__ static bool differ(u32 key, u32 other) { return (key ^ other) >= WIDTH; }
  template <bool FIT, u32 K, class F> __device__ __forceinline__ void sort_to(u32 n, F f) const {
    if constexpr (FIT && K > 1) {
      if (n <= 16 * K) return sort_to<FIT, K / 2>(n, f);
    }
    u32 key[K];
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < K; j++) key[j] = j * 32 + lane_id() < n ? at(j * 32 + lane_id()) : none;
    warp_sort_many<K>(key);
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < K; j++) at(lane_id() * K + j) = key[j];
    f(key);
    __syncwarp();
  }
  // Which of the lane's keys, of n in all, are the first of their code.
  template <u32 K> __device__ static u32 heads_of(const u32 (&key)[K], u32 n) {
    const u32 before = shuffle_up(key[K - 1], 1), first = lane_id() * K;
    u32 bits = lane_id() == 0;
#pragma unroll
    for (u32 j = 0; j < K; j++) {
      if (differ(key[j], j ? key[j - 1] : before)) bits |= 1u << j;
    }
    return n >= first + K ? bits : n > first ? bits & ((1u << (n - first)) - 1) : 0;
  }
};

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

// Of a batch's products those that the mask admits: whether the lane's is one, how many there are, and in the lanes before.
struct Kept {
  bool mine;
  u32 all, before;
  template <u32 BATCH> __device__ Kept(const Operands& x, u32 row, const Batch<BATCH>& p, u32 t, u32 column) {
    mine = p.active[t] && admitted(x, row, column);
    if constexpr (flag::masked) {
      const u32 kept = __ballot_sync(full_warp, mine);
      all = __popc(kept);
      before = __popc(kept & lanes_below());
    } else {
      all = p.lanes[t];
      before = lane_id();
    }
  }
};

// As `expand`, for A's entries begin .. end of several rows: the codes are row << bits | column. More products than there is
// room for are only counted.
template <u32 WIDTH, u32 BATCH, u32 ROWS, class Load, class Each>
__device__ inline u32 expand_rows(const Operands& x, const RowRun<ROWS>& run, u64 begin, u64 end, u32 bits, EscKeys<WIDTH> keys,
                                  WarpProducts* scratch, Load load, Each each) {
  u32 filled = 0, row = 0;
  Position round = ~Position(0);
  for_products<BATCH, 0>(Share{0, 1}, x.a.indices, begin, end, x.b, 0, x.columns, false, scratch, [&](const Batch<BATCH>& p) {
    u32 column[BATCH], local[BATCH];
#pragma unroll
    for (u32 t = 0; t < BATCH; t++) {
      if (p.active[t]) column[t] = x.b.indices[p.b[t]];
    }
    load(p);
    if (p.first != round) {
      round = p.first;
      row = run.row_of(p.first + lane_id());
    }
#pragma unroll
    for (u32 t = 0; t < BATCH; t++) local[t] = ROWS > 1 ? shuffle(row, u32(p.a[t] - p.first)) : 0;
#pragma unroll
    for (u32 t = 0; t < BATCH; t++) {
      const Kept kept(x, run.first + local[t], p, t, column[t]);
      const u32 i = filled + kept.before;
      if (kept.mine && i < WIDTH) {
        keys.at(i) = (local[t] << bits | column[t]) * WIDTH + i;
        each(p, t, column[t], run.first + local[t], i);
      }
      filled += kept.all;
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
  for_products<BATCH, 0>(Share{0, 1}, x.a.indices, x.a.offsets[row], x.a.offsets[row + 1], x.b, 0, x.columns, false, scratch,
                      [&](const Batch<BATCH>& p) {
                        u32 column[BATCH];
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          if (p.active[t]) column[t] = x.b.indices[p.b[t]];
                        }
                        load(p);
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          const Kept kept(x, row, p, t, column[t]);
                          if (kept.mine) {
                            const u32 i = filled + kept.before;
                            keys.at(i) = (column[t] - base) * WIDTH + i;
                            each(p, t, column[t], i);
                          }
                          filled += kept.all;
                        }
                      });
  return filled;
}

}  // namespace oplus
