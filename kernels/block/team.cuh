// A team: the THREADS threads that share a task, a warp of a larger block or a whole block.
#include "warp/scan.cuh"

namespace oplus {

// Launch: 1-D blocks; of any multiple of 32 threads for Team<32>, of exactly THREADS threads otherwise.
// `scratch`: 34 u64 in shared memory, one a team; unused by Team<32>. All members must call. Deterministic.
template <u32 THREADS> struct Team {
  static constexpr u32 threads = THREADS;
  static constexpr bool is_warp = THREADS == 32;
  u64* scratch;

  __device__ u32 rank() const { return is_warp ? lane_id() : threadIdx.x; }
  __device__ u32 warp() const { return is_warp ? 0 : threadIdx.x / 32; }
  __device__ void sync() const {
    if constexpr (is_warp) __syncwarp();
    else __syncthreads();
  }

  // Sum of x over the members of lower rank; `total`: over all.
  template <class T> __device__ T exclusive_sum(T x, T& total) const {
    const T inclusive = warp_inclusive_sum(x);
    if constexpr (is_warp) {
      total = shuffle(inclusive, 31);
      return inclusive - x;
    } else {
      T* sums = reinterpret_cast<T*>(scratch);
      if (lane_id() == 31) sums[threadIdx.x / 32] = inclusive;
      __syncthreads();
      if (threadIdx.x < 32) {
        const T warp = threadIdx.x < THREADS / 32 ? sums[threadIdx.x] : T(0);
        const T below = warp_inclusive_sum(warp);
        sums[threadIdx.x] = below - warp;
        if (threadIdx.x == 31) sums[32] = below;
      }
      __syncthreads();
      total = sums[32];
      const T result = sums[threadIdx.x / 32] + inclusive - x;
      __syncthreads();
      return result;
    }
  }

  template <class T> __device__ T sum(T x) const {
    T total;
    exclusive_sum(x, total);
    return total;
  }
};

}  // namespace oplus
