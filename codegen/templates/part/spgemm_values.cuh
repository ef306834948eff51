// Where the values of a product are written.
#include "portable.cuh"

namespace oplus {

// Whether products differ, so that those of an entry have to be kept until they are added.
constexpr bool has_terms = !Semiring::value_free;
// What all products are where they do not differ.
__device__ inline C the_term() { return Semiring::multiply(A(), B(), At{0, 0, 0}); }

// What the rows of a list are written as: where they only stand until they are moved together, as they are added.
template <bool STAGED> struct Listed {
  typedef Written Type;
};
template <> struct Listed<true> {
  typedef C Type;
};

// A value to its place. Of a constant nobody may want to know it again at every entry: then there are no places.
template <class T> __device__ inline void write_value(T* values, u64 place, const C& x) {
  if (!Semiring::constant || values) values[place] = static_cast<T>(x);
}
template <class T> __device__ inline void write_constant(T* values, u64 place) {
  write_value(values, place, the_term());
}

}  // namespace oplus
