// Rows that are summed in chunks, by many blocks.
#include "portable.cuh"

namespace oplus {

// A row of several chunks; the first of them stands at `chunk` among those of all.
struct LongRow {
  u64 row, chunk;
};

}  // namespace oplus
