// A sum that may have no term yet, and its reduction across lanes, warps and blocks in a fixed order.
#include "block/team.cuh"

namespace oplus {

template <class T> struct Partial {
  T value;
  u32 order;  // of the first term, for monoids that keep it
  bool has;
};
template <class T> __device__ inline Partial<T> no_term() { return {T(), 0xffffffffu, false}; }

// FIRST: the term of smaller order stays.
template <class Monoid> struct Join {
  static constexpr bool first = Monoid::atomic == atomic_first || Monoid::terminal == terminal_always;
  template <class T> static __device__ Partial<T> join(Partial<T> x, Partial<T> y) {
    if (!y.has) return x;
    if (!x.has) return y;
    if constexpr (first) return y.order < x.order ? y : x;
    else return {Monoid::add(x.value, y.value), x.order, true};
  }
  template <class T> static __device__ void append(Partial<T>& sum, T term, u32 order) {
    sum = join(sum, Partial<T>{term, order, true});
  }
};

// Bytes of values beyond which nothing is unrolled: a kilobyte is a hundred instructions wherever it is moved.
constexpr u32 large_value = 256;

// Lane 0 of each group of WIDTH lanes gets the group's sum, terms in the order of lanes.
template <class Monoid, u32 WIDTH, class T> __device__ inline Partial<T> group_reduce(Partial<T> x) {
  // Of large values NVRTC would be busy for minutes.
#pragma unroll(sizeof(T) <= large_value ? 5 : 1)
  for (u32 d = 1; d < WIDTH; d *= 2) {
    Partial<T> y;
    y.value = shuffle_down(x.value, d, WIDTH);
    y.order = __shfl_down_sync(full_warp, x.order, d, WIDTH);
    y.has = __shfl_down_sync(full_warp, u32(x.has), d, WIDTH);
    if ((lane_id() & (WIDTH - 1)) + d < WIDTH) x = Join<Monoid>::join(x, y);
  }
  return x;
}

// Thread 0 of the team gets the sum, in the order of ranks. `scratch`: THREADS / 32 partials. Has barriers.
template <class Monoid, u32 THREADS, class T>
__device__ inline Partial<T> team_reduce(Team<THREADS> team, Partial<T> x, Partial<T>* scratch) {
  x = group_reduce<Monoid, 32>(x);
  if constexpr (THREADS > 32) {
    team.sync();
    if (lane_id() == 0) scratch[threadIdx.x / 32] = x;
    team.sync();
    if (threadIdx.x < 32) {
      x = threadIdx.x < THREADS / 32 ? scratch[threadIdx.x] : no_term<T>();
      x = group_reduce<Monoid, 32>(x);
    }
    team.sync();
  }
  return x;
}

}  // namespace oplus
