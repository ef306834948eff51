// Kernels with flag::supernodes: how they walk B's rows.
#include "warp/products.cuh"

namespace oplus {

// Several products of a column at once fill the registers that several columns at once do else.
constexpr u32 supernode_walk = flag::supernodes ? walk_joined : 0, supernode_most = flag::supernodes ? most_joined : 1;
constexpr u32 supernode_batch = flag::supernodes ? 1 : tuning::numeric_batch;

}  // namespace oplus
