// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B by scattering rows of B into a dense vector of sums. Launches: README.md.
//
// Determinism: products are added in any order, which shows in floating ⊕ only.
#include "part/accumulate.cuh"
#include "part/spgemm_factors.cuh"
#include "part/spgemm_rows.cuh"

namespace oplus {

// Columns of a tile: sums and what they need besides take 32 KiB of shared memory at most.
__device__ constexpr u32 columns_within(u32 each) {
  u32 width = 32;
  while (width < 32768 && 2 * width * each <= 32768) width *= 2;
  return width;
}
struct __align__(16) Aligned {
  u64 words[2];
};
constexpr u32 rows_width = Semiring::constant ? 32768 : columns_within(sizeof(C) + (Exact<Semiring, C>::value ? 0 : 4));

// Rows of least to most products. Launch: blocks of number::threads, any grid; tickets: 0 before.
extern "C" __global__ void __launch_bounds__(u32(number::threads))
spgemm_rows(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
            const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,
            const u64* j_ids, u64 rows, const u32* products, const u32* first, const u32* last, u32 least, u32 most, u64* tickets,
            const u64* c_offsets, u32* c_indices, Written* c_values) {
  typedef RowTile<rows_width> Tile;
  typedef Accumulator<Semiring, C, rows_threads, rows_width> Sums;
  __shared__ Aligned memory[Semiring::constant ? 1 : (rows_width * sizeof(C) + 15) / 16];
  __shared__ u32 state[Semiring::constant || Sums::state_words == 0 ? 1 : Sums::state_words];
  __shared__ u32 bits[Tile::words], bases[Tile::words], listed[flag::masked ? Tile::words : 1], next;
  __shared__ u64 scratch[34];
  const Team<rows_threads> team = {scratch};
  C* const values = reinterpret_cast<C*>(memory);
  Sums sums = {team, values, state};
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  Tile tile = {bits, listed, &next, 0, 0, 0};
  for_rows_of(rows, products, least, most, tickets, [&](u32 row, u32 work) {
    const u64 begin = a_offsets[row], end = a_offsets[u64(row) + 1];
    const u32 lanes = virtual_warp(work, end - begin);
    u64 out = c_offsets[row];
    u32 column = first[row];
    for (bool partial = false; column != no_column; partial = true) {
      tile.open(x, row, column, last[row]);
      if constexpr (!Semiring::constant) {
        sums.clear(tile.used * 32);
        __syncthreads();
      }
      const auto add = [&](u64 a, u64 b, u32 at) {
        if constexpr (!Semiring::constant) sums.put(true, at, product(factors, x, a, b, row), u32(a - begin), 0, 1);
      };
      tile.walk(x, begin, end, lanes, partial, [&](u64 a, u64 b, u32 at) {
        tile.mark(at);
        if constexpr (!Semiring::constant && Sums::two_passes) sums.claim(at, u32(a - begin));
        else add(a, b, at);
      });
      __syncthreads();
      if constexpr (!Semiring::constant && Sums::two_passes) {
        tile.walk(x, begin, end, lanes, partial, add);
        __syncthreads();
      }
      const u32 each = (tile.used + rows_threads - 1) / rows_threads;
      u32 mine = 0, count;
      for (u32 w = threadIdx.x * each; w < (threadIdx.x + 1) * each && w < tile.used; w++) mine += u32(__popc(bits[w]));
      u32 before = team.exclusive_sum(mine, count);
      for (u32 w = threadIdx.x * each; w < (threadIdx.x + 1) * each && w < tile.used; w++) {
        bases[w] = before;
        before += u32(__popc(bits[w]));
      }
      __syncthreads();
      for (u32 at = threadIdx.x; at < tile.used * 32; at += rows_threads) {
        const u32 word = bits[at / 32], bit = 1u << (at & 31);
        if (!(word & bit)) continue;
        const u64 to = out + bases[at / 32] + u32(__popc(word & (bit - 1)));
        c_indices[to] = u32(tile.low) + at;
        if constexpr (Semiring::constant) write_constant(c_values, to);
        else write_value(c_values, to, values[at]);
      }
      out += count;
      column = next;
      __syncthreads();
    }
  });
}

}  // namespace oplus
