// C = A ⊕.⊗ B, sorted products of a slice of rows contracted: those of one row and column summed in the order of k.
//
// Determinism: bit-equal to a serial sum. Launches: README.md.
#include "part/spgemm_values.cuh"
#include "thread/rank.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

// Terms that a block reads all at once, side by side; of larger ones a thread reads a run of so many alone, and a warp the rest of it, which
// sums in the same order.
constexpr bool contract_staged = sizeof(C) <= 16;
constexpr u32 contract_alone = 16;

// The rest of the block's run that begins at product p, which has `sum`, and where it ends.
__device__ inline u64 sum_staged(C& sum, bool first, u64 p, u64 n, const u64* keys, const u32* places, const C* terms) {
  constexpr u32 block = tuning::primitive_block;
  __shared__ C term[contract_staged ? block : 1];
  // Where runs begin, those that a mask leaves out too.
  __shared__ u32 heads[block / 32];
  const u64 base = p - threadIdx.x;
  term[threadIdx.x] = p < n ? terms[places[p]] : C();
  const u32 mine = __ballot_sync(full_warp, p < n && threadIdx.x > 0 && keys[p - 1] != keys[p]);
  if (lane_id() == 0) heads[threadIdx.x / 32] = mine;
  __syncthreads();
  if (!first) return p + 1;
  sum = term[threadIdx.x];
  u32 word = threadIdx.x / 32, later = lane_id() < 31 ? mine >> (lane_id() + 1) << (lane_id() + 1) : 0;
  while (!later && ++word < block / 32) later = heads[word];
  const u32 end = u32(min(n - base, u64(later ? word * 32 + u32(__ffs(int(later))) - 1 : block)));
  for (u32 q = threadIdx.x + 1; q < end; q++) sum = Semiring::add(sum, term[q]);
  return base + end;
}

// keys: row << bits | column, sorted; places: their terms. Marked products begin an entry of C. Launch: ceil(n / block) blocks of
// tuning::primitive_block threads.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
spgemm_contract(u64 n, const u64* keys, const u32* places, const u32* words, const u64* starts, u32 bits, const C* terms,
                u32* c_indices, Written* c_values) {
  constexpr bool summed = !Semiring::constant && Semiring::terminal != terminal_always && Semiring::atomic != atomic_first;
  const u64 p = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool first = p < n && is_marked(words, p);
  const u64 key = first ? keys[p] : 0;
  C sum = C();
  if constexpr (Semiring::constant) sum = Semiring::multiply(A(), B(), At{0, 0, 0});
  else if (first && !(summed && contract_staged)) sum = terms[places[p]];
  if constexpr (summed) {
    u64 next = p + 1;
    if constexpr (contract_staged) {
      next = sum_staged(sum, first, p, n, keys, places, terms);
    } else if (first) {
      for (u32 k = 1; k < contract_alone && next < n && keys[next] == key; k++, next++) {
        sum = Semiring::add(sum, terms[places[next]]);
      }
    }
    u32 unfinished = __ballot_sync(full_warp, first && next < n && keys[next] == key);
    while (unfinished) {
      const u32 owner = u32(__ffs(int(unfinished))) - 1;
      unfinished &= unfinished - 1;
      C run = shuffle(sum, owner);
      const u64 of = shuffle(key, owner);
      u64 at = shuffle(next, owner);
      for (u32 count = 32; count == 32; at += 32) {
        const bool inside = at + lane_id() < n && keys[at + lane_id()] == of;
        const C mine = inside ? terms[places[at + lane_id()]] : C();
        const u32 outside = __ballot_sync(full_warp, !inside);
        count = outside ? u32(__ffs(int(outside))) - 1 : 32;
        for (u32 k = 0; k < count; k++) run = Semiring::add(run, shuffle(mine, k));
      }
      if (lane_id() == owner) sum = run;
    }
  }
  if (first) {
    const u64 o = rank(words, starts, p);
    c_indices[o] = u32(key & ((1ull << bits) - 1));
    write_value(c_values, o, sum);
  }
}

}  // namespace oplus
