// Two matrices with a slot for every cell: op(x, y) where both have an entry, that of one where one has; with `filled` op everywhere, and
// alpha and beta for what is missing. Deterministic. Launches: README.md.
#include "part/slots.cuh"
#include "thread/given.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

typedef function::op::Input0 Left;
typedef function::op::Input1 Right;
typedef function::op::Output Result;

template <bool FILLED> struct United {
  static __device__ Result of(bool p, bool q, const Left& x, const Right& y) { return function::op::apply(x, y); }
};
template <> struct United<false> {
  static_assert(flag::filled || (SameType<Left, Right>::value && SameType<Left, Result>::value), "values are kept");
  template <class T> static __device__ T of(bool p, bool q, const T& x, const T& y) { return p && q ? function::op::apply(x, y) : p ? x : y; }
};

// Bits of slots, null where all have an entry. Flags left_one, right_one: one value for all.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cells_union(u64 n, const u32* left_words, const u32* right_words, const Left* left, const Right* right, Given<Left> left_one,
            Given<Right> right_one, Given<Left> alpha, Given<Right> beta, u32* words, Result* out) {
  const u64 slot = u64(blockIdx.x) * tuning::primitive_block + threadIdx.x;
  const bool p = slot < n && has_entry(left_words, slot), q = slot < n && has_entry(right_words, slot);
  const u32 either = __ballot_sync(full_warp, p || q);
  if (slot >= n) return;
  if (words && lane_id() == 0) words[slot >> 5] = either;
  Left x = flag::filled ? *alpha : Left();
  Right y = flag::filled ? *beta : Right();
  if (p) x = flag::left_one ? *left_one : left[slot];
  if (q) y = flag::right_one ? *right_one : right[slot];
  out[slot] = United<flag::filled>::of(p, q, x, y);
}

}  // namespace oplus
