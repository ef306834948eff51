// A word of shared memory that other threads may write by atomics meanwhile.
#include "portable.cuh"

namespace oplus {

// The word as it is before or after any write: not a race, as a plain read would be.
__device__ inline u32 shared_word(const u32* word) {
#ifdef OPLUS_EMULATOR
  return *word;
#else
  u32 x;
  const u32 place = u32(__cvta_generic_to_shared(word));
  asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(x) : "r"(place) : "memory");
  return x;
#endif
}

}  // namespace oplus
