// C<M, replace> (+)= T of matrices with a slot for every cell, slot by slot; with `region` T stands in a part of C. Deterministic.
// Launches: README.md.
#include "part/slots.cuh"
#include "thread/given.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

typedef function::op::Input0 Value;
static_assert(SameType<Value, function::op::Input1>::value && SameType<Value, function::op::Output>::value, "values are kept");

// What `how` says.
enum { write_complement = 1, write_replace = 2, write_accumulate = 4, write_nothing_old = 8 };

// Bits of slots, null where all have an entry, or the mask admits all. Flags left_one, right_one: one value for all of C, of T. The region, of C
// with so many columns: rows and columns from the first, and up to the second, which is not in it.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cells_write(u64 n, u32 how, const u32* old_words, const u32* new_words, const u32* mask, const Value* old_values, const Value* new_values,
            Given<Value> left_one, Given<Value> right_one, u64 columns, u64 first_row, u64 row_end, u64 first_column, u64 column_end, u32* words,
            Value* out) {
  const u64 slot = u64(blockIdx.x) * tuning::primitive_block + threadIdx.x;
  const bool inside = slot < n, admitted = inside && has_entry(mask, slot) != bool(how & write_complement);
  bool within = true;
  u64 from = slot;
  if constexpr (flag::region) {
    const u64 i = slot >> 32 || columns >> 32 ? slot / columns : u32(slot) / u32(columns), j = slot - i * columns;
    within = i >= first_row && i < row_end && j >= first_column && j < column_end;
    from = (i - first_row) * (column_end - first_column) + (j - first_column);
  }
  const bool stays = admitted ? (how & write_accumulate) || !within : !(how & write_replace);
  const bool p = inside && stays && !(how & write_nothing_old) && has_entry(old_words, slot);
  const bool q = admitted && within && has_entry(new_words, from);
  const u32 either = __ballot_sync(full_warp, p || q);
  if (!inside) return;
  if (lane_id() == 0) words[slot >> 5] = either;
  Value x = Value(), y = Value();
  if (p) x = flag::left_one ? *left_one : old_values[slot];
  if (q) y = flag::right_one ? *right_one : new_values[from];
  out[slot] = p && q ? function::op::apply(x, y) : p ? x : y;
}

// op(c, t) for each of n cells of a part of C, `across` in a row, where all have an entry; values: of all of C, of so many columns, from the
// part's first cell on.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cells_patch(u64 n, u64 across, u64 columns, const Value* new_values, Given<Value> right_one, Value* values) {
  const u64 e = u64(blockIdx.x) * tuning::primitive_block + threadIdx.x;
  if (e >= n) return;
  Value& at = values[e / across * columns + e % across];
  const Value y = flag::right_one ? *right_one : new_values[e];
  at = function::op::apply(at, y);
}

}  // namespace oplus
