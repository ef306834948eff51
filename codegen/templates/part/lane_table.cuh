// A hash table of columns for each lane of a warp, across the banks of shared memory.
#include "part/spgemm.cuh"
#include "thread/quad.cuh"
#include "thread/sort.cuh"

namespace oplus {

// Columns of a lane by open addressing. Slots are looked at a bucket at a time, so that hardly any lane has to look twice.
template <u32 SLOTS> struct LaneTable {
  static constexpr u32 bits = log2_of(SLOTS), bytes = SLOTS * 32 * 4, bucket = 4;
  static constexpr u32 empty = 0xffffffffu;  // no column: those are smaller
  static_assert(SLOTS == 1u << bits && SLOTS >= 8 && SLOTS <= 32, "a power of two, a bit each in a word");

  u32* keys;  // [SLOTS · 32], of the warp
  u32* own;   // the lane's first bucket
  u32 used;   // bit s: slot s has a column
  u32 lost;   // 1 if there was no room for one

  __device__ LaneTable(u32* keys) : keys(keys), own(keys + lane_id() * bucket), used(0), lost(0) {}

  // The lane's bucket from slot `first` on, a multiple of four.
  __device__ u32* slots(u32 first) const { return own + first * 32; }

  __device__ void clear() {
    used = lost = 0;
#pragma unroll
    for (u32 s = 0; s < SLOTS; s += bucket) *reinterpret_cast<Quad<u32>*>(slots(s)) = {{empty, empty, empty, empty}};
  }
  static __device__ u32 home(u32 column) { return column * 0x9e3779b1u >> (32 - bits) & ~(bucket - 1); }
  // Where the column stands in the bucket that begins at slot `first`; `bucket` if it is not there.
  __device__ u32 look(u32 column, u32 first) const {
    const Quad<u32> here = *reinterpret_cast<const Quad<u32>*>(slots(first));
    u32 at = bucket;
#pragma unroll
    for (u32 i = 0; i < bucket; i++) at = here.x[i] == column ? i : at;
    return at;
  }
  // The slot in its home where the column stands; `nowhere` if it is not there.
  static constexpr u32 nowhere = SLOTS;
  __device__ u32 slot_at_home(u32 column) const {
    const u32 first = home(column), at = look(column, first);
    return at < bucket ? first + at : nowhere;
  }
  // use(slot, fresh) for a column that is not in its home, which begins at slot `first`: it is further on, or `fresh`; or is lost.
  template <class Use> __device__ void settle(u32 column, u32 first, Use use) {
#pragma unroll 1
    for (u32 tries = 0; tries < SLOTS / bucket; tries++) {
      // Buckets fill from their first slot on.
      u32 at = u32(__popc(used >> first & (1u << bucket) - 1));
      if (at < bucket) {
        slots(first)[at] = column;
        used |= 1u << (first + at);
        return use(first + at, true);
      }
      first = (first + bucket) & (SLOTS - 1);
      at = look(column, first);
      if (at < bucket) return use(first + at, false);
    }
    lost = 1;
  }
  // use(slot, fresh) for a column: it is there, or `fresh`; or is lost.
  template <class Use> __device__ void put(u32 column, Use use) {
    const u32 first = home(column), at = look(column, first);
    if (at < bucket) use(first + at, false);
    else settle(column, first, use);
  }
  // The column in a slot of the table of the lane `by` lanes on.
  __device__ u32 column_of(u32 by, u32 slot) const { return own[(slot & ~(bucket - 1)) * 32 + by * bucket + (slot & (bucket - 1))]; }
  // The lanes' columns, ascending, at most WIDTH each: number j of a lane to keys[32 · j + lane] as column · SLOTS + slot. Whole warps call.
  template <u32 WIDTH> __device__ void sort() {
    u32 key[WIDTH];
#pragma unroll
    for (u32 j = 0; j < WIDTH; j++) {
      key[j] = empty;
      if (used) {
        const u32 slot = u32(__ffs(i32(used))) - 1;
        key[j] = column_of(0, slot) << bits | slot;
        used &= used - 1;
      }
    }
    thread_sort(key);
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < WIDTH; j++) keys[32 * j + lane_id()] = key[j];
    __syncwarp();
  }
  __device__ void sort_some(u32 most) {
    if (most <= 8) sort<8>();
    else if (SLOTS <= 16 || most <= 16) sort<SLOTS < 16 ? SLOTS : 16>();
    else sort<SLOTS>();
  }
};

}  // namespace oplus
