// What a launch gives beside its buffers.
#include "portable.cuh"

namespace oplus {

// A value: itself where it is small, so that nothing is copied to the device before the launch, else where it stands.
template <class T, bool SMALL = sizeof(T) <= 64> struct Given {
  T value;
  __device__ const T& operator*() const { return value; }
};
template <class T> struct Given<T, false> {
  const T* at;
  __device__ const T& operator*() const { return *at; }
};

}  // namespace oplus
