// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B by scattering rows of B: how many columns each row of C has. Launches: README.md.
#include "part/spgemm_rows.cuh"

namespace oplus {

// Rows of least to most products. Launch: blocks of number::threads, any grid; tickets: 0 before.
extern "C" __global__ void __launch_bounds__(u32(number::threads))
spgemm_rows_count(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices, const u64* m_offsets,
                  const u32* m_indices, u32 columns, u64 rows, const u32* products, const u32* first, const u32* last, u32 least, u32 most,
                  u64* tickets, u64* row_counts) {
  typedef RowTile<131072> Tile;
  __shared__ u32 bits[Tile::words], listed[flag::masked ? Tile::words : 1], next;
  __shared__ u64 scratch[34];
  const Team<rows_threads> team = {scratch};
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  Tile tile = {bits, listed, &next, 0, 0, 0};
  for_rows_of(rows, products, least, most, tickets, [&](u32 row, u32 work) {
    const u64 begin = a_offsets[row], end = a_offsets[u64(row) + 1];
    const u32 lanes = virtual_warp(work, end - begin);
    u64 count = 0;
    u32 column = first[row];
    for (bool partial = false; column != no_column; partial = true) {
      tile.open(x, row, column, last[row]);
      tile.walk(x, begin, end, lanes, partial, [&](u64, u64, u32 at) { tile.mark(at); });
      __syncthreads();
      for (u32 w = threadIdx.x; w < tile.used; w += rows_threads) count += u32(__popc(bits[w]));
      column = next;
      __syncthreads();
    }
    count = team.sum(count);
    if (threadIdx.x == 0) row_counts[row] = count;
  });
}

}  // namespace oplus
