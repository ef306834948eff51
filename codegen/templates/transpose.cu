// Entries of A moved to the places that partition.cu counted for a digit of their columns. Stable, so that in the end every
// column's entries are in the order of rows. `V` has the size of the value type; without values (null) positions alone are
// moved. Deterministic. Launches: README.md.
//
// A tile is brought into the order of digits in shared memory, so that what goes to one place is written side by side.
#include "block/team.cuh"
#include "block/tile_rows.cuh"
#include "device/partition.cuh"
#include "device/rows.cuh"

namespace oplus {

constexpr u32 move_warps = partition_block / 32, move_items = tuning::partition_items, move_segment = 32 * move_items;
constexpr u32 move_room = 8 * partition_tile;
static_assert(move_warps % 2 == 0, "bins are cleared by the word");
// Tiles of more rows than this have empty ones mostly: these are passed over by searches.
constexpr u64 move_rows = 16 * u64(partition_tile);

// Shared: the bins, later what is staged; each staged entry's digit; where the digits' entries go, less their first place; a
// team's scratch; a row a warp.
struct MoveMemory {
  unsigned char* bytes;
  u32 digits;
  __device__ unsigned short* bins() const { return reinterpret_cast<unsigned short*>(bytes); }
  template <class X> __device__ X* staged() const { return reinterpret_cast<X*>(bytes); }
  __device__ u32 room() const { return max(move_room, move_warps * 2 * digits); }
  __device__ unsigned short* digit() const { return reinterpret_cast<unsigned short*>(bytes + room()); }
  __device__ u64* to() const { return reinterpret_cast<u64*>(bytes + room() + 2 * partition_tile); }
  __device__ u64* scratch() const { return to() + digits; }
  __device__ u32* segments() const { return reinterpret_cast<u32*>(scratch() + 34); }
};

// out[…] = from(t) for the thread's t-th entry, whose place in the order of digits is place[t], of n.
template <class X, class From>
__device__ inline void move_out(const MoveMemory& s, u32 n, const u32 (&place)[move_items], X* out, From from) {
  constexpr u32 room = sizeof(X) <= 8 ? partition_tile : u32(move_room / sizeof(X));
  X* const staged = s.staged<X>();
  for (u32 low = 0; low < n; low += room) {
    __syncthreads();
#pragma unroll
    for (u32 t = 0; t < move_items; t++) {
      if (place[t] >= low && place[t] - low < room && place[t] < n) staged[place[t] - low] = from(t);
    }
    __syncthreads();
    const u32 high = min(n, low + room);
    for (u32 p = low + threadIdx.x; p < high; p += partition_block) out[s.to()[s.digit()[p]] + p] = staged[p - low];
  }
}

// The rows of the thread's entries, of A's compressed rows. `marks`: room for a tile. All threads call. Has barriers.
__device__ inline void find_rows(const u64* offsets, u64 rows, const PartTile& tile, u32 mine, u32* marks, u32* segments,
                                 u32 (&row)[move_items]) {
  __syncthreads();
  for (u32 i = threadIdx.x; i < partition_tile; i += partition_block) marks[i] = 0;
  const u64 end = tile.begin + tile.n;
  const RowRange range = rows_of_entries(offsets, rows, tile.begin, end);
  const bool few = range.last - range.first < move_rows;
  if (few) {
    mark_rows<partition_block, move_segment>({offsets, tile.begin, end, range.first, range.last, 0}, segments,
                                             [&](u32 place, u32 number) { marks[place] = number; });
  }
  __syncthreads();
  u32 carried = segments[threadIdx.x / 32];
#pragma unroll
  for (u32 t = 0; t < move_items; t++) {
    const u32 i = mine + t * 32;
    if (few) row[t] = range.first + number_at(marks[i], carried) - 1;
    else row[t] = i < tile.n ? row_of(offsets, range.first, range.last, tile.begin + i) : 0;
  }
}

// rows null: A's own compressed rows, else a row an entry. keys_out null: not wanted any more.
extern "C" __global__ void __launch_bounds__(partition_block, partition_block < 512 ? 5 : sizeof(V) > 8 ? 1 : 2)
transpose_move(const u32* keys, const u32* rows, const V* values, u64 row_count, const u64* offsets, u64 parts,
               const u64* begins, const u64* tiles, u32 shift, u32 bits, const u64* starts, u32* keys_out, u32* rows_out,
               V* values_out) {
  DYN_SHARED(unsigned char, bytes);
  if (blockIdx.x >= tiles[parts]) return;
  // Each warp has consecutive entries, so that warps, rounds and lanes are in the order of the input.
  const u32 digits = 1u << bits, warp = threadIdx.x / 32, mine = warp * move_segment + lane_id();
  const MoveMemory s = {bytes, digits};
  const PartTile tile = part_tile(parts, begins, tiles);
  const u32 n = tile.n;
  // First the digit, then with the place among the warp's of that digit below it, at last the place in the tile.
  u32 place[move_items];
#pragma unroll
  for (u32 t = 0; t < move_items; t++) {
    place[t] = mine + t * 32 < n ? keys[tile.begin + mine + t * 32] >> shift & (digits - 1) : 0;
  }
  unsigned short* const bins = s.bins();
  for (u32 i = threadIdx.x; i < move_warps * digits / 2; i += partition_block) s.staged<u32>()[i] = 0;
  __syncthreads();
  unsigned short* const own = bins + warp * digits;
#pragma unroll
  for (u32 t = 0; t < move_items; t++) {
    const bool inside = mine + t * 32 < n;
    const u32 digit = place[t];
    u32 peers = __ballot_sync(full_warp, inside);
    for (u32 b = 0; b < bits; b++) {
      const bool set = digit >> b & 1;
      const u32 same = __ballot_sync(full_warp, set);
      peers &= set ? same : ~same;
    }
    const u32 seen = own[digit], before = __popc(peers & lanes_below());
    __syncwarp();
    place[t] = digit << 16 | (seen + before);
    if (inside && before == 0) own[digit] = (unsigned short)(seen + __popc(peers));
    __syncwarp();
  }
  __syncthreads();
  // Digits one after the other, in each of them the warps.
  const u32 share = (digits + partition_block - 1) / partition_block, first = threadIdx.x * share;
  const u32 last = min(first + share, digits);
  u32 sum = 0, total;
  for (u32 d = first; d < last; d++) {
#pragma unroll 4
    for (u32 w = 0; w < move_warps; w++) {
      const u32 count = bins[w * digits + d];
      bins[w * digits + d] = (unsigned short)sum;
      sum += count;
    }
  }
  const Team<partition_block> team = {s.scratch()};
  const u32 start = team.exclusive_sum(sum, total);
  for (u32 d = first; d < last; d++) {
    s.to()[d] = starts[tile.place(digits, d)] - (start + bins[d]);
#pragma unroll 4
    for (u32 w = 0; w < move_warps; w++) bins[w * digits + d] = (unsigned short)(start + bins[w * digits + d]);
  }
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < move_items; t++) {
    const bool inside = mine + t * 32 < n;
    const u32 digit = place[t] >> 16;
    place[t] = inside ? (place[t] & 0xffff) + own[digit] : ~0u;
    if (inside) s.digit()[place[t]] = (unsigned short)digit;
  }
  // Read again rather than kept: registers are what limits the warps at work.
  if (keys_out) move_out(s, n, place, keys_out, [&](u32 t) { return keys[tile.begin + mine + t * 32]; });
  if (rows) {
    move_out(s, n, place, rows_out, [&](u32 t) { return rows[tile.begin + mine + t * 32]; });
  } else if (n > 0) {
    u32 row[move_items];
    find_rows(offsets, row_count, tile, mine, s.staged<u32>(), s.segments(), row);
    move_out(s, n, place, rows_out, [&](u32 t) { return row[t]; });
  }
  if (values) move_out(s, n, place, values_out, [&](u32 t) { return values[tile.begin + mine + t * 32]; });
}

}  // namespace oplus
