// C = A ⊕.⊗ B, a slice of rows expanded: every product's row and column, and its value; with flag::places where in A and B its
// factors are, in its place.
//
// Spread over products, so that rows may be as they like. With flag::by_columns products are made in the order of k, a row of B
// for all of A's column at once, each where its row has room for it: outer products. Launches: README.md.
#include "device/rows.cuh"
#include "part/spgemm_factors.cuh"

namespace oplus {

template <bool PLACES> struct TermOf {
  typedef C Type;
  static __device__ C of(const Factors& f, const Operands& x, u64 a, u64 b, u32 row) { return product(f, x, a, b, row); }
};
template <> struct TermOf<true> {
  typedef u64 Type;
  static __device__ u64 of(const Factors&, const Operands&, u64 a, u64 b, u32) { return a << 32 | b; }
};
typedef TermOf<flag::places>::Type Term;

// n products, of `entries` entries of A from `begin` on, of `rows` rows from first_row on; a_offsets: of first_row on. The
// products of entry e of the slice begin at runs[e] - origin. low: their least column, partial: rows of B have less.
// ordered_keys (column << ordered_bits | row), ordered_places, ordered_runs: the entries in the order of columns, if by columns.
// Keys row << bits | column. Launch: ceil(n / entry_tile) blocks of tuning::primitive_block threads.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
spgemm_expand(u64 n, u64 begin, u64 entries, u64 first_row, u64 rows, const u64* a_offsets, const u32* a_indices,
              const A* a_values, const u64* b_offsets, const u32* b_indices, const B* b_values, const u64* i_ids,
              const u64* k_ids, const u64* j_ids, const u64* runs, u64 origin, u64 low, u32 partial, u32 bits,
              const u64* ordered_keys, const u32* ordered_places, u32 ordered_bits, const u64* ordered_runs, u64* keys,
              u32* places, Term* terms) {
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {nullptr, nullptr}, 0};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  const u64 base = u64(blockIdx.x) * entry_tile, end = min(base + entry_tile, n);
  const u64* const starts = flag::by_columns ? ordered_runs : runs;
  const u64 start_origin = flag::by_columns ? 0 : origin;
  const RowRange some = rows_of_entries(starts, entries, start_origin + base, start_origin + end);
  RowRange slice_rows = {0, 0};
  if constexpr (!flag::by_columns) {
    slice_rows = rows_of_entries(a_offsets, rows, begin + some.first, begin + some.last + 1);
  }
#pragma unroll 2
  for (u32 t = 0; t < tuning::entry_items; t++) {
    const u64 p = base + t * tuning::primitive_block + threadIdx.x;
    if (p >= n) break;
    const u32 nth = row_of(starts, some.first, some.last, start_origin + p);
    const u64 number = start_origin + p - starts[nth];
    u32 row;
    u64 e = nth, to = p;
    if constexpr (flag::by_columns) {
      e = ordered_places[nth];
      row = u32(ordered_keys[nth] & ((1ull << ordered_bits) - 1));
      to = runs[e] - origin + number;
    } else {
      row = row_of(a_offsets, slice_rows.first, slice_rows.last, begin + e);
    }
    const u32 k = a_indices[begin + e];
    u64 b = b_offsets[k];
    if (partial) b = lower_bound<u32, u64>(b_indices, b, b_offsets[u64(k) + 1], u32(low));
    b += number;
    keys[to] = u64(row) << bits | b_indices[b];
    places[to] = u32(to);
    if constexpr (flag::places || !Semiring::constant) {
      terms[to] = TermOf<flag::places>::of(factors, x, begin + e, b, u32(first_row + row));
    }
  }
}

}  // namespace oplus
