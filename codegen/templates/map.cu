// z = f(x, i, j, y) at every entry: new values, or which entries stay. CSR: u64 offsets, u32 columns ascending in each row.
// Launch: 1-D blocks of tuning::primitive_block threads, a thread an entry. flag::positional: f looks at i or j; without it
// offsets, indices and ids are not read. Null ids: places are their own names. number::select: 1 for the
// second kernel, whose f gives bool. Deterministic.
#include "part/entries.cuh"

namespace oplus {

typedef function::f F;
typedef F::Input0 X;
typedef F::Input3 Y;

__device__ inline F::Output evaluate(u64 rows, const u64* offsets, u64 n, const u32* indices, const X* values, Y y,
                                     const u64* i_ids, const u64* j_ids, u64 e) {
  i64 i = 0, j = 0;
  if constexpr (flag::positional) {
    const u64 row = row_of(offsets, rows, e, n);
    if (e < n) {
      i = place_name(i_ids, row);
      j = place_name(j_ids, indices[e]);
    }
  }
  return F::apply(values[e < n ? e : 0], i, j, y);
}

#if OPLUS_NUMBER_select == 0
// out[e] = f.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
map_apply(u64 rows, const u64* offsets, u64 n, const u32* indices, const X* values, Y y, const u64* i_ids,
          const u64* j_ids, F::Output* out) {
  const u64 e = global_thread();
  const F::Output z = evaluate(rows, offsets, n, indices, values, y, i_ids, j_ids, e);
  if (e < n) out[e] = z;
}

#else
// keep[e] = 1 where f holds.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
map_mark(u64 rows, const u64* offsets, u64 n, const u32* indices, const X* values, Y y, const u64* i_ids,
         const u64* j_ids, u32* keep) {
  const u64 e = global_thread();
  const bool z = bool(evaluate(rows, offsets, n, indices, values, y, i_ids, j_ids, e));
  if (e < n) keep[e] = z;
}
#endif

}  // namespace oplus
