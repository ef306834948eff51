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

// Smallest i in [low, high) with sorted[i] >= x, else high. `sorted`: a pointer, or what has places like one.
template <class T, class I, class Sorted> __device__ inline I lower_bound(const Sorted& sorted, I low, I high, T x) {
  while (low < high) {
    const I middle = low + (high - low) / 2;
    if (sorted[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

// As lower_bound, with looks at low + step - 1, then twice as far, and so on: where it is likely near. Of lists of less than a quarter of
// what I counts, so that the last step's end is a place too.
template <class T, class I, class Sorted> __device__ inline I lower_bound_near(const Sorted& sorted, I low, I high, T x, I step = 1) {
  while (high - low > step && sorted[low + step - 1] < x) {
    low += step;
    step *= 2;
  }
  return lower_bound<T, I>(sorted, low, min(I(low + step), high), x);
}

}  // namespace oplus
