// Two matrices' entries merged in the order of (row, column), in tiles of equally many entries whatever the rows.
//
// Where both have an entry, A's comes first: the pair is met at A's entry, B's is passed over. A tile sees one entry past
// each of its ends, since a tile may end between the two of a pair.
#include "device/rows.cuh"

namespace oplus {

constexpr u32 merge_block = tuning::primitive_block, merge_items = tuning::entry_items, merge_words = entry_tile / 32;
enum { kind_union, kind_intersection, kind_overwrite, kind_accumulate, kind_filled };

// Compressed rows of one operand.
struct Sorted {
  const u64* offsets;
  const u32* indices;
};

// Where tiles begin: entries of A before, and the row.
struct Splits {
  const u64* a;
  const u32* row;
};

// What a thread's merged entries are, a bit each: A's, such as B has too, and those that are not B's of a pair.
struct Merged {
  u32 sides, pairs, first;
};

}  // namespace oplus
