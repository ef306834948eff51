// Rows of few columns: a hash table for each, its columns sorted in the end. A warp has a row, or each group of its lanes does.
#include "part/spgemm.cuh"
#include "thread/quad.cuh"
#include "warp/sort_many.cuh"

namespace oplus {

// Columns by open addressing. FITTED: in the first `used` of SLOTS slots, and what a row of few products does not need is neither
// cleared nor looked through; else in all. Columns are below 2^32 / SLOTS, so that column and slot make one key. Whole warps call, whose lanes may have tables of
// their own where that is not said to be one.
template <u32 SLOTS, bool FITTED> struct HashTable {
  static constexpr u32 bits = log2_of(SLOTS), bytes = SLOTS * 4;
  static constexpr u32 empty = 0xffffffffu, full = 0xfffffffeu;  // no columns: those are smaller
  static constexpr u32 bucket = 4;
  static_assert(SLOTS == 1u << bits && SLOTS >= 32 && SLOTS <= 1024, "a power of two");

  u32* keys;  // [SLOTS]
  u32 used;   // a power of two from 32 to SLOTS; unless FITTED nobody asks

  __device__ u32 size() const { return FITTED ? used : SLOTS; }

  // So many slots are enough for rows of no more products, and half of them stay empty.
  __device__ static u32 slots_for(u32 products) {
    if (products > SLOTS / 4) return SLOTS;
    return products <= 16 ? 32 : 1u << (33 - __clz(products - 1));
  }
  // One table.
  __device__ void clear() const {
    u64* const pairs = reinterpret_cast<u64*>(keys);
    if constexpr (FITTED) {
#pragma unroll 1
      for (u32 i = lane_id(); i < used / 2; i += 32) pairs[i] = ~0ull;
    } else {
#pragma unroll 4
      for (u32 i = lane_id(); i < SLOTS / 2; i += 32) pairs[i] = ~0ull;
    }
  }
  // The column's slot, and in `fresh` the lanes whose column was not there. There is an empty one for each. Lanes that went on probing
  // by themselves would cost more than those that wait; slots are looked at a bucket at a time, so that hardly any has to look twice.
  __device__ u32 find(bool active, u32 column, u32& fresh) const {
    u32 first = (column * 0x9e3779b1u >> (__clz(size()) + 1)) & ~(bucket - 1), at = first;
    bool searching = active, mine = false;
    do {
      if (searching) {
        u32 seen = full;
        // Buckets fill from their first slot on.
        const Quad<u32> here = quad_of_shared(keys + first);
#pragma unroll
        for (u32 i = bucket; i-- > 0;) {
          if (here.x[i] == column || here.x[i] == empty) {
            seen = here.x[i];
            at = first + i;
          }
        }
        if (seen == empty) {
          seen = atomicCAS(&keys[at], empty, column);
          mine = seen == empty;
          if (mine) seen = column;
        } else if (seen == full) {
          first = (first + bucket) & (size() - 1);
        }
        searching = seen != column;
      }
    } while (__any_sync(full_warp, searching));
    fresh = __ballot_sync(full_warp, mine);
    return at;
  }
  // Of one table: keys of the columns side by side at the beginning: column · SLOTS + slot. Returns how many there are.
  __device__ u32 collect() const {
    u32 n = 0;
    for (u32 tile = 0; tile < size(); tile += 32) {
      const u32 at = tile + lane_id(), column = keys[at];
      const u32 there = __ballot_sync(full_warp, column != empty);
      __syncwarp();  // all have read before any writes here
      if (column != empty) keys[n + __popc(there & lanes_below())] = column << bits | at;
      n += __popc(there);
      __syncwarp();
    }
    return n;
  }
  // 32·K keys from `from` on, of n in all.
  template <u32 K> __device__ void sort_some(u32 from, u32 n) const {
    u32 key[K];
#pragma unroll
    for (u32 j = 0; j < K; j++) key[j] = from + j * 32 + lane_id() < n ? keys[from + j * 32 + lane_id()] : empty;
    warp_sort_many<K>(key);
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < K; j++) keys[from + lane_id() * K + j] = key[j];
    __syncwarp();
  }
  // Blocks of 256 keys, and by neighbours that leave the smaller keys to the one before, all of them. Few rows have more than one:
  // networks of 512 and 1024 keys in registers would be most of the compiler's time.
  __device__ void sort_blocks(u32 n) const {
    constexpr u32 size = 256;
    const u32 blocks = SLOTS == size ? 1 : (n + size - 1) / size, rounds = blocks < 3 ? blocks : blocks + 1;
#pragma unroll 1
    for (u32 round = 0; round < rounds; round++) {
      for (u32 b = (round + 1) % 2; round > 0 && b + 1 < blocks; b += 2) {
        u32* const low = keys + b * size;
        for (u32 i = lane_id(); i < size; i += 32) sort_pair(low[i], low[2 * size - 1 - i]);
      }
      __syncwarp();
#pragma unroll 1
      for (u32 b = 0; b < blocks; b++) sort_some<size / 32>(b * size, round == 0 ? n : blocks * size);
    }
  }
  // Of one table: the first n keys, ascending.
  __device__ void sort(u32 n) const {
    if (SLOTS == 32 || n <= 32) sort_some<1>(0, n);
    else if constexpr (SLOTS == 64) sort_some<2>(0, n);
    else if (n <= 64) sort_some<2>(0, n);
    else if (SLOTS == 128 || n <= 128) sort_some<4>(0, n);
    else if constexpr (SLOTS > 128) sort_blocks(n);
  }
  // Of the lanes' tables, LANES lanes each, with at most 32 keys: the first n, ascending, by counting how many are smaller.
  template <u32 LANES> __device__ void sort_each(u32 n, u32 most) const {
    constexpr u32 own = 32 / LANES;
    const u32 lane = lane_id() % LANES;
    u32 key[own], rank[own];
#pragma unroll
    for (u32 j = 0; j < own; j++) {
      const u32 i = j * LANES + lane;
      key[j] = i < n ? keys[i] : empty;
      rank[j] = 0;
    }
    for (u32 i = 0; i < most; i++) {
      const u32 other = i < n ? keys[i] : empty;
#pragma unroll
      for (u32 j = 0; j < own; j++) rank[j] += other < key[j];
    }
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < own; j++) {
      if (key[j] != empty) keys[rank[j]] = key[j];
    }
    __syncwarp();
  }
};

