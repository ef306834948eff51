// Two matrices' entries merged in the order of (row, column), in tiles of equally many entries whatever the rows.
//
// Where both have an entry, A's comes first: the pair is met at A's entry, B's is passed over. A tile sees one entry past
// each of its ends, since a tile may end between the two of a pair.
#include "device/rows.cuh"

namespace oplus {

constexpr u32 merge_block = tuning::primitive_block, merge_words = entry_tile / 32;
enum { kind_union, kind_intersection, kind_overwrite, kind_accumulate, kind_filled };

}  // namespace oplus
