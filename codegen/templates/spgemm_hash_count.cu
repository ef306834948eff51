// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of few columns: how many a sample of the rows has. Any semiring.
// Deterministic. See README.md for launches and sizes.
#include "part/spgemm_hash.cuh"

namespace oplus {

// Stretches of a block's warps, one anywhere in every `stride` of them. sums[0] += their columns, sums[1] += the number of rows,
// sums[2] = the most columns of a row, sums[3] = 1 if a row has more than fit; all 0 before. Columns are below 2^32 / number::slots.
// Launch: 1-D blocks of tuning::hash_block threads, any grid, hash_bytes' shared bytes a warp.
extern "C" __global__ void __launch_bounds__(tuning::hash_block)
spgemm_hash_count(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
                  const u64* m_offsets, const u32* m_indices, u32 columns, u64 rows, u64 stride, u64* sums) {
  constexpr u32 slots = u32(number::slots), batch = tuning::symbolic_batch, warps = tuning::hash_block / 32;
  typedef HashTable<slots, false> Table;
  constexpr u32 bytes = Table::bytes + sizeof(WarpProducts);
  static_assert(bytes == shared_bytes::hash, "");
  DYN_SHARED(unsigned char, shared);
  unsigned char* const memory = shared + threadIdx.x / 32 * bytes;
  WarpProducts* const scratch = reinterpret_cast<WarpProducts*>(memory);
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Table table = {reinterpret_cast<u32*>(memory + sizeof(WarpProducts)), slots};
  u64 sum = 0, seen = 0;
  u32 most = 0;
  bool failed = false;
  for (u64 group = blockIdx.x; group * stride * warps < rows; group += gridDim.x) {
    const u64 at = sampled(group, stride) * warps + threadIdx.x / 32;
    if (at >= rows) continue;
    seen++;
    table.clear();
    __syncwarp();
    const u32 n = warp_columns<slots, false, batch>(table, x, true, u32(at), scratch, [](const Batch<batch>&, u32) {},
                                             [](const Batch<batch>&, u32, bool, u32, u32) {});
    if (n == 0xffffffffu) {
      failed = true;
    } else {
      sum += n;
      if (n > most) most = n;
    }
  }
  if (lane_id() == 0) {
    if (sum) atomicAdd(&sums[0], sum);
    if (seen) atomicAdd(&sums[1], seen);
    if (most) atomicMax(&sums[2], u64(most));
    if (failed) atomicMax(&sums[3], u64(1));
  }
}

}  // namespace oplus
