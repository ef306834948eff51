// y = A ⊕.⊗ x for x with a value at every place, over the rows of A that have entries: y[s] is the s-th such row's. Tiles of rows and
// entries together, so that long and short rows cost the same; which rows a tile has is found once for a pattern (row_tiles.cu).
// With flag::gathered the value of entry e is not the e-th but one of any matrix: sums of products whose factors are anywhere.
// After Greathouse, Daga, "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format", SC 2014,
// https://doi.org/10.1109/SC.2014.68.
//
// Deterministic: `lanes` take a row's terms in strides, then a fixed tree; a warp those of rows of more than 32 + 8 · lanes entries;
// blocks those of long rows, spmv_chunk each, whose sums the last block to end adds in order. Any: the smallest k.
#include "part/row_tiles.cuh"
#include "part/spmv.cuh"
#include "thread/banks.cuh"

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

// The terms of entries from `begin`, a multiple of 4, on in shared memory.
struct FullTerms {
  C* values;
  u64 begin;

  // The thread's terms of the first tile_round, of `end`. Many loads at once: each waits for the one before it. What is read beyond
  // `end` is of the same matrix and does no harm.
  static __device__ void read(const FullRows& a, u64 begin, u32 end, Quad<C> (&term)[2]) {
    Quad<u32> k[2], place[2];
    Quad<Matrix> v[2];
#pragma unroll
    for (u32 t = 0; t < 2; t++) {
      const u32 i = 4 * (t * tile_threads + threadIdx.x);
      // Of none behind the end.
      const u64 count = i < end ? a.count : 0;
      k[t] = quad_at(a.indices, begin + i, count);
      if constexpr (reads_matrix && flag::gathered) place[t] = quad_at(a.places, begin + i, count);
      else if constexpr (reads_matrix) v[t] = quad_at(a.values, begin + i, count);
    }
    if constexpr (reads_matrix && flag::gathered) {
#pragma unroll
      for (u32 t = 0; t < 2; t++) {
#pragma unroll
        for (u32 s = 0; s < 4; s++) v[t].x[s] = a.values[place[t].x[s]];
      }
    }
#pragma unroll
    for (u32 t = 0; t < 2; t++) {
#pragma unroll
      for (u32 s = 0; s < 4; s++) {
        const Matrix value = reads_matrix ? v[t].x[s] : Matrix();
        term[t].x[s] = product_of(value, reads_vector ? a.x[k[t].x[s]] : Vector(), {0, 0, 0});
      }
    }
  }
  // All threads call.
  __device__ void load(const FullRows& a, u32 end) const {
    Quad<C> term[2];
    read(a, begin, end, term);
#pragma unroll
    for (u32 t = 0; t < 2; t++) {
      const u32 i = 4 * (t * tile_threads + threadIdx.x);
      if (i >= end) continue;
#pragma unroll
      for (u32 s = 0; s < 4; s++) values[bank_place<C>(i) + s] = term[t].x[s];
    }
  }
};
constexpr u32 full_places = full_staged ? bank_place<C>(tile_round - 1) + 1 : 1;

// Of the row's n entries from `from` after terms.begin on, each stride-th from the lane's on.
__device__ inline C full_sum(const FullRows& a, const FullTerms& terms, u64 slot, u32 from, u32 n, u32 lane, u32 stride) {
  return batched_sum<Semiring, C>(from + lane, from + n, stride, [&](u32 i) {
    if constexpr (full_staged) return terms.values[bank_place<C>(i)];
    else return a.term(slot, terms.begin + i);
  });
}

// A chunk of a long row. scratch: shared, a sum a warp.
__device__ inline void full_chunk(const FullRows& a, u64 chunk, const RowChunk* chunks, u32* ended, C* sums, C* y, C* scratch) {
  const RowChunk part = chunks[chunk];
  C sum = C();
  u32 terms;
  if constexpr (full_staged) {
    const u64 begin = part.begin & ~u64(3);
    const u32 lead = u32(part.begin - begin), end = lead + part.n;
    Quad<C> term[2];
    FullTerms::read(a, begin, end, term);
    bool has = false;
#pragma unroll
    for (u32 t = 0; t < 2; t++) {
#pragma unroll
      for (u32 s = 0; s < 4; s++) {
        const u32 i = 4 * (t * tile_threads + threadIdx.x) + s;
        if (i < lead || i >= end) continue;
        sum = !has ? term[t].x[s] : Join<Semiring>::first ? sum : Semiring::add(sum, term[t].x[s]);
        has = true;
      }
    }
    // Of these all have some.
    terms = min(tile_threads, (end + 3) / 4);
  } else {
    const auto term = [&](u64 e) { return a.term(part.slot, e); };
    sum = batched_sum<Semiring, C>(part.begin + threadIdx.x, part.begin + part.n, tile_threads, term);
    terms = min(tile_threads, part.n);
  }
  join_chunks<Semiring>(part, chunk, sum, terms, sums, ended, y, scratch);
}

