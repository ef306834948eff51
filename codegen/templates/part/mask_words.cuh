// The columns of a mask's row, or of a stretch of it, as words of 32 columns in a team's shared memory: from a column to its place there.
#include "portable.cuh"

namespace oplus {

// A word of columns, and which of them the mask has.
struct alignas(8) MaskWord {
  u32 word, bits;
};

// Words by open addressing in the first `used` of SLOTS slots, at least half of which stay empty. Neighbouring words have
// neighbouring slots: where the mask's columns lie near each other, lanes that look up near ones read the same words.
template <u32 SLOTS> struct MaskWords {
  static constexpr u32 empty = 0xffffffffu, none = 0xffffffffu;  // empty: no word, as there are less than 2^27
  static constexpr u32 bytes = SLOTS * 10;
  static_assert((SLOTS & (SLOTS - 1)) == 0 && SLOTS >= 16 && SLOTS <= 65536, "a power of two");

  MaskWord* slots;  // [SLOTS]
  u16* before;      // [SLOTS]: the mask's columns ahead of the word's
  u32 used;         // a power of two from 8 to SLOTS

  __device__ MaskWords(unsigned char* memory, u32 columns)
      : slots(reinterpret_cast<MaskWord*>(memory)), before(reinterpret_cast<u16*>(memory + SLOTS * 8)),
        used(columns <= 4 ? 8 : 1u << (33 - __clz(columns - 1))) {}

  // Words a multiple of `used` apart go to different slots.
  __device__ u32 home(u32 word) const { return (word + (word >> (31 - __clz(used))) * 0x9e3779b1u) & (used - 1); }

  // Puts in the mask's columns, of which there are up to SLOTS / 2. The lanes of a team call, `lane` of `lanes`, with their barrier.
  template <class Sync> __device__ void fill(const u32* columns, u32 n, u32 lane, u32 lanes, Sync sync) const {
    for (u32 i = lane; n && i < used; i += lanes) slots[i] = {empty, 0};
    sync();
    for (u32 i = lane; i < n; i += lanes) {
      const u32 word = columns[i] >> 5;
      if (i > 0 && columns[i - 1] >> 5 == word) continue;
      u32 at = home(word);
      while (atomicCAS(&slots[at].word, empty, word) != empty) at = (at + 1) & (used - 1);
      before[at] = u16(i);
    }
    sync();
    for (u32 i = lane; i < n; i += lanes) atomicOr(&slots[slot_of(columns[i] >> 5)].bits, 1u << (columns[i] & 31));
    sync();
  }
  // Of a word that is there.
  __device__ u32 slot_of(u32 word) const {
    u32 at = home(word);
    while (slots[at].word != word) at = (at + 1) & (used - 1);
    return at;
  }
  // The column's place among the mask's; `none` if it is not there.
  __device__ u32 find(u32 column) const {
    const u32 word = column >> 5, bit = 1u << (column & 31);
    for (u32 at = home(word);; at = (at + 1) & (used - 1)) {
      const MaskWord here = slots[at];
      if (here.word == word) return here.bits & bit ? before[at] + __popc(here.bits & (bit - 1)) : none;
      if (here.word == empty) return none;
    }
  }
};

}  // namespace oplus