// The rows of B that the next LANES entries of A name, an entry a lane.
template <u32 LANES> __device__ inline Round load_rows(const u32* a_indices, Position first, Position end, Rows b) {
  Round round = {0, 0};
  const u32 lane = lane_id() % LANES;
  if (lane < end - first) {
    const u32 k = a_indices[first + lane];
    round.begin = Position(b.offsets[k]);
    round.left = Position(b.offsets[k + 1]) - round.begin;
  }
  return round;
}

// The slots that a warp's row can do with, of which A's entries are [at, end).
template <u32 SLOTS> __device__ inline u32 slots_needed(const Operands& x, Position at, Position end) {
  const Round round = load_rows<32>(x.a.indices, at, end, x.b);
  const u32 products = warp_sum(round.left < SLOTS ? u32(round.left) : SLOTS);
  return HashTable<SLOTS, true>::slots_for(end - at > 32 ? SLOTS : products);
}

// The columns of 32 products go into their tables, of LANES lanes each, and are used. `n`: how many a table has; `failed` once it has
// more than MOST: then there might not be room for all.
template <u32 LANES, u32 SLOTS, bool FITTED, u32 BATCH, u32 MOST = SLOTS - LANES, class Use>
__device__ inline void put_column(const HashTable<SLOTS, FITTED>& table, const Operands& x, u32 row, const Batch<BATCH>& p, u32 t, u32 column,
                                  u32& n, bool& failed, Use use) {
  static_assert(MOST <= SLOTS - LANES, "each lane might bring a new one");
  if (n > MOST) failed = true;
  const bool active = p.active[t] && !failed && admitted(x, row, column);
  u32 fresh;
  const u32 slot = table.find(active, active ? column : 0, fresh);
  n += __popc(LANES == 32 ? fresh : fresh >> (lane_id() & ~(LANES - 1)) & ((1u << LANES % 32) - 1));
  use(p, t, active, active ? column : 0, slot);
}

