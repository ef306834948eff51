// y = A ⊕.⊗ x for x with a value at every place, over the rows of A that have entries: y[s] is the s-th such row's. Tiles of rows and
// entries together, so that long and short rows cost the same; which rows a tile has is found once for a pattern (row_tiles.cu).
// With flag::gathered the value of entry e is not the e-th but one of any matrix: sums of products whose factors are anywhere.
// After Greathouse, Daga, "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format", SC 2014,
// https://doi.org/10.1109/SC.2014.68.
//
// Deterministic: `lanes` take a row's terms in strides, then a fixed tree; a warp those of rows of more than 32 + 8 · lanes entries;
// blocks those of rows of more than spmv_chunk, so many each, whose sums the last block to end adds in order. Any: the smallest k.
#include "block/team.cuh"
#include "part/row_tiles.cuh"
#include "part/spmv.cuh"

namespace oplus {

// Terms are staged where they are small and need not know their row.
static_assert(!flag::gathered || !Semiring::positional, "an entry is not where its value is");
constexpr bool full_staged = !Semiring::positional && sizeof(C) <= 8;

// Rows of A with entries; rows: which they are, null if all are. places: where the entries' values are, if gathered.
struct FullRows {
  u64 count;
  const u64* offsets;
  const u32* indices;
  const u32* places;
  const Matrix* values;
  const Vector* x;
  const u32* rows;
  Ids ids;
  __device__ u64 place(u64 e) const {
    if constexpr (flag::gathered) return places[e];
    else return e;
  }
  __device__ C term(u64 slot, u64 e) const {
    const u64 row = Semiring::positional && rows ? rows[slot] : slot;
    return term_of(values, x, ids, row, place(e), indices[e]);
  }
};

__device__ constexpr u64 max_of(u64 x, u64 y) { return x > y ? x : y; }

// The terms of entries from `begin`, a multiple of 4, on in shared memory, one place left out after every row of banks: threads that
// walk rows of equal length meet in few banks.
struct FullTerms {
  C* values;
  u64 begin;
  static __device__ constexpr u32 skewed(u32 i) { return i + i / (sizeof(C) <= 4 ? 32 : 16); }

