// Slots of a matrix that is not stored as compressed rows: of which an entry is told.
#include "thread/search.cuh"

namespace oplus {

// Whether a slot has an entry; without words each has.
__device__ inline bool has_entry(const u32* words, u64 slot) { return !words || words[slot >> 5] >> (slot & 31) & 1; }

}  // namespace oplus
