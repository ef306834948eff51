// C = A ⊕.⊗ X, with flag::vector_left the transpose of Xᵀ ⊕.⊗ Aᵀ, for X with an entry at every place, over the rows of A that have entries: row s of C is the s-th such row's, a value for
// every column. Rows of X are read whole, side by side, and nobody looks at their columns. A group of lanes has a row: `width` columns a
// lane, and where the columns leave lanes over each `share` of these takes some of the row's entries. After Yang, Buluç, Owens, "Design
// principles for sparse matrix multiplication on the GPU", Euro-Par 2018, https://doi.org/10.1007/978-3-319-96983-1_48 (row splitting).
//
// Deterministic: a share takes entries in strides, then a fixed tree; blocks those of long rows, spmv_chunk each, whose sums the last
// block to end adds in order. With one share and no chunks in the order of k. Any: the smallest k.
#include "part/row_tiles.cuh"
#include "part/spmv.cuh"

namespace oplus {

constexpr u32 full_width = number::width;

// Values side by side, moved in one piece.
template <class T, u32 WIDTH> struct alignas(WIDTH * sizeof(T)) Pack {
  T x[WIDTH];
};
template <class T> struct Pack<T, 1> {
  T x[1];
};
typedef Pack<Vector, full_width> Factors;
typedef Pack<C, full_width> Sums;

// The operands; with flag::mapped ids, null: a place is its id. rows: which rows they are, null if all.
struct FullFactors {
  const u32* indices;
  const Matrix* values;
  const Vector* x;
  const u32* rows;
  const u64 *i_ids, *k_ids, *j_ids;
  u32 columns;