  // Of the entries from..end that come after `begin`, `from` and QUADS · 4 a thread. All threads call. Many loads at once: each waits for
  // the one before it. What is read beyond `end` is of the same matrix and does no harm.
  template <u32 QUADS> __device__ void load(const FullRows& a, u32 from, u32 end) const {
    const u32 mine = from + 4 * threadIdx.x;
    Quad<u32> k[QUADS], place[QUADS];
    Quad<Matrix> v[QUADS];
#pragma unroll
    for (u32 t = 0; t < QUADS; t++) {
      const u32 i = mine + t * 4 * tile_threads;
      // Of none behind the end.
      const u64 count = i < end ? a.count : 0;
      k[t] = quad_at(a.indices, begin + i, count);
      if constexpr (reads_matrix && flag::gathered) place[t] = quad_at(a.places, begin + i, count);
      else if constexpr (reads_matrix) v[t] = quad_at(a.values, begin + i, count);
    }
    if constexpr (reads_matrix && flag::gathered) {
#pragma unroll
      for (u32 t = 0; t < QUADS; t++) {
#pragma unroll
        for (u32 s = 0; s < 4; s++) v[t].x[s] = a.values[place[t].x[s]];
      }
    }
    Quad<C> term[QUADS];
#pragma unroll
    for (u32 t = 0; t < QUADS; t++) {
#pragma unroll
      for (u32 s = 0; s < 4; s++) {
        const Matrix value = reads_matrix ? v[t].x[s] : Matrix();
        term[t].x[s] = product_of(value, reads_vector ? a.x[k[t].x[s]] : Vector(), {0, 0, 0});
      }
    }
#pragma unroll
    for (u32 t = 0; t < QUADS; t++) {
      const u32 i = mine + t * 4 * tile_threads;
      if (i >= end) continue;
#pragma unroll
      for (u32 s = 0; s < 4; s++) values[skewed(i) + s] = term[t].x[s];
    }
  }
};
constexpr u32 full_places = full_staged ? FullTerms::skewed(tile_room + 3) + 4 : 1;

// Of the row's entries from `from` on below end, each stride-th from the lane's on.
__device__ inline C full_sum(const FullRows& a, const FullTerms& terms, u64 slot, u64 from, u64 end, u32 lane, u32 stride) {
  if constexpr (full_staged) {
    const u32 first = u32(from - terms.begin), last = u32(end - terms.begin);
    return batched_sum<Semiring, C>(first + lane, last, stride, [&](u32 i) { return terms.values[FullTerms::skewed(i)]; });
  } else {
    return batched_sum<Semiring, C>(from + lane, end, u64(stride), [&](u64 e) { return a.term(slot, e); });
  }
}

// Lane 0 of each group of so many lanes gets the group's sum, of the first `terms` lanes'.
__device__ inline C full_join(C x, u32 lanes, u32 terms) {
  if constexpr (!Join<Semiring>::first) {
    for (u32 d = 1; d < lanes; d *= 2) {
      const C y = shuffle_down(x, d);
      const u32 from = (lane_id() & (lanes - 1)) + d;
      if (from < lanes && from < terms) x = Semiring::add(x, y);
    }
  }
  return x;
}

// A chunk of a long row; the last of the row's blocks to end adds them all.
// scratch: shared, a partial a warp.
__device__ inline void full_chunk_sum(const FullRows& a, u64 chunk, const LongRow* long_rows, const u32* owners, u32* ended,
                                      C* sums, C* y, Partial<C>* scratch, volatile u32* last) {
  const Team<tile_threads> team = {nullptr};
  const u32 owner = owners[chunk];
  const LongRow row = long_rows[owner];
  const u64 begin = row.begin + (chunk - row.chunk) * tile_chunk, end = min(begin + tile_chunk, row.end);
  const auto term = [&](u64 e) { return a.term(row.slot, e); };
  Partial<C> sum = {batched_sum<Semiring, C>(begin + threadIdx.x, end, tile_threads, term), threadIdx.x, begin + threadIdx.x < end};
  sum = team_reduce<Semiring>(team, sum, scratch);
  const u32 chunks = u32((row.end - row.begin + tile_chunk - 1) / tile_chunk);
  if (!chunk_ended(sum.value, sums, chunk, chunks, &ended[owner], last)) return;
  sum = no_term<C>();
  for (u32 c = threadIdx.x; c < chunks; c += tile_threads) Join<Semiring>::append(sum, sums[row.chunk + c], c);
  sum = team_reduce<Semiring>(team, sum, scratch);
  if (threadIdx.x == 0) y[row.slot] = sum.value;
}

// Blocks below `tiles` have a tile each, up to where the next begins, those from there on a chunk of a long row. count: entries of A.
// log_lanes: 0 to 5. ended: a zero a long row, again when the launch ends; sums: a place a chunk. Long rows: see row_tiles.cu.
extern "C" __global__ void __launch_bounds__(tile_threads, tuning::spmv_blocks)
spmv_full(u64 count, const u64* offsets, const u32* indices, const u32* places, const Matrix* values, const Vector* x, const u32* rows,
          const u64* i_ids, const u64* k_ids, const RowTile* begins, u32 tiles, u32 log_lanes, const LongRow* long_rows, const u32* owners,
          u32* ended, C* sums, C* y) {
  // Of terms, or a partial a warp.
  __shared__ u64 space[max_of((full_places * sizeof(C) + 7) / 8, tile_warps * ((sizeof(Partial<C>) + 7) / 8))];
  __shared__ u32 medium_count, medium[tuning::spmv_tile / 32 + 2];
  const FullRows a = {count, offsets, indices, places, values, x, rows, {i_ids, k_ids}};
  if (blockIdx.x >= tiles) {
    full_chunk_sum(a, blockIdx.x - tiles, long_rows, owners, ended, sums, y, reinterpret_cast<Partial<C>*>(space), &medium_count);
    return;
  }
  const RowTile begin = begins[blockIdx.x], behind = begins[blockIdx.x + 1];
  const u64 first = begin.first;
  // A warp for each row is as good as a warp for some.
  const u32 lanes = 1u << log_lanes, n = u32(behind.first - first), most = lanes < 32 ? 32 + 8 * lanes : tile_chunk, lane = threadIdx.x & (lanes - 1);
  if (n == 0) return;
  const FullTerms terms = {reinterpret_cast<C*>(space), begin.entry & ~u64(3)};
  // Asked for here, so that it is there when the terms are.
  u64 from = 0, end = 0;
  if (threadIdx.x >> log_lanes < n) {
    from = offsets[first + (threadIdx.x >> log_lanes)];
    end = offsets[first + (threadIdx.x >> log_lanes) + 1];
  }
  if (threadIdx.x == 0) medium_count = 0;
  if constexpr (full_staged) {
    const u64 all = behind.entry - terms.begin;
    terms.template load<2>(a, 0, u32(min(all, u64(tile_round))));
    // The last row may be a long one, whose terms nobody wants here.
    if (all > tile_round && behind.entry - offsets[behind.first - 1] <= tile_chunk) terms.template load<1>(a, tile_round, u32(all));
  }
  __syncthreads();
  const u32 step = 32 >> log_lanes;
  for (u32 base = threadIdx.x / 32 * step; base < n; base += tile_warps * step) {
    const u32 r = base + (lane_id() >> log_lanes);
    if (base >= tile_warps * step) {
      from = r < n ? offsets[first + r] : 0;
      end = r < n ? offsets[first + r + 1] : 0;
    }
    if (end - from > most) {
      if (lane == 0 && end - from <= tile_chunk) medium[atomicAdd(&medium_count, 1u)] = r;
      end = from;
    }
    const C sum = full_sum(a, terms, first + r, from, end, lane, lanes);
    const C all = full_join(sum, lanes, u32(end - from));
    if (lane == 0 && end > from) y[first + r] = all;
  }
  if (lanes == 32) return;
  __syncthreads();
  for (u32 m = threadIdx.x / 32; m < medium_count; m += tile_warps) {
    const u64 slot = first + medium[m], from = offsets[slot], end = offsets[slot + 1];
    const C all = full_join(full_sum(a, terms, slot, from, end, lane_id(), 32), 32, u32(end - from));
    if (lane_id() == 0) y[slot] = all;
  }
}

}  // namespace oplus
