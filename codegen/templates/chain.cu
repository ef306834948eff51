// Element-wise operations one after the other in one pass: A joined with B, mapped, joined with D, mapped again, and of that
// what is kept. A thread takes about `chain_items` entries: rows, or a part of a long one. Rows are walked twice, to count and
// to write. Deterministic. Launches: README.md.
#include "thread/given.cuh"
#include "thread/search.cuh"

namespace oplus {

typedef function::join::Input0 First;
typedef function::join::Input1 Second;
typedef function::again::Input1 Third;
typedef function::keep::Input0 Result;

constexpr u64 chain_items = 64;
enum { join_union, join_intersection, join_filled, join_none };

template <class T> struct Listed {
  const u64* offsets;
  const u32* indices;
  const T* values;
};

// Operands, and what operators read besides entries.
struct Chain {
  u64 rows, work;
  Listed<First> a;
  Listed<Second> b;
  Listed<Third> d;  // not with join_none
  Given<First> alpha;
  Given<Second> beta;
  Given<function::again::Input0> alpha_again;
  Given<Third> beta_again;
  Given<function::map::Input3> thunk;
  Given<function::map_again::Input3> thunk_again;
  Given<function::keep::Input3> thunk_keep;
  const u64* i_ids;  // null: a place is its id
  const u64* j_ids;

  // Work before a row: its entries, and one for the row.
  __device__ u64 before(u64 row) const {
    u64 work = row + a.offsets[row] + b.offsets[row];
    if constexpr (number::again != join_none) work += d.offsets[row];
    return work;
  }
};

// A position from which a thread goes on.
struct Place {
  u64 row;
  u32 column;
};

// The t-th cut: at a row's start, and in rows of much work at an entry of its longest operand.
__device__ inline Place cut(const Chain& c, u64 t) {
  const u64 at = t * chain_items;
  if (at >= c.work) return {c.rows, 0};
  u64 row = 0, behind = c.rows;
  while (behind - row > 1) {
    const u64 middle = row + (behind - row) / 2;
    if (c.before(middle) <= at) row = middle;
    else behind = middle;
  }
  const u64 start = c.before(row), length = c.before(row + 1) - start;
  if (at == start || length <= 2 * chain_items) return {row, 0};
  const u32* longest = c.a.indices + c.a.offsets[row];
  u64 n = c.a.offsets[row + 1] - c.a.offsets[row];
  const u64 nb = c.b.offsets[row + 1] - c.b.offsets[row];
  if (nb > n) {
    n = nb;
    longest = c.b.indices + c.b.offsets[row];
  }
  if constexpr (number::again != join_none) {
    const u64 nd = c.d.offsets[row + 1] - c.d.offsets[row];
    if (nd > n) {
      n = nd;
      longest = c.d.indices + c.d.offsets[row];
    }
  }
  // So many low bits are left out that a product of two lengths beyond 2³¹ stays below 2⁶⁴.
  const u32 out = length >> 32 ? 4 : 0;
  return {row, longest[min(((at - start) >> out) * n / (length >> out), n - 1)]};
}

// What a join makes of two values of which some are there. `X` and `Y` are the kinds' own types.
template <u64 KIND, class JOIN, class X, class Y>
__device__ inline bool joined(bool has_x, bool has_y, const X& x, const Y& y, typename JOIN::Output& z) {
  if constexpr (KIND == join_none) {
    z = x;
    return has_x;
  } else if constexpr (KIND == join_intersection) {
    if (has_x && has_y) z = JOIN::apply(x, y);
    return has_x && has_y;
  } else if constexpr (KIND == join_filled) {
    z = JOIN::apply(x, y);
    return has_x || has_y;
  } else {
    if (has_x && has_y) z = JOIN::apply(x, y);
    else if (has_x) z = x;
    else z = y;
    return has_x || has_y;
  }
}

__device__ inline bool present(u64 kind, bool x, bool y) {
  return kind == join_none ? x : kind == join_intersection ? x && y : x || y;
}

// start(row) where a row begins, entry(column, z) for each of the result; without VALUES z is nothing.
template <bool VALUES, class Start, class Entry>
__device__ inline void walk(const Chain& c, u64 t, Start start, Entry entry) {
  const Place from = cut(c, t), to = cut(c, t + 1);
  for (u64 row = from.row; row < to.row || (row == to.row && to.column > 0); row++) {
    const bool begins = row > from.row || from.column == 0, ends = row == to.row;
    if (begins) start(row);
    auto range = [&](const auto& list, u64& at, u64& end) {
      at = list.offsets[row];
      end = list.offsets[row + 1];
      if (!begins) at = lower_bound<u32, u64>(list.indices, at, end, from.column);
      if (ends) end = lower_bound<u32, u64>(list.indices, at, end, to.column);
    };
    u64 p, p_end, q, q_end, s = 0, s_end = 0;
    range(c.a, p, p_end);
    range(c.b, q, q_end);
    if constexpr (number::again != join_none) range(c.d, s, s_end);
    const i64 i = i64(c.i_ids ? c.i_ids[row] : row);
    // One past the last column: larger than any.
    constexpr u64 none = ~0ull;
    while (p < p_end || q < q_end || s < s_end) {
      const u64 x = p < p_end ? c.a.indices[p] : none, y = q < q_end ? c.b.indices[q] : none;
      u64 w = none;
      if constexpr (number::again != join_none) w = s < s_end ? c.d.indices[s] : none;
      const u64 column = min(min(x, y), w);
      const bool in_a = x == column, in_b = y == column, in_d = w == column;
      bool has = present(number::kind, in_a, in_b);
      has = present(number::again, has, in_d);
      Result z = Result();
      if constexpr (VALUES) {
        if (has) {
          const i64 j = i64(c.j_ids ? c.j_ids[column] : column);
          const First a = in_a ? c.a.values[p] : (number::kind == join_filled ? *c.alpha : First());
          const Second b = in_b ? c.b.values[q] : (number::kind == join_filled ? *c.beta : Second());
          function::join::Output ab = function::join::Output();
          const bool has_ab = joined<number::kind, function::join>(in_a, in_b, a, b, ab);
          typedef function::again::Input0 Made;
          Made m = number::again == join_filled ? *c.alpha_again : Made();
          if (has_ab) m = function::map::apply(ab, i, j, *c.thunk);
          Third d = number::again == join_filled ? *c.beta_again : Third();
          if constexpr (number::again != join_none) {
            if (in_d) d = c.d.values[s];
          }
          function::again::Output abd = function::again::Output();
          joined<number::again, function::again>(has_ab, in_d, m, d, abd);
          z = function::map_again::apply(abd, i, j, *c.thunk_again);
          if constexpr (flag::keeps) has = function::keep::apply(z, i, j, *c.thunk_keep);
        }
      }
      if (has) entry(u32(column), z);
      p += in_a;
      q += in_b;
      s += in_d;
    }
  }
}

// counts[t]: entries that thread t makes.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
chain_count(u64 threads, u64 rows, u64 work, const u64* a_offsets, const u32* a_indices, const First* a_values,
            const u64* b_offsets, const u32* b_indices, const Second* b_values, const u64* d_offsets,
            const u32* d_indices, const Third* d_values, Given<First> alpha, Given<Second> beta,
            Given<function::again::Input0> alpha_again, Given<Third> beta_again, Given<function::map::Input3> thunk, Given<function::map_again::Input3> thunk_again,
            Given<function::keep::Input3> thunk_keep, const u64* i_ids, const u64* j_ids, u32* counts) {
  const u64 t = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= threads) return;
  const Chain c = {rows, work, {a_offsets, a_indices, a_values}, {b_offsets, b_indices, b_values},
                   {d_offsets, d_indices, d_values}, alpha, beta, alpha_again, beta_again, thunk, thunk_again, thunk_keep, i_ids, j_ids};
  u32 n = 0;
  walk<flag::keeps>(c, t, [](u64) {}, [&](u32, const Result&) { n++; });
  counts[t] = n;
}

