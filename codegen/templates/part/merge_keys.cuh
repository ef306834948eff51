// Rows and columns of a tile's entries as keys in shared memory: nobody has to know where rows begin.
#include "part/merge.cuh"
#include "thread/banks.cuh"
#include "thread/quad.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

// A tile's entries, A's and then B's. Each operand's begin as far from a multiple of four as in memory, and one place or more behind
// them is above all keys. A key is a row's number, 1 the tile's first one's, and a column below 1 << shift; before that, where a row
// begins, its number, and elsewhere 0.
struct MergeTile {
  static constexpr u32 segment = 128, room = entry_tile + segment;  // a warp's quads; some are left, and threads read past their own

  alignas(16) u64 keys[bank_place<u64>(room) + 1];
  u32 numbers[room / segment + 1];  // at each segment's first place
};

template <class Key> struct MergeKeys {
  Key* keys;     // shared
  u32* numbers;  // shared
  u32 shift;

  __device__ MergeKeys(MergeTile& tile, u32 column_bits)
      : keys(reinterpret_cast<Key*>(tile.keys)), numbers(tile.numbers), shift(sizeof(Key) == 8 ? 32 : column_bits) {}
  __device__ Key operator[](u32 place) const { return keys[bank_place<Key>(place)]; }
  __device__ Key key(u32 number, u32 column) const { return Key(number) << shift | column; }
  // Counted from the tile's first.
  __device__ u32 row(Key key) const { return u32(key >> shift) - 1; }
  __device__ u32 column(Key key) const { return u32(key) & u32((u64(1) << shift) - 1); }

  // All of so many THREADS call.
  template <u32 THREADS> __device__ void clear() {
    constexpr u32 quads = (bank_place<Key>(MergeTile::room) * sizeof(Key) + 15) / 16;
#pragma unroll
    for (u32 i = 0; i < quads; i += THREADS) {
      if (i + threadIdx.x < quads) reinterpret_cast<Quad<u32>*>(keys)[i + threadIdx.x] = {};
    }
  }

  // A thread's own entries, for loops over them that are not written out. Nobody needs the others' any more. All threads call; has a barrier.
  template <u32 ITEMS> __device__ void keep(const Key (&merged)[ITEMS]) {
    __syncthreads();
#pragma unroll
    for (u32 t = 0; t < ITEMS; t++) keys[t * (entry_tile / ITEMS) + threadIdx.x] = merged[t];
  }
  template <u32 ITEMS> __device__ Key kept(u32 t) const { return keys[t * (entry_tile / ITEMS) + threadIdx.x]; }

  // Of a row that has the places [from, to).
  __device__ void mark(u32 from, u32 to, u32 number) {
    constexpr u32 segment = MergeTile::segment;
    if (from >= to) return;
    keys[bank_place<Key>(from)] = number;
    for (u32 s = (from + segment - 1) / segment; s * segment < to; s++) numbers[s] = number;
  }
  // Four entries, from a multiple of four places on. Columns of ~0 are none: shorter keys are above all with them, whatever the row.
  template <class Row> __device__ void fill(u32 place, const Quad<u32>& column, Row number) {
    Key* const there = keys + bank_place<Key>(place);
#pragma unroll
    for (u32 s = 0; s < 4; s++) {
      const u32 row = number(s);
      there[s] = key(sizeof(Key) == 8 && column.x[s] == ~0u ? ~0u : row, column.x[s]);
    }
  }
};

// The keys of a quad's entries, by the marks. Whole warps call.
template <class Key> __device__ inline void fill_marked(MergeKeys<Key>& keys, u32 quad, const Quad<u32>& column) {
  const u32 place = 4 * quad;
  u32 marks[4], latest = 0;
#pragma unroll
  for (u32 s = 0; s < 4; s++) {
    marks[s] = u32(keys.keys[bank_place<Key>(place) + s]);
    latest = marks[s] ? marks[s] : latest;
  }
  // The last row that begins at the quads before.
  const u32 others = __ballot_sync(full_warp, latest != 0) & lanes_below();
  u32 number = shuffle(latest, (31 - u32(__clz(i32(others)))) & 31);
  if (!others) number = keys.numbers[place / MergeTile::segment];
  keys.fill(place, column, [&](u32 s) { return number = marks[s] ? marks[s] : number; });
}

}  // namespace oplus