// Blocks below `chunk_count` have a chunk of a long row each (more than spmv_narrow entries), those from there on a tile, up to where the
// next begins. count: entries of A. log_lanes: 0 to 5. ended: a zero a long row, again when the launch ends; sums: a place a chunk.
extern "C" __global__ void __launch_bounds__(tile_threads, tuning::spmv_blocks)
spmv_full(u64 count, const u64* offsets, const u32* indices, const u32* places, const Matrix* values, const Vector* x, const u32* rows,
          const u64* i_ids, const u64* k_ids, u32 chunk_count, const RowChunk* chunks, u32* ended, C* sums, C* y, const RowTile* begins,
          u32 log_lanes) {
  // Of terms, or a sum a warp.
  __shared__ u64 space[(max_of(full_places, tile_warps) * sizeof(C) + 7) / 8];
  __shared__ u32 medium_count, medium[tuning::spmv_tile / 32 + 2];
  const FullRows a = {count, offsets, indices, places, values, x, rows, {i_ids, k_ids}};
  if (blockIdx.x < chunk_count) {
    full_chunk(a, blockIdx.x, chunks, ended, sums, y, reinterpret_cast<C*>(space));
    return;
  }
  const RowTile begin = begins[blockIdx.x - chunk_count];
  const u64 first = begin.first, behind = begins[blockIdx.x - chunk_count + 1].first;
  // A warp for each row is as good as a warp for some.
  const u32 lanes = 1u << log_lanes, n = u32(behind - first), most = lanes < 32 ? 32 + 8 * lanes : tuning::spmv_narrow;
  const u32 lane = threadIdx.x & (lanes - 1), mine = threadIdx.x >> log_lanes, step = tile_threads >> log_lanes;
  if (begin.end == begin.entry) return;
  const FullTerms terms = {reinterpret_cast<C*>(space), begin.entry & ~u64(3)};
  // Where row r of the tile begins, and how many entries it has, one too many for a long one.
  const auto look_up = [&](u32 r, u32& from, u32& size) {
    const u64 start = r < n ? offsets[first + r] : terms.begin, end = r < n ? offsets[first + r + 1] : terms.begin;
    from = u32(start - terms.begin);
    size = u32(min(end - start, u64(tuning::spmv_narrow + 1)));
  };
  // Those of the first rounds are asked for here, so that they are there when the terms are.
  u32 from[2], size[2];
  look_up(mine, from[0], size[0]);
  look_up(mine + step, from[1], size[1]);
  if (threadIdx.x == 0) medium_count = 0;
  if constexpr (full_staged) terms.load(a, u32(begin.end - terms.begin));
  __syncthreads();
  // All lanes of a warp call.
  const auto sum_up = [&](u32 r, u32 from, u32 size) {
    if (size > most) {
      if (lane == 0 && size <= tuning::spmv_narrow) medium[atomicAdd(&medium_count, 1u)] = r;
      size = 0;
    }
    const C sum = ordered_join<Semiring>(full_sum(a, terms, first + r, from, size, lane, lanes), lanes, size);
    if (lane == 0 && size > 0) y[first + r] = sum;
  };
  const u32 first_row = threadIdx.x / 32 * (32 >> log_lanes);
  if (first_row < n) sum_up(mine, from[0], size[0]);
  if (first_row + step < n) sum_up(mine + step, from[1], size[1]);
  for (u32 base = 2 * step; first_row + base < n; base += step) {
    look_up(mine + base, from[0], size[0]);
    sum_up(mine + base, from[0], size[0]);
  }
  if (lanes == 32) return;
  __syncthreads();
  for (u32 m = threadIdx.x / 32; m < medium_count; m += tile_warps) {
    u32 start, terms_of_row;
    look_up(medium[m], start, terms_of_row);
    const C sum = full_sum(a, terms, first + medium[m], start, terms_of_row, lane_id(), 32);
    const C all = ordered_join<Semiring>(sum, 32, terms_of_row);
    if (lane_id() == 0) y[first + medium[m]] = all;
  }
}

// The same where rows are long in the mean: a warp for each of `slots` rows with entries, and chunks of those of more than spmv_wide.
// Without shared memory for terms there is more for what is read of x.
extern "C" __global__ void __launch_bounds__(tile_threads, sizeof(C) <= 8 ? 4 : 1)
spmv_wide(u64 count, const u64* offsets, const u32* indices, const u32* places, const Matrix* values, const Vector* x, const u32* rows,
          const u64* i_ids, const u64* k_ids, u32 chunk_count, const RowChunk* chunks, u32* ended, C* sums, C* y, u64 slots) {
  __shared__ u64 space[(tile_warps * sizeof(C) + 7) / 8];
  const FullRows a = {count, offsets, indices, places, values, x, rows, {i_ids, k_ids}};
  if (blockIdx.x < chunk_count) {
    full_chunk(a, blockIdx.x, chunks, ended, sums, y, reinterpret_cast<C*>(space));
    return;
  }
  const u64 slot = u64(blockIdx.x - chunk_count) * tile_warps + threadIdx.x / 32;
  if (slot >= slots) return;
  const u64 from = offsets[slot], end = offsets[slot + 1];
  if (end - from > tuning::spmv_wide) return;
  constexpr u32 batch = sizeof(C) <= 8 ? 8 : 4;
  const C sum = batched_sum<Semiring, C, batch>(from + lane_id(), end, 32, [&](u64 e) { return a.term(slot, e); });
  const C all = ordered_join<Semiring>(sum, 32, u32(end - from));
  if (lane_id() == 0) y[slot] = all;
}

}  // namespace oplus