// The columns of A's entries [first, last) that the mask admits go into the table of a warp's row, products side by side. load(p, t)
// before any use(p, t, active, column, slot) of a batch; whole warps call `use`. `n`: how many columns it has; `failed` if these are
// more than MOST.
template <u32 SLOTS, bool FITTED, u32 BATCH, u32 MOST = SLOTS - 32, class Load, class Use>
__device__ inline void put_columns(const HashTable<SLOTS, FITTED>& table, const Operands& x, u32 row, u64 first, u64 last,
                                   WarpProducts* scratch, u32& n, bool& failed, Load load, Use use) {
  for_products<BATCH, 0>(Share{0, 1}, x.a.indices, first, last, x.b, 0, x.columns, false, scratch,
                      [&](const Batch<BATCH>& p) {
                        if (failed) return;
                        u32 column[BATCH];
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          if (p.active[t]) column[t] = x.b.indices[p.b[t]];
                        }
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) load(p, t);
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          if (!failed) put_column<32, SLOTS, FITTED, BATCH, MOST>(table, x, row, p, t, column[t], n, failed, use);
                        }
                      });
  __syncwarp();
}

// Of the whole row: how many columns there are, or ~0 if there are too many.
template <u32 SLOTS, bool FITTED, u32 BATCH, class Load, class Use>
__device__ inline u32 warp_columns(const HashTable<SLOTS, FITTED>& table, const Operands& x, bool live, u32 row, WarpProducts* scratch,
                                   Load load, Use use) {
  u32 n = 0;
  bool failed = false;
  if (!live) return 0;
  put_columns<SLOTS, FITTED, BATCH>(table, x, row, x.a.offsets[row], x.a.offsets[row + 1], scratch, n, failed, load, use);
  return failed ? 0xffffffffu : n;
}

// The same of LANES lanes a row, each group with its own: rows of B one after the other, in each of which columns are distinct.
template <u32 LANES, u32 SLOTS, bool FITTED, u32 BATCH, class Load, class Use>
__device__ inline u32 group_columns(const HashTable<SLOTS, FITTED>& table, const Operands& x, bool live, u32 row, Load load, Use use) {
  static_assert(LANES % BATCH == 0, "");
  const u32 lane = lane_id() % LANES;
  Position at = live ? Position(x.a.offsets[row]) : 0;
  const Position end = live ? Position(x.a.offsets[row + 1]) : 0;
  u32 n = 0;
  bool failed = false;
  Round next = load_rows<LANES>(x.a.indices, at, end, x.b);
  while (__any_sync(full_warp, at < end)) {
    const Round round = next;
    const Position now = at;
    at = end - at > LANES ? at + LANES : end;
    next = load_rows<LANES>(x.a.indices, at, end, x.b);
    // Not unrolled: the body is long.
#pragma unroll 1
    for (u32 e = 0; e < LANES; e += BATCH) {
      Batch<BATCH> p;
      Position length[BATCH];
      u32 column[BATCH];
      bool any = false;
#pragma unroll
      for (u32 t = 0; t < BATCH; t++) {
        length[t] = shuffle(round.left, e + t, LANES);
        p.a[t] = now + (e + t);
        p.b[t] = shuffle(round.begin, e + t, LANES) + lane;
        p.active[t] = lane < length[t] && !failed;
        p.group[t] = 0;
        p.groups[t] = 1;
        any |= p.active[t];
      }
      if (!__any_sync(full_warp, any)) continue;
#pragma unroll
      for (u32 t = 0; t < BATCH; t++) {
        if (p.active[t]) column[t] = x.b.indices[p.b[t]];
        load(p, t);
      }
#pragma unroll
      for (u32 t = 0; t < BATCH; t++) {
        put_column<LANES>(table, x, row, p, t, column[t], n, failed, use);
        // What of the row of B goes beyond the lanes.
        for (Position done = lane + LANES; __any_sync(full_warp, done < length[t] && !failed); done += LANES) {
          p.active[t] = done < length[t] && !failed;
          p.b[t] += LANES;
          if (p.active[t]) column[t] = x.b.indices[p.b[t]];
          load(p, t);
          put_column<LANES>(table, x, row, p, t, column[t], n, failed, use);
        }
      }
    }
  }
  __syncwarp();
  return failed ? 0xffffffffu : n;
}

}  // namespace oplus
