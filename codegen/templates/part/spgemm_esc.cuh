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

  // The first n keys, ascending.
  __device__ void sort(u32 n) const {
    u32 key[per_lane];
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < per_lane; j++) key[j] = j * 32 + lane_id() < n ? at(j * 32 + lane_id()) : none;
    warp_sort_many<per_lane>(key);
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < per_lane; j++) at(lane_id() * per_lane + j) = key[j];
    __syncwarp();
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
