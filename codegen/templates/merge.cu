// Two matrices of one shape entry by entry: union, intersection, and writing a result T into C under a mask.
//
// A thread an entry of A, then of B; an entry finds its place by searching the other's row and counting who stays before
// it. CSR: u64 offsets, u32 columns ascending in each row. Launch: 1-D blocks of tuning::primitive_block threads.
// number::rule: 0 union, 1 intersection, 2 C ⊙= T, 3 C = T, where A is C, B is T; rules 2 and 3 under flag::masked and
// flag::complement, and flag::replace. Deterministic.
#include "part/entries.cuh"

namespace oplus {

typedef function::combine F;
typedef F::Input0 X;
typedef F::Input1 Y;
typedef F::Output Z;
enum { rule_union, rule_intersection, rule_accumulate, rule_overwrite };

struct Side {
  const u64* offsets;
  const u32* indices;
};
__device__ inline u64 find(Side s, u64 row, u32 column) {
  return lower_bound<u32, u64>(s.indices, s.offsets[row], s.offsets[row + 1], column);
}
__device__ inline bool is_at(Side s, u64 row, u64 e, u32 column) { return e < s.offsets[row + 1] && s.indices[e] == column; }
__device__ inline bool admitted(Side mask, u64 row, u32 column) {
  if constexpr (!flag::masked) return true;
  else return is_at(mask, row, find(mask, row, column), column) != flag::complement;
}

// Whether an entry of A stays (met: B has it too), and one of B.
__device__ inline bool stays_a(bool met, bool open) {
  if (number::rule == rule_union) return true;
  if (number::rule == rule_intersection) return met;
  if (!open) return !flag::replace;
  return number::rule == rule_accumulate;
}
__device__ inline bool stays_b(bool met, bool open) {
  if (number::rule == rule_union) return !met;
  if (number::rule == rule_intersection) return false;
  return open && (number::rule == rule_overwrite || !met);
}

// keep_a[e], keep_b[e] = 1 for entries that stay. Launch: ceil(n_a / block) blocks for A (side = 0), ceil(n_b / block) for B.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_mark(u32 side, u64 rows, const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
           const u64* m_offsets, const u32* m_indices, u32* keep) {
  const Side a = {a_offsets, a_indices}, b = {b_offsets, b_indices}, mask = {m_offsets, m_indices};
  const Side own = side ? b : a, other = side ? a : b;
  const u64 e = global_thread(), n = own.offsets[rows], row = row_of(own.offsets, rows, e, n);
  if (e >= n) return;
  const u32 column = own.indices[e];
  const bool met = is_at(other, row, find(other, row, column), column), open = admitted(mask, row, column);
  keep[e] = side ? stays_b(met, open) : stays_a(met, open);
}

// c_offsets[r] = entries of rows before r, r = 0 ..= rows. before_a[e]: entries of A that stay before its entry e.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_offsets(u64 rows, const u64* a_offsets, const u64* b_offsets, const u64* before_a, const u64* before_b, u64* c_offsets) {
  const u64 r = global_thread();
  if (r <= rows) c_offsets[r] = before_a[a_offsets[r]] + before_b[b_offsets[r]];
}

// The entries of one side that stay, to their places. Launch as merge_mark.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_emit(u32 side, u64 rows, const u64* a_offsets, const u32* a_indices, const X* a_values, const u64* b_offsets,
           const u32* b_indices, const Y* b_values, const u64* m_offsets, const u32* m_indices, const u64* before_a,
           const u64* before_b, u32* c_indices, Z* c_values) {
  const Side a = {a_offsets, a_indices}, b = {b_offsets, b_indices}, mask = {m_offsets, m_indices};
  const Side own = side ? b : a, other = side ? a : b;
  const u64* before = side ? before_b : before_a;
  const u64 e = global_thread(), n = own.offsets[rows], row = row_of(own.offsets, rows, e, n);
  if (e >= n || before[e + 1] == before[e]) return;
  const u32 column = own.indices[e];
  const u64 o = find(other, row, column), at = before[e] + (side ? before_a : before_b)[o];
  c_indices[at] = column;
  if constexpr (number::rule == rule_intersection) {
    c_values[at] = F::apply(a_values[e], b_values[o]);
  } else if (side) {
    c_values[at] = b_values[e];
  } else {
    bool both = is_at(other, row, o, column) && number::rule != rule_overwrite;
    if (both && number::rule == rule_accumulate) both = admitted(mask, row, column);
    c_values[at] = both ? F::apply(a_values[e], b_values[o]) : a_values[e];
  }
}

}  // namespace oplus
