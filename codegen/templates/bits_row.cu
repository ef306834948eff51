// The set bits of a bitmap and their values as one sparse vector, in one launch. A thread has a word, a block the words of its threads.
// `V` is the value type. Deterministic. Launches: README.md.
#include "device/row_writer.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

// out_values may be null: positions alone. words > 0; bits from the length on are zero.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
bits_row(u64 word_count, const u32* present, const V* __restrict__ dense, u32* out_indices, V* out_values, u64* out_offsets, u64* state, u64* control,
         u32 said, u64* page, u64 number, u64 words) {
  __shared__ RowWriter::Shared shared;
  const RowWriter writer = {out_offsets, state, control, said, page, number, words};
  const u64 nth = writer.tile(shared), w = nth * tuning::primitive_block + threadIdx.x;
  const u32 word = w < word_count ? present[w] : 0;
  const u64 at = writer.before<tuning::primitive_block>(nth, u32(__popc(word)), shared);
  // A warp writes a word's entries together: they lie side by side, there and here. It reads those of several words at once.
  constexpr u32 batch = sizeof(V) <= 8 ? 8 : 2;
  const u32 filled = __ballot_sync(full_warp, word != 0);
  for (u32 group = 0; group < 32; group += batch) {
    if (!(filled >> group & ((1u << batch) - 1))) continue;
    V x[batch];
    u32 bits[batch];
    const u64 i = (w - lane_id() + group) * 32 + lane_id();
#pragma unroll
    for (u32 k = 0; k < batch; k++) {
      bits[k] = shuffle(word, group + k);
      if (out_values && (bits[k] >> lane_id() & 1)) x[k] = dense[i + k * 32];
    }
#pragma unroll
    for (u32 k = 0; k < batch; k++) {
      const u64 e = shuffle(at, group + k) + u32(__popc(bits[k] & lanes_below()));
      if (!(bits[k] >> lane_id() & 1)) continue;
      out_indices[e] = u32(i) + k * 32;
      if (out_values) out_values[e] = x[k];
    }
  }
  writer.end(shared);
}

}  // namespace oplus
