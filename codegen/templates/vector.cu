// Vectors between their forms: sparse (ascending u32 indices and values) and bitmap (a bit an index, dense values).
// `V` is the value type. Blocks of tuning::primitive_block threads; deterministic.

namespace oplus {

__device__ inline u64 global_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// present is zero before. Launch: ceil(count / block) blocks. `values` and `dense` may be null: bits only.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
vector_scatter(u64 count, const u32* indices, const V* values, u32* present, V* dense) {
  const u64 e = global_thread();
  if (e >= count) return;
  const u32 i = indices[e];
  atomicOr(&present[i >> 5], 1u << (i & 31));
  if (dense) dense[i] = values[e];
}

// values[e] = dense[indices[e]]. Launch: ceil(count / block) blocks.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
vector_gather(u64 count, const u32* indices, const V* dense, V* values) {
  const u64 e = global_thread();
  if (e < count) values[e] = dense[indices[e]];
}

// starts[w] = entries before word w, of words + 1. One thread an index. Launch: ceil(32 * words / block) blocks, one or more. offsets[2]: of
// the vector as a row. `values` may be null: where all bits are set the dense values are the entries'.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
vector_compact(u64 words, const u32* present, const u64* starts, const V* dense, u64* offsets, u32* indices, V* values) {
  const u64 i = global_thread(), w = i >> 5;
  if (i < 2) offsets[i] = i == 0 ? 0 : starts[words];
  if (w >= words) return;
  const u32 bits = present[w], bit = u32(i & 31);
  if (!(bits >> bit & 1)) return;
  const u64 e = starts[w] + u32(__popc(bits & ((1u << bit) - 1)));
  indices[e] = u32(i);
  if (values) values[e] = dense[i];
}

}  // namespace oplus
