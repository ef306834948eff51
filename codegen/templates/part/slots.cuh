// Slots of a matrix that is not stored as compressed rows: of which an entry is told.
#include "thread/search.cuh"

namespace oplus {

// Whether a slot has an entry; without words each has.
__device__ inline bool has_entry(const u32* words, u64 slot) { return !words || words[slot >> 5] >> (slot & 31) & 1; }

// The bits of n slots, 32 at most, from `slot` on.
__device__ inline u32 bits_from(const u32* words, u64 slot, u32 n) {
  const u32 by = u32(slot & 31);
  u32 bits = words[slot >> 5] >> by;
  if (by + n > 32) bits |= words[(slot >> 5) + 1] << (32 - by);
  return n < 32 ? bits & ((1u << n) - 1) : bits;
}

// Sets these bits of the slots from `slot` on.
__device__ inline void or_bits(u32* words, u64 slot, u32 bits) {
  const u32 by = u32(slot & 31);
  atomicOr(&words[slot >> 5], bits << by);
  if (by && bits >> (32 - by)) atomicOr(&words[(slot >> 5) + 1], bits >> (32 - by));
}

}  // namespace oplus
