// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of few columns: how many a sample of the rows has. Any semiring.
// Deterministic. See README.md for launches and sizes.
#include "device/report.cuh"
#include "part/spgemm_hash.cuh"

namespace oplus {

// Rows of B so far from each other are near.
constexpr u32 hash_near = 8;
// A row is walked on for no more entries of A than this when it has turned out that it, or another one, has too many columns.
constexpr u32 hash_some = 32;
// Fuller tables are nobody's wish.
constexpr u32 hash_most = u32(number::slots) / 4 * 3;

// Stretches of a block's warps, one anywhere in every `stride` of them. sums[0] += their columns, sums[1] += the number of rows,
// sums[2] = the most columns of a row, sums[3] = 1 if a row has more than fit well; sums[4] += entries of A that were compared with those in
// their places in the next row, sums[5] += those of them that name a row of B near the other's, sums[6] += the products of all; all 0
// before. Columns are below 2^32 / number::slots.
// page, number: Report, for which `sums` is the control block.
// Launch: 1-D blocks of tuning::hash_block threads, any grid, hash_bytes' shared bytes a warp.
extern "C" __global__ void __launch_bounds__(tuning::hash_block)
spgemm_hash_count(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
                  const u64* m_offsets, const u32* m_indices, u32 columns, u64 rows, u64 stride, u64* sums,
                  u64* page, u64 number, u64 words) {
  constexpr u32 slots = u32(number::slots), batch = tuning::symbolic_batch, warps = tuning::hash_block / 32;
  typedef HashTable<slots, false> Table;
  constexpr u32 bytes = Table::bytes + sizeof(WarpProducts);
  static_assert(bytes == shared_bytes::hash, "");
  DYN_SHARED(unsigned char, shared);
  unsigned char* const memory = shared + threadIdx.x / 32 * bytes;
  WarpProducts* const scratch = reinterpret_cast<WarpProducts*>(memory);
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Table table = {reinterpret_cast<u32*>(memory + sizeof(WarpProducts)), slots};
  __shared__ u64 place, of_block[7];
  // Where one row is known to be too full nobody asks for the others.
  volatile u64* const full_before = &sums[3];
  for (u32 i = threadIdx.x; i < 7; i += blockDim.x) of_block[i] = 0;
  __syncthreads();
  u64 sum = 0, seen = 0, compared = 0, near = 0, products = 0;
  u32 most = 0;
  bool failed = false;
  for (u64 group = blockIdx.x; group * stride * warps < rows; group += gridDim.x) {
    const u64 at = sampled(group, stride) * warps + threadIdx.x / 32;
    if (at >= rows) continue;
    seen++;
    table.clear();
    __syncwarp();
    u32 n = 0;
    bool full = false;
    const u64 begin = a_offsets[at], end = a_offsets[at + 1];
    for (u64 first = begin; first < end && !full; first += hash_some) {
      if (first > begin && __any_sync(full_warp, *full_before != 0)) {
        full = true;
        break;
      }
      put_columns<slots, false, batch, hash_most>(table, x, u32(at), first, min(first + hash_some, end), scratch, n, full,
                                                  [](const Batch<batch>&, u32) {},
                                                  [&](const Batch<batch>&, u32, bool active, u32, u32) { products += active; });
    }
    full |= n > hash_most;
    if (full && lane_id() == 0) *full_before = 1;
    // Entries in their places here and in the next row: near what was just read.
    const u64 next = at + 1 < rows ? a_offsets[at + 2] : end;
    const bool both = lane_id() < min(end - begin, next - end);
    const u32 k = both ? a_indices[begin + lane_id()] : 0, next_k = both ? a_indices[end + lane_id()] : 0;
    compared += __popc(__ballot_sync(full_warp, both));
    near += __popc(__ballot_sync(full_warp, both && next_k - k + hash_near <= 2 * hash_near));
    if (full) {
      failed = true;
    } else {
      sum += n;
      if (n > most) most = n;
    }
  }
  products = warp_sum(products);
  // One for all warps of a block: in global memory those of all blocks meet.
  if (lane_id() == 0) {
    atomicAdd(&of_block[0], sum);
    atomicAdd(&of_block[1], seen);
    atomicMax(&of_block[2], u64(most));
    atomicMax(&of_block[3], u64(failed));
    atomicAdd(&of_block[4], compared);
    atomicAdd(&of_block[5], near);
    atomicAdd(&of_block[6], products);
  }
  __syncthreads();
  if (threadIdx.x < 7 && of_block[threadIdx.x]) {
    if (threadIdx.x == 2 || threadIdx.x == 3) atomicMax(&sums[threadIdx.x], of_block[threadIdx.x]);
    else atomicAdd(&sums[threadIdx.x], of_block[threadIdx.x]);
  }
  tell({page, number}, sums, report_said, words, &place);
}

}  // namespace oplus
