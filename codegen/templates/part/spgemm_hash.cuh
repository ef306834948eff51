// Rows of few columns: a hash table a warp, its columns sorted in registers in the end.
#include "part/spgemm.cuh"
#include "warp/sort_many.cuh"

namespace oplus {

// Columns by open addressing. Columns are below 2^32 / SLOTS, so that column and slot make one key.
template <u32 SLOTS> struct WarpTable {
  static constexpr u32 bits = SLOTS == 128 ? 7 : SLOTS == 256 ? 8 : SLOTS == 512 ? 9 : 10, bytes = SLOTS * 4;
  static constexpr u32 empty = 0xffffffffu, most = SLOTS - 32;  // columns before a step of 32 more
  static_assert(SLOTS == 1u << bits, "128, 256, 512 or 1024");

  u32* keys;  // [SLOTS]

  __device__ void clear() const {
    u64* const pairs = reinterpret_cast<u64*>(keys);
#pragma unroll 4
    for (u32 i = lane_id(); i < SLOTS / 2; i += 32) pairs[i] = ~0ull;
  }
  // The column's slot; `fresh` if it was not there. There is an empty one for each. Whole warps call: lanes that went on probing by
  // themselves would cost more than those that wait.
  __device__ u32 find(bool active, u32 column, bool& fresh) const {
    u32 at = column * 0x9e3779b1u >> (32 - bits);
    fresh = false;
    for (bool looking = active;;) {
      u32 seen = column;
      if (looking) seen = const_cast<volatile u32*>(keys)[at];
      if (__any_sync(full_warp, seen == empty)) {
        if (seen == empty) {
          seen = atomicCAS(&keys[at], empty, column);
          fresh = seen == empty;
          if (fresh) seen = column;
        }
      }
      looking = seen != column;
      if (!__any_sync(full_warp, looking)) return at;
      if (looking) at = (at + 1) & (SLOTS - 1);
    }
  }
  // Keys of the columns side by side at the beginning: column · SLOTS + slot. Returns how many there are.
  __device__ u32 collect() const {
    u32 n = 0;
    for (u32 tile = 0; tile < SLOTS; tile += 32) {
      const u32 at = tile + lane_id(), column = keys[at];
      const u32 there = __ballot_sync(full_warp, column != empty);
      __syncwarp();  // all have read before any writes here
      if (column != empty) keys[n + __popc(there & lanes_below())] = column << bits | at;
      n += __popc(there);
      __syncwarp();
    }
    return n;
  }
  template <u32 K> __device__ void sort_some(u32 n) const {
    u32 key[K];
#pragma unroll
    for (u32 j = 0; j < K; j++) key[j] = j * 32 + lane_id() < n ? keys[j * 32 + lane_id()] : empty;
    warp_sort_many<K>(key);
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < K; j++) keys[lane_id() * K + j] = key[j];
    __syncwarp();
  }
  // The first n keys, ascending.
  __device__ void sort(u32 n) const {
    if (n <= 32) sort_some<1>(n);
    else if (n <= 64) sort_some<2>(n);
    else if (SLOTS == 128 || n <= 128) sort_some<4>(n);
    else if constexpr (SLOTS > 128) {
      if (SLOTS == 256 || n <= 256) sort_some<8>(n);
      else if constexpr (SLOTS > 256) {
        if (SLOTS == 512 || n <= 512) sort_some<16>(n);
        else if constexpr (SLOTS > 512) sort_some<32>(n);
      }
    }
  }
};

// The row's columns that the mask admits go into the table. load(p) before any use(p, t, active, column, slot) of a batch; whole
// warps call `use`. Returns how many columns there are, or ~0 if there are too many.
template <u32 SLOTS, u32 BATCH, class Load, class Use>
__device__ inline u32 hash_products(const WarpTable<SLOTS>& table, const Operands& x, bool live, u32 row, WarpProducts* scratch,
                                    Load load, Use use) {
  u32 n = 0;
  bool failed = false;
  if (!live) return 0;
  for_products<BATCH>(Share{0, 1}, x.a.indices, x.a.offsets[row], x.a.offsets[row + 1], x.b, 0, x.columns, false, scratch,
                      [&](const Batch<BATCH>& p) {
                        if (failed) return;
                        u32 column[BATCH];
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          if (p.active[t]) column[t] = x.b.indices[p.b[t]];
                        }
                        load(p);
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          if (n > WarpTable<SLOTS>::most) failed = true;
                          if (failed) continue;
                          const bool active = p.active[t] && admitted(x, row, column[t]);
                          bool fresh;
                          const u32 slot = table.find(active, active ? column[t] : 0, fresh);
                          n += __popc(__ballot_sync(full_warp, fresh));
                          use(p, t, active, active ? column[t] : 0, slot);
                        }
                      });
  __syncwarp();
  return failed ? 0xffffffffu : n;
}

}  // namespace oplus
