// Places in shared memory.
#include "portable.cuh"

namespace oplus {

// Where the i-th value stands if one place is left out after every row of banks: threads that walk runs of equal length, or some
// values apart, meet in few banks.
template <class T> __device__ constexpr u32 bank_place(u32 i) { return i + i / (sizeof(T) <= 4 ? 32 : 16); }

}  // namespace oplus
