// Places in shared memory.
#include "portable.cuh"

namespace oplus {

// Where the i-th value stands if one place is left out after every row of banks: threads that walk runs of equal length, or some
// values apart, meet in few banks.
template <class T> __device__ constexpr u32 bank_place(u32 i) { return i + i / (sizeof(T) <= 4 ? 32 : 16); }

// So many values in shared memory, laid out like that.
template <class T, u32 N> struct Banked {
  T x[bank_place<T>(N - 1) + 1];
  __device__ T& operator[](u32 i) { return x[bank_place<T>(i)]; }
};

}  // namespace oplus
