// Binary searches by one thread.
#include "portable.cuh"

namespace oplus {

// Smallest i in [low, high) with sorted[i] > x, else high.
template <class T, class I> __device__ inline I upper_bound(const T* sorted, I low, I high, T x) {
  while (low < high) {
    const I middle = low + (high - low) / 2;
    if (sorted[middle] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Smallest i in [low, high) with sorted[i] >= x, else high.
template <class T, class I> __device__ inline I lower_bound(const T* sorted, I low, I high, T x) {
  while (low < high) {
    const I middle = low + (high - low) / 2;
    if (sorted[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

}  // namespace oplus
