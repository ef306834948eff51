// Where a matrix's values along its diagonals stand.
#include "portable.cuh"

namespace oplus {

// That of row i on diagonal d: by 32 rows, in these by diagonal. What a warp reads of many diagonals lies side by side then, not in as
// many pages of memory.
template <class I> __device__ inline I band_place(I i, u32 d, u32 diagonals) { return (i / 32 * diagonals + d) * 32 + i % 32; }

}  // namespace oplus