// starts[t]: entries before those of thread t.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
chain_write(u64 threads, u64 rows, u64 work, const u64* a_offsets, const u32* a_indices, const First* a_values,
            const u64* b_offsets, const u32* b_indices, const Second* b_values, const u64* d_offsets,
            const u32* d_indices, const Third* d_values, Given<First> alpha, Given<Second> beta,
            Given<function::again::Input0> alpha_again, Given<Third> beta_again, Given<function::map::Input3> thunk, Given<function::map_again::Input3> thunk_again,
            Given<function::keep::Input3> thunk_keep, const u64* i_ids, const u64* j_ids, const u64* starts,
            u64* out_offsets, u32* out_indices, Result* out_values) {
  const u64 t = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= threads) return;
  const Chain c = {rows, work, {a_offsets, a_indices, a_values}, {b_offsets, b_indices, b_values},
                   {d_offsets, d_indices, d_values}, alpha, beta, alpha_again, beta_again, thunk, thunk_again, thunk_keep, i_ids, j_ids};
  u64 at = starts[t];
  walk<true>(c, t, [&](u64 row) { out_offsets[row] = at; }, [&](u32 column, const Result& z) {
    out_indices[at] = column;
    out_values[at] = z;
    at++;
  });
  if (t == threads - 1) out_offsets[rows] = at;
}

}  // namespace oplus
