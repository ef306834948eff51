// Rows of at most WIDTH products, a thread a row: keys through shared memory into registers, sorted there by a network.
#include "part/spgemm.cuh"
#include "thread/sort.cuh"

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

// Product p of a lane's row stands at 32·p + lane: any lane reads any of its own without bank conflicts.
template <u32 WIDTH> struct ThreadRows {
  static constexpr u32 bits = WIDTH == 16 ? 4 : 5, bytes = WIDTH * 32 * sizeof(Key);
  static constexpr u32 ahead = WIDTH > 16 ? 8 : 4;  // entries of B loaded together
  // Warps that a multiprocessor's registers should hold.
  static constexpr u32 resident_warps = WIDTH > 16 ? 16 : 24;
  static_assert(WIDTH == 1u << bits, "16 or 32");

  Key* keys;  // [WIDTH · 32], of this warp

  // load(a, b, t) before any use(a, column, t, p) of the same stretch of B, t < ahead; p is the place of the product. Returns
  // how many products the row has.
  template <class Load, class Use>
  __device__ u32 expand(const Operands& x, bool live, u32 row, Load load, Use use) const {
    Position a = 0, a_end = 0, b = 0, b_end = 0;
    if (live) {
      a = Position(x.a.offsets[row]);
      a_end = Position(x.a.offsets[row + 1]);
    }
    if (a < a_end) {
      const u32 k = x.a.indices[a];
      b = Position(x.b.offsets[k]);
      b_end = Position(x.b.offsets[k + 1]);
    }
    u32 n = 0, place = lane_id();
    while (a < a_end) {
      // The next row of B is known before this one is done.
      Position next = 0, next_end = 0;
      if (a + 1 < a_end) {
        const u32 k = x.a.indices[a + 1];
        next = Position(x.b.offsets[k]);
        next_end = Position(x.b.offsets[k + 1]);
      }
      for (; b < b_end; b += ahead) {
        u32 column[ahead];
#pragma unroll
        for (u32 t = 0; t < ahead; t++) {
          if (b + t < b_end) {
            column[t] = x.b.indices[b + t];
            load(a, b + t, t);
          }
        }
#pragma unroll
        for (u32 t = 0; t < ahead; t++) {
          if (b + t < b_end && admitted(x, row, column[t])) {
            keys[place] = Key(column[t]) << bits | n;
            use(a, column[t], t, place);
            n++;
            place += 32;
          }
        }
      }
      a++;
      b = next;
      b_end = next_end;
    }
    return n;
  }

  // The row's keys in ascending order, `no_product` behind the n-th.
  __device__ void sort(u32 n, Key (&key)[WIDTH]) const {
#pragma unroll
    for (u32 s = 0; s < WIDTH; s++) key[s] = s < n ? keys[s * 32 + lane_id()] : no_product;
    thread_sort(key);
  }
  static __device__ u32 column(Key key) { return u32(key >> bits); }
  // Where in shared memory the term of a sorted product stands.
  static __device__ u32 place(Key key) { return u32(key & (WIDTH - 1)) * 32 + lane_id(); }
  // Bit s: sorted product s is the last of its column. Behind the n-th all keys are one.
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
