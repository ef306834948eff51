// Rows of at most number::width products, a thread a row: keys through shared memory into registers, sorted there by a network.
#include "part/spgemm.cuh"
#include "thread/sort.cuh"
#include "warp/scan.cuh"

namespace oplus {

// Column and number of the product make one key. Without flag::wide columns are below 2^26, so that no key is `no_product`.
template <bool WIDE> struct ThreadKey {
  typedef u32 Type;
};
template <> struct ThreadKey<true> {
  typedef u64 Type;
};
typedef ThreadKey<flag::wide>::Type Key;
constexpr Key no_product = Key(~Key(0));

// Expanded by the warp together, neighbouring lanes at neighbouring entries of B, and sorted by each lane alone.
template <u32 WIDTH> struct ThreadRows {
  static constexpr u32 bits = WIDTH == 16 ? 4 : 5, bytes = WIDTH * 32 * sizeof(Key);
  static constexpr u32 ahead = 4;  // times 32 entries of B loaded together
  // Warps that a multiprocessor's registers should hold.
  static constexpr u32 resident_warps = WIDTH > 16 ? 16 : 20;
  static_assert(WIDTH == 1u << bits, "16 or 32");

  Key* keys;  // [WIDTH · 32], of this warp

  // An entry of A, in whose row it is, and the row of B that it names.
  struct Entry {
    u32 owner, length;
    Position a, b;
  };

  // Where product p of a lane's row stands: for one p in the lanes' own banks, and so for several of a row and its neighbour's.
  static __device__ u32 stand(u32 p, u32 lane) { return 32 * p + ((lane >> 1 | (lane & 1) << 4) ^ p); }
  // Where entry e of the rows side by side stands, which lanes with WIDTH of them each write in turn.
  static __device__ u32 compact(u32 e) { return e ^ (e >> bits & 31); }

  // The products of the lanes' rows, at most WIDTH each: load(a, b, t) of entries of A and B before use(a, column, t, p, row) of the same,
  // t < ahead; p is where the product stands. The entry of A is known with ENTRY alone. Returns how many the lane's row has.
  template <bool ENTRY, class Load, class Use>
  __device__ u32 expand(const Operands& x, bool live, u32 row, Load load, Use use) const {
    Position a = 0, entries = 0;
    if (live) {
      a = Position(x.a.offsets[row]);
      entries = Position(x.a.offsets[row + 1]) - a;
    }
    // Entry e of the warp is A's a + e, for the lane whose row it is in.
    const Position stop = warp_inclusive_sum(entries), start = stop - entries, all = shuffle(stop, 31);
    a -= start;
    const auto entry = [&](Position e) {
      Entry entry = {first_above(stop, e), 0, 0, 0};
      entry.a = shuffle(a, entry.owner) + e;
      if (e < all) {
        const u32 k = x.a.indices[entry.a];
        entry.b = Position(x.b.offsets[k]);
        entry.length = u32(Position(x.b.offsets[k + 1]) - entry.b);
      }
      return entry;
    };
    u32 n = 0;
    Entry next = entry(lane_id());
    for (Position base = 0; base < all; base += 32) {
      const Entry now = next;
      // The next rows of B are known before these are done.
      if (all - base > 32) next = entry(base + 32 + lane_id());
      const u32 upto = warp_inclusive_sum(now.length), sum = shuffle(upto, 31), before = upto - now.length;
      // This lane's row has entries from .. to of these 32.
      const u32 from = start <= base ? 0 : start - base < 32 ? u32(start - base) : 32;
      const u32 to = stop <= base ? 0 : stop - base < 32 ? u32(stop - base) : 32;
      const u32 first = shuffle(before, from & 31), last = shuffle(upto, (to - 1) & 31);
      // Product q of the round is the row's number q + (n - first); its lane fits beside it.
      const u32 number = shuffle(n - first, now.owner) << 5 | now.owner;
      if (from < to) n += last - first;
      const Position b = now.b - before;
      for (u32 tile = 0; tile < sum; tile += 32 * ahead) {
        u32 column[ahead], numbers[ahead];
        Position at[ahead];
#pragma unroll
        for (u32 t = 0; t < ahead; t++) {
          const u32 q = tile + 32 * t + lane_id();
          if (tile + 32 * t >= sum) continue;
          const u32 e = first_above(upto, q);
          const Position of_b = shuffle(b, e) + q;
          numbers[t] = shuffle(number, e) + (q << 5);
          at[t] = ENTRY ? shuffle(now.a, e) : Position(0);
          if (q < sum) {
            column[t] = x.b.indices[of_b];
            load(at[t], of_b, t);
          }
        }
#pragma unroll
        for (u32 t = 0; t < ahead; t++) {
          if (tile + 32 * t >= sum) continue;
          const u32 lane = numbers[t] & 31, p = numbers[t] >> 5 & (WIDTH - 1), place = stand(p, lane);
          const u32 of = shuffle(row, lane);
          if (tile + 32 * t + lane_id() >= sum) continue;
          const bool in = admitted(x, of, column[t]);
          keys[place] = in ? Key(column[t]) << bits | p : no_product;
          if (in) use(at[t], column[t], t, place, of);
        }
      }
    }
    __syncwarp();
    return n;
  }

  // The row's keys in ascending order, `no_product` behind those that a mask admits of n.
  __device__ void sort(u32 n, Key (&key)[WIDTH]) const {
#pragma unroll
    for (u32 s = 0; s < WIDTH; s++) key[s] = s < n ? keys[stand(s, lane_id())] : no_product;
    thread_sort(key);
  }
  static __device__ u32 column(Key key) { return u32(key >> bits); }
  // Where in shared memory the term of a sorted product stands.
  static __device__ u32 place(Key key) { return stand(u32(key & (WIDTH - 1)), lane_id()); }
  // Bit s: sorted product s is the last of its column. Behind the last all keys are one.
  static __device__ u32 tails(const Key (&key)[WIDTH]) {
    u32 tails = 0;
#pragma unroll
    for (u32 s = 0; s < WIDTH; s++) {
      const Key next = key[s + 1 < WIDTH ? s + 1 : s];
      if (s + 1 < WIDTH ? (key[s] ^ next) >= WIDTH : key[s] != no_product) tails |= 1u << s;
    }
    return tails;
  }
};

}  // namespace oplus