  __device__ u64 row(u64 slot) const { return rows ? rows[slot] : slot; }
  // x's columns from `column` on, in row k; `bytes`: of a row.
  __device__ Factors factors(const char* from, u32 k, u32 bytes) const {
    if constexpr (reads_vector) return *reinterpret_cast<const Factors*>(from + u64(k) * bytes);
    else return Factors();
  }
  __device__ C product(u64 slot, u32 k, u32 column, const Matrix& a, const Vector& b) const {
    At at = {0, 0, 0};
    if constexpr (Semiring::positional) {
      at.i = flag::vector_left ? column : row(slot);
      at.k = k;
      at.j = flag::vector_left ? row(slot) : column;
      if constexpr (flag::mapped) {
        if (i_ids) at.i = i_ids[at.i];
        if (k_ids) at.k = k_ids[k];
        if (j_ids) at.j = j_ids[at.j];
      }
    }
    return product_of(a, b, at);
  }
};

// The terms of the entries e, e + stride, … below end, counted from `begin`, in the columns from `column` on, in order; e < end, else
// nothing. Numbers are 32 bits where they can be: half of all instructions find addresses.
__device__ inline Sums full_terms(const FullFactors& f, u64 slot, u32 column, u64 begin, u32 e, u32 end, u32 stride) {
  constexpr u32 batch = sizeof(Factors) <= 16 && sizeof(Matrix) <= 16 ? 2 : 1;
  Sums sum = Sums();
  if (e >= end) return sum;
  if constexpr (Join<Semiring>::first) end = e + 1;
  const u32* const indices = f.indices + begin;
  const Matrix* const values = f.values + begin;
  const char* const x = reinterpret_cast<const char*>(f.x + column);
  const u32 bytes = f.columns * u32(sizeof(Vector));
  bool has = false;
  for (;; e += batch * stride) {
    u32 k[batch];
    Matrix a[batch];
    Factors b[batch];
    // The last is read again where there are fewer: a branch would make each wait for the one before it.
#pragma unroll
    for (u32 s = 0; s < batch; s++) {
      const u32 at = min(e + s * stride, end - 1);
      k[s] = indices[at];
      a[s] = Matrix();
      if constexpr (reads_matrix) a[s] = values[at];
    }
#pragma unroll
    for (u32 s = 0; s < batch; s++) b[s] = f.factors(x, k[s], bytes);
#pragma unroll
    for (u32 s = 0; s < batch; s++) {
      if (s > 0 && e + s * stride >= end) break;
#pragma unroll
      for (u32 w = 0; w < full_width; w++) {
        const C term = f.product(slot, k[s], column + w, a[s], b[s].x[w]);
        sum.x[w] = has ? Semiring::add(sum.x[w], term) : term;
      }
      has = true;
    }
    // A row may be as long as a u32 counts.
    if (end - e <= batch * stride) return sum;
  }
}

// The sums of `shares` lanes, 1 << log_lanes apart, of which the first `terms` have some: in the first of them. All lanes call.
__device__ inline void join_shares(Sums& sum, u32 share, u32 shares, u32 log_lanes, u32 terms) {
  if constexpr (Join<Semiring>::first) return;
  for (u32 d = 1; d < shares; d *= 2) {
#pragma unroll
    for (u32 w = 0; w < full_width; w++) {
      const C y = shuffle_down(sum.x[w], d << log_lanes);
      if (share + d < shares && share + d < terms) sum.x[w] = Semiring::add(sum.x[w], y);
    }
  }
}

// A sum a warp and lane, where long rows are cut.
constexpr bool full_cuts = sizeof(C) <= 64;
struct FullScratch {
  C sum[full_cuts ? tile_warps : 1][32];
};

// A chunk of a long row: its lanes' columns from `column` on, `mine` of them there are.
__device__ inline void full_part(const FullFactors& f, const RowChunk& part, u64 chunk, u32 column, bool mine, u32 log_lanes, u32* ended,
                                 C* sums, C* out, FullScratch& scratch) {
  const u32 warp = threadIdx.x / 32, lane = lane_id() & ((1u << log_lanes) - 1), share = lane_id() >> log_lanes, shares = 32u >> log_lanes;
  const u32 first = warp * shares;
  Sums sum = full_terms(f, part.slot, column, part.begin, first + share, mine ? part.n : 0, tile_warps * shares);
  join_shares(sum, share, shares, log_lanes, part.n > first ? part.n - first : 0);
  // Warps that have terms.
  const u32 warps = Join<Semiring>::first ? 1 : min(tile_warps, (part.n + shares - 1) / shares);
#pragma unroll
  for (u32 w = 0; w < full_width; w++) {
    __syncthreads();
    if (share == 0) scratch.sum[warp][lane] = sum.x[w];
    __syncthreads();
    if (warp > 0 || share > 0) continue;
    for (u32 other = 1; other < warps; other++) sum.x[w] = Semiring::add(sum.x[w], scratch.sum[other][lane]);
  }
  if (warp > 0) return;
  const bool writes = share == 0 && mine;
  if (part.total > 1) {
    if (writes) *reinterpret_cast<Sums*>(sums + chunk * f.columns + column) = sum;
    __threadfence();
    __syncwarp();
    u32 before = 0;
    u32* const count = ended + u64(part.owner) * gridDim.y + blockIdx.y;
    if (lane_id() == 0) before = atomicAdd(count, 1u);
    if (shuffle(before, 0) + 1 < part.total) return;
    // Now it sees all the others'.
    __threadfence();
    if (writes) {
      const C* const all = sums + (chunk - part.nth) * f.columns + column;
      sum = *reinterpret_cast<const Sums*>(all);
      for (u32 c = 1; c < part.total && !Join<Semiring>::first; c++) {
        const Sums next = *reinterpret_cast<const Sums*>(all + c * f.columns);
#pragma unroll
        for (u32 w = 0; w < full_width; w++) sum.x[w] = Semiring::add(sum.x[w], next.x[w]);
      }
    }
  }
  if (writes) *reinterpret_cast<Sums*>(out + part.slot * f.columns + column) = sum;
}

// Blocks below `chunk_count` have a chunk each of a row of more than `most` entries, those from there on some of the `slots` rows; those
// of one y have the same columns. columns: a multiple of number::width; a row of x has less than 2^32 bytes. log_lanes: lanes to a row's columns, log_shares: so many shares
// of its entries, 0 to 5 together. ended: a zero a long row and y; sums: `columns` places a chunk.
extern "C" __global__ void __launch_bounds__(tile_threads)
spmm_full(u64 slots, const u64* offsets, const u32* indices, const Matrix* a_values, const Vector* x, u32 columns, const u32* rows, const u64* i_ids,
          const u64* k_ids, const u64* j_ids, u32 most, u32 chunk_count, const RowChunk* chunks, u32* ended, C* sums, C* out, u32 log_lanes,
          u32 log_shares) {
  __shared__ FullScratch scratch;
  const FullFactors f = {indices, a_values, x, rows, i_ids, k_ids, j_ids, columns};
  const u32 lanes = 1u << log_lanes, shares = 1u << log_shares;
  const u32 column = (blockIdx.y * lanes + (threadIdx.x & (lanes - 1))) * full_width;
  if (blockIdx.x < chunk_count) {
    if constexpr (full_cuts) full_part(f, chunks[blockIdx.x], blockIdx.x, column, column < columns, log_lanes, ended, sums, out, scratch);
    return;
  }
  const u32 log_group = log_lanes + log_shares, share = threadIdx.x >> log_lanes & (shares - 1);
  const u64 slot = u64(blockIdx.x - chunk_count) * (tile_threads >> log_group) + (threadIdx.x >> log_group);
  u64 begin = 0;
  u32 n = 0;
  if (slot < slots && column < columns) {
    begin = offsets[slot];
    const u64 all = offsets[slot + 1] - begin;
    // Else a chunk's.
    if (all <= most) n = u32(all);
  }
  Sums sum = full_terms(f, slot, column, begin, share, n, shares);
  join_shares(sum, share, shares, log_lanes, n);
  if (share == 0 && n > 0) *reinterpret_cast<Sums*>(out + slot * columns + column) = sum;
}

}  // namespace oplus
