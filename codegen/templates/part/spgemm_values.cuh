// Where the values of a product are written.
#include "portable.cuh"

namespace oplus {

// A value to its place. Of a constant nobody may want to know it again at every entry: then there are no places.
__device__ inline void write_value(C* values, u64 place, const C& x) {
  if (!Semiring::constant || values) values[place] = x;
}
__device__ inline void write_constant(C* values, u64 place) {
  write_value(values, place, Semiring::multiply(A(), B(), At{0, 0, 0}));
}

}  // namespace oplus
