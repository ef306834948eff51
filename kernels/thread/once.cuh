// Memory that is looked at once: it gives way in the caches to what is read again.
#include "portable.cuh"

namespace oplus {

template <class T> __device__ inline T read_once(const T* from) {
#ifndef OPLUS_EMULATOR
  if constexpr (sizeof(T) == 4 && alignof(T) == 4) {
    const u32 x = __ldcs(reinterpret_cast<const u32*>(from));
    return *reinterpret_cast<const T*>(&x);
  }
  if constexpr (sizeof(T) == 8 && alignof(T) == 8) {
    const unsigned long long x = __ldcs(reinterpret_cast<const unsigned long long*>(from));
    return *reinterpret_cast<const T*>(&x);
  }
#endif
  return *from;
}

template <class T> __device__ inline void write_once(T* to, const T& x) {
#ifndef OPLUS_EMULATOR
  if constexpr (sizeof(T) == 4 && alignof(T) == 4) return __stcs(reinterpret_cast<u32*>(to), *reinterpret_cast<const u32*>(&x));
  if constexpr (sizeof(T) == 8 && alignof(T) == 8) {
    return __stcs(reinterpret_cast<unsigned long long*>(to), *reinterpret_cast<const unsigned long long*>(&x));
  }
#endif
  *to = x;
}

}  // namespace oplus
