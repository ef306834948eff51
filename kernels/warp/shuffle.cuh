// Shuffles of any type, in pieces of 4 bytes. The lanes in `mask` take part.
#include "portable.cuh"

namespace oplus {

constexpr u32 full_warp = 0xffffffffu;

__device__ inline u32 lane_id() { return threadIdx.x & 31; }
__device__ inline u32 lanes_below() { return (1u << lane_id()) - 1; }

// A value as 4-byte words; the last word of a type whose size is no multiple of 4 is filled up with zeros.
template <class T> union Words {
  static constexpr u32 count = (sizeof(T) + 3) / 4;
  T value;
  u32 word[count];
  __device__ Words() {
    for (u32 i = 0; i < count; i++) word[i] = 0;
  }
  __device__ Words(T x) {
    if constexpr (sizeof(T) % 4 != 0) {
      for (u32 i = 0; i < count; i++) word[i] = 0;
    }
    value = x;
  }
};

// x of lane `source` (counted within groups of `width` lanes).
template <class T> __device__ inline T shuffle(T x, u32 source, u32 width = 32, u32 mask = full_warp) {
  Words<T> from(x), to;
  for (u32 i = 0; i < Words<T>::count; i++) to.word[i] = __shfl_sync(mask, from.word[i], source, width);
  return to.value;
}
template <class T> __device__ inline T shuffle_up(T x, u32 by, u32 width = 32, u32 mask = full_warp) {
  Words<T> from(x), to;
  for (u32 i = 0; i < Words<T>::count; i++) to.word[i] = __shfl_up_sync(mask, from.word[i], by, width);
  return to.value;
}
template <class T> __device__ inline T shuffle_down(T x, u32 by, u32 width = 32, u32 mask = full_warp) {
  Words<T> from(x), to;
  for (u32 i = 0; i < Words<T>::count; i++) to.word[i] = __shfl_down_sync(mask, from.word[i], by, width);
  return to.value;
}
template <class T> __device__ inline T shuffle_xor(T x, u32 by, u32 width = 32, u32 mask = full_warp) {
  Words<T> from(x), to;
  for (u32 i = 0; i < Words<T>::count; i++) to.word[i] = __shfl_xor_sync(mask, from.word[i], by, width);
  return to.value;
}

}  // namespace oplus
