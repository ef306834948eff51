// Rows of up to N entries in one place each, columns and values: who takes rows in no order waits once for one, not for where it begins
// first and then for both.
#include "portable.cuh"

namespace oplus {

constexpr u32 packed_none = 0xffffffffu;  // no column: those are smaller

template <class V, u32 N, bool VALUED> struct PackedRow;
template <class V, u32 N> struct __align__(16) PackedRow<V, N, true> {
  static constexpr u32 most = N;
  V value[N];
  u32 column[N];
  __device__ V value_of(u32 i) const { return value[i]; }
  __device__ void set_value(u32 i, const V* values, u64 at) { value[i] = values[at]; }
};
template <class V, u32 N> struct __align__(8) PackedRow<V, N, false> {
  static constexpr u32 most = N;
  u32 column[N];
  __device__ V value_of(u32) const { return V(); }
  __device__ void set_value(u32, const V*, u64) {}
};

}  // namespace oplus
