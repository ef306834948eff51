// C(i, j) = v(i) ⊗ A(i, j) with flag rows, A(i, j) ⊗ v(j) without: values at A's entries, where v has one. v is a bitmap with
// dense values. Spread over entries; deterministic. Launches: README.md.
#include "part/entries.cuh"

namespace oplus {

typedef function::op::Input0 Left;
typedef function::op::Input1 Right;
typedef function::op::Output Result;

// Marks of the entries whose row or column v has.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
scale_mark(u64 n, u64 rows, const u64* offsets, const u32* indices, const u32* present, u32* words) {
  const Entries<u8> a = {n, rows, offsets, indices, nullptr};
  for_entries<false, flag::rows, !flag::rows>(a, [&](u64 e, bool inside, u8, u32 row, u32 column) {
    const u32 at = flag::rows ? row : column;
    mark_entry(e, n, inside && (present[at >> 5] >> (at & 31) & 1), words);
  });
}

// What scales stands on the left of rows, on the right of columns.
template <bool ROWS> struct Sides {
  typedef Right Entry;
  typedef Left Factor;
  static __device__ Result apply(const Factor& v, const Entry& x) { return function::op::apply(v, x); }
};
template <> struct Sides<false> {
  typedef Left Entry;
  typedef Right Factor;
  static __device__ Result apply(const Factor& v, const Entry& x) { return function::op::apply(x, v); }
};
typedef Sides<flag::rows> Scaling;
typedef Scaling::Entry Entry;
typedef Scaling::Factor Factor;

// Values of all entries, each of which has its factor.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
scale_apply(u64 n, u64 rows, const u64* offsets, const u32* indices, const Entry* __restrict__ values,
            const Factor* __restrict__ factors, Result* __restrict__ out) {
  const Entries<Entry> a = {n, rows, offsets, indices, values};
  for_entries<true, flag::rows, !flag::rows>(a, [&](u64 e, bool inside, const Entry& x, u32 row, u32 column) {
    if (inside) out[e] = Scaling::apply(factors[flag::rows ? row : column], x);
  });
}

}  // namespace oplus
