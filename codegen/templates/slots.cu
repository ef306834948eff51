// Values between compressed rows and the slots of other formats, moved as they are: `V` has the size of the value type. Deterministic.
// Launches: README.md.
#include "part/entries.cuh"
#include "part/slots.cuh"

namespace oplus {

// The entries' values to their slots, and with `words` (0 before) their bits. Not `valued`: bits alone.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slots_put(u64 n, u64 rows, const u64* offsets, const u32* indices, const V* values, u64 columns, const i64* diagonals, u64 count, u32* words,
          V* out) {
  const Slots slots = {rows, columns, diagonals, count};
  for_entries<flag::valued, true, true>(Entries<V>{n, rows, offsets, indices, values}, [&](u64, bool inside, const V& x, u32 row, u32 column) {
    if (!inside) return;
    const u64 slot = slots.of(row, column);
    if (words) atomicOr(&words[slot >> 5], 1u << (slot & 31));
    if constexpr (flag::valued) out[slot] = x;
  });
}

// And back, to the entries' places.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slots_take(u64 n, u64 rows, const u64* offsets, const u32* indices, u64 columns, const i64* diagonals, u64 count, const V* from, V* values) {
  const Slots slots = {rows, columns, diagonals, count};
  for_entries<false, true, true>(Entries<V>{n, rows, offsets, indices, nullptr}, [&](u64 e, bool inside, const V&, u32 row, u32 column) {
    if (inside) values[e] = from[slots.of(row, column)];
  });
}

}  // namespace oplus
