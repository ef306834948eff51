// op of a sparse vector's entries and those of a bitmap at their places, as a sparse vector, in one launch. Deterministic.
// Launches: README.md.
#include "device/row_writer.cuh"
#include "part/entries.cuh"
#include "thread/given.cuh"
#include "thread/in_order.cuh"

namespace oplus {

template <bool LEFT> struct Types {
  typedef function::op::Input0 Dense;
  typedef function::op::Input1 Entry;
};
template <> struct Types<false> {
  typedef function::op::Input1 Dense;
  typedef function::op::Input0 Entry;
};
typedef Types<flag::dense_left>::Dense Dense;
typedef Types<flag::dense_left>::Entry Entry;
typedef function::op::Output Result;

// `one`: the value of all entries of the list with the flag of that name. n > 0.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
bitmap_meet(u64 n, const u32* indices, const Entry* values, Given<Entry> one, const u32* present, const Dense* dense, u32* out_indices,
            Result* out_values, u64* out_offsets, u64* state, u64* control, u32 said, u64* page, u64 number, u64 words) {
  constexpr u32 items = tuning::entry_items;
  __shared__ RowWriter::Shared shared;
  const RowWriter writer = {out_offsets, state, control, said, page, number, words};
  const u64 nth = writer.tile(shared), first = nth * entry_tile + threadIdx.x / 32 * (32 * items) + lane_id();
  // Small values are made while others are read.
  constexpr bool early = sizeof(Dense) <= 8 && sizeof(Entry) <= 8 && sizeof(Result) <= 8;
  u32 places[items], kept[items], all = 0;
  Result made[early ? items : 1];
  const auto value = [&](u32 t) {
    const Dense x = dense[places[t]];
    const Entry y = flag::one ? *one : values[first + t * 32];
    return in_order<flag::dense_left>([](const auto& left, const auto& right) { return function::op::apply(left, right); }, y, x);
  };
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u64 e = first + t * 32;
    places[t] = e < n ? indices[e] : 0;
    kept[t] = __ballot_sync(full_warp, e < n && (present[places[t] >> 5] >> (places[t] & 31) & 1));
    all += u32(__popc(kept[t]));
    if constexpr (early) {
      if (kept[t] >> lane_id() & 1) made[t] = value(t);
    }
  }
  // The warp's are counted once, and stand before those of the next.
  u64 at = shuffle(writer.before<tuning::primitive_block>(nth, lane_id() == 31 ? all : 0, shared), 0);
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    if (kept[t] >> lane_id() & 1) {
      const u64 to = at + u32(__popc(kept[t] & lanes_below()));
      out_indices[to] = places[t];
      if constexpr (early) out_values[to] = made[t];
      else out_values[to] = value(t);
    }
    at += u32(__popc(kept[t]));
  }
  writer.end(shared);
}

}  // namespace oplus
