// A tile's entries in the order of a digit of their columns, and their rows: what transpositions move.
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

// The places of the thread's entries, of n, in the order of their digits and else in that of the input. place: their digits before,
// places after, ~0 for none. begin(digit, place) once for each digit: where its entries begin. Each warp has consecutive entries,
// `segment` of them, 32 at a time, so that warps, rounds and lanes are in the order of the input. STAGES: s.digit() gets the digit at each
// place. All threads call. A barrier before what it has staged is read, by the caller.
template <bool STAGES, class Begin>
__device__ inline void order_by_digit(const MoveMemory& s, u32 n, u32 segment, u32 bits, u32 (&place)[move_items], Begin begin) {
  const u32 digits = s.digits, warp = threadIdx.x / 32, mine = warp * segment + lane_id();
  unsigned short* const bins = s.bins();
  for (u32 i = threadIdx.x; i < move_warps * digits / 2; i += partition_block) s.staged<u32>()[i] = 0;
  __syncthreads();
  unsigned short* const own = bins + warp * digits;
#pragma unroll
  for (u32 t = 0; t < move_items; t++) {
    if (t * 32 >= segment) break;
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
    begin(d, start + bins[d]);
#pragma unroll 4
    for (u32 w = 0; w < move_warps; w++) bins[w * digits + d] = (unsigned short)(start + bins[w * digits + d]);
  }
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < move_items; t++) {
    const bool inside = t * 32 < segment && mine + t * 32 < n;
    const u32 digit = place[t] >> 16;
    place[t] = inside ? (place[t] & 0xffff) + own[digit] : ~0u;
    if (STAGES && inside) s.digit()[place[t]] = (unsigned short)digit;
  }
}

// out[to(p)] = from(t) for the thread's t-th entry, whose place p in the order of digits is place[t], of n.
template <class X, class From, class To>
__device__ inline void move_out(const MoveMemory& s, u32 n, const u32 (&place)[move_items], X* out, From from, To to) {
  static_assert(sizeof(X) <= move_room, "values this large are not transposed");
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
    for (u32 p = low + threadIdx.x; p < high; p += partition_block) out[to(p)] = staged[p - low];
  }
}

// The rows of the thread's entries, of A's compressed rows, where warps have whole segments. All threads call. Has barriers.
__device__ inline void find_rows(const u64* offsets, u64 rows, u64 begin, u32 n, const MoveMemory& s, u32 (&row)[move_items]) {
  u32* const marks = s.staged<u32>();
  const u32 mine = threadIdx.x / 32 * move_segment + lane_id();
  __syncthreads();
  for (u32 i = threadIdx.x; i < partition_tile; i += partition_block) marks[i] = 0;
  const u64 end = begin + n;
  const RowRange range = rows_of_entries(offsets, rows, begin, end);
  const bool few = range.last - range.first < move_rows;
  if (few) {
    mark_rows<partition_block, move_segment>({offsets, begin, end, range.first, range.last, 0}, s.segments(),
                                             [&](u32 place, u32 number) { marks[place] = number; });
  }
  __syncthreads();
  u32 carried = s.segments()[threadIdx.x / 32];
#pragma unroll
  for (u32 t = 0; t < move_items; t++) {
    const u32 i = mine + t * 32;
    if (few) row[t] = range.first + number_at(marks[i], carried) - 1;
    else row[t] = i < n ? row_of(offsets, range.first, range.last, begin + i) : 0;
  }
}

// The rows and values of the tile of n entries from `begin` on, each to where `to` says. rows null: A's own compressed rows, in whole
// segments, else a row an entry; values null: none. Read when they are written: registers are what limits the warps at work. All
// threads call.
template <class X, class To>
__device__ inline void move_entries(const MoveMemory& s, u64 begin, u32 n, u32 segment, const u32 (&place)[move_items], const u32* rows,
                                    const X* values, u64 row_count, const u64* offsets, u32* rows_out, X* values_out, To to) {
  const u64 mine = begin + (threadIdx.x / 32 * segment + lane_id());
  if (rows) {
    move_out(s, n, place, rows_out, [&](u32 t) { return rows[mine + t * 32]; }, to);
  } else if (n > 0) {
    u32 row[move_items];
    find_rows(offsets, row_count, begin, n, s, row);
    move_out(s, n, place, rows_out, [&](u32 t) { return row[t]; }, to);
  }
  if (values) move_out(s, n, place, values_out, [&](u32 t) { return values[mine + t * 32]; }, to);
}

}  // namespace oplus
