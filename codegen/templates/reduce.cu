// s = ⊕ over a row, or over everything. Order: as in memory, grouped in a fixed way, so any associative ⊕ will do and runs
// repeat to the bit; rows by one lane are serial sums.
#include "part/partial.cuh"

namespace oplus {

struct Monoid : function::reduce {
  static __device__ Output add(Output x, Output y) { return function::reduce::apply(x, y); }
};
typedef Monoid::Output V;

// ⊕ of values[begin .. end) in a group of WIDTH lanes, valid in its lane 0. All lanes of the warp call.
template <u32 WIDTH> __device__ inline Partial<V> run_sum(const V* values, u64 begin, u64 end) {
  const u32 lane = lane_id() & (WIDTH - 1);
  Partial<V> sum = no_term<V>();
  while (__any_sync(full_warp, begin < end)) {
    Partial<V> mine = no_term<V>();
    if (begin + lane < end) mine = {values[begin + lane], 0, true};
    mine = group_reduce<Monoid, WIDTH>(mine);
    sum = Join<Monoid>::join(sum, mine);
    begin += WIDTH;
  }
  return sum;
}

// present: zero before; bit r where row r has entries, sums[r] their ⊕. Launch: ceil(rows · WIDTH / block) blocks of
// tuning::reduce_block threads.
template <u32 WIDTH> __device__ inline void sum_rows(u64 rows, const u64* offsets, const V* values, u32* present, V* sums) {
  const u64 row = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / WIDTH;
  const u64 begin = row < rows ? offsets[row] : 0, end = row < rows ? offsets[row + 1] : 0;
  const Partial<V> sum = run_sum<WIDTH>(values, begin, end);
  if (begin < end && (lane_id() & (WIDTH - 1)) == 0) {
    sums[row] = sum.value;
    atomicOr(&present[row >> 5], 1u << (row & 31));
  }
}
#define OPLUS_ROWS(WIDTH)                                                                                              \
  extern "C" __global__ void __launch_bounds__(tuning::reduce_block) reduce_rows##WIDTH(                               \
      u64 rows, const u64* offsets, const V* values, u32* present, V* sums) {                                          \
    sum_rows<WIDTH>(rows, offsets, values, present, sums);                                                             \
  }
OPLUS_ROWS(1)
OPLUS_ROWS(8)
OPLUS_ROWS(32)

// sums[b] = ⊕ of the b-th number::chunk values. Launch: ceil(n / chunk) blocks of tuning::reduce_block threads; again on the
// sums until one is left.
extern "C" __global__ void __launch_bounds__(tuning::reduce_block) reduce_chunks(u64 n, const V* values, V* sums) {
  __shared__ unsigned char scratch[tuning::reduce_block / 32 * sizeof(Partial<V>) + 16];
  __shared__ u64 scan[34];
  constexpr u64 chunk = number::chunk, of_warp = chunk / (tuning::reduce_block / 32);
  const u64 block = u64(blockIdx.x) * chunk, stop = block + chunk < n ? block + chunk : n;
  const u64 begin = block + threadIdx.x / 32 * of_warp, end = begin + of_warp < stop ? begin + of_warp : stop;
  Partial<V> sum = run_sum<32>(values, begin, end);
  if (lane_id() != 0) sum = no_term<V>();
  Partial<V>* partials = reinterpret_cast<Partial<V>*>((reinterpret_cast<u64>(scratch) + 15) / 16 * 16);
  sum = team_reduce<Monoid, tuning::reduce_block>(Team<tuning::reduce_block>{scan}, sum, partials);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum.value;
}

}  // namespace oplus
