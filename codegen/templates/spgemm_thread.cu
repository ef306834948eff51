// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of at most number::width products: expand, sort, contract, a thread a row.
//
// After Dalton, Olson, Bell, "Optimizing sparse matrix-matrix multiplication for the GPU" (10.1145/2699470). With flag::whole every
// row of A is one of these, and rows find their places in C by look-back: one pass, no count before it.
// Determinism: sums run in the order of k, bit-equal to a serial sum. See README.md for launches and sizes.
#include "block/team.cuh"
#include "device/look_back.cuh"
#include "device/report.cuh"
#include "part/spgemm_factors.cuh"
#include "part/spgemm_thread.cuh"

namespace oplus {

// Blocks of a multiprocessor, which bounds registers: for large values to what they take.
constexpr u32 thread_blocks = (sizeof(C) > 8 ? 12 : ThreadRows<u32(number::width)>::resident_warps) / (u32(number::block) / 32);

// Launch: 1-D blocks of number::block threads, any grid, thread_launch's shared bytes.
// A list (`units`, `begin`: places in the control block): row r to out_offsets[r] on, its length to row_counts unless that is
// null; all behind out_values unused. Never used: first, last, which all such kernels are given.
// flag::whole: C's offsets to out_offsets, nothing written past `capacity` entries; state: u64[1 + ceil(rows / block)] zeros;
// nnz(C) and the longest row's length to control[control_entries] and control[control_longest] (0 before). page, number: Report;
// `words` from `control` on are left zero.
extern "C" __global__ void __launch_bounds__(u32(number::block), thread_blocks)
spgemm_thread(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
              const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids,
              const u64* k_ids, const u64* j_ids, u64* control, u32 units, u32 begin, const u32* list, const u32* first,
              const u32* last, u64* out_offsets, u64* row_counts, u32* out_indices, Listed<flag::staged>::Type* out_values, u64 rows, u64* state,
              u64 capacity, u64* page, u64 number, u64 words) {
  constexpr u32 width = u32(number::width), block = u32(number::block);
  constexpr bool summed = !Semiring::constant && Semiring::terminal != terminal_always && Semiring::atomic != atomic_first;
  typedef ThreadRows<width> Thread;
  constexpr u32 terms_bytes = Semiring::constant ? 0 : rounded(width * 32 * sizeof(C)), bytes = Thread::bytes + terms_bytes;
  static_assert(bytes * (block / 32) == shared_bytes::thread, "");
  __shared__ u64 place, scratch[34];
  DYN_SHARED(unsigned char, shared);
  unsigned char* memory = shared + threadIdx.x / 32 * bytes;
  C* const terms = reinterpret_cast<C*>(memory);
  const Thread mine = {reinterpret_cast<Key*>(memory + terms_bytes)};
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  const u64 n = flag::whole ? rows : control[units], from = flag::whole ? 0 : control[begin];
  u32 longest = 0;
  for (u64 turn = blockIdx.x;; turn += gridDim.x) {
    const u64 tile = flag::whole ? next_tile(state, &place) : turn;
    if (tile * block >= n) break;
    const u64 at = tile * block + threadIdx.x;
    const bool live = at < n;
    const u32 row = !live ? 0 : flag::whole ? u32(at) : list[from + at];
    A a[Thread::ahead];
    B b[Thread::ahead];
    __syncwarp();
    const u32 products = mine.template expand<Semiring::reads_a || Semiring::positional>(
        x, live, row,
        [&](Position of_a, Position of_b, u32 t) {
          if constexpr (Semiring::reads_a) a[t] = a_values[of_a];
          if constexpr (Semiring::reads_b) b[t] = b_values[of_b];
        },
        [&](Position of_a, u32 column, u32 t, u32 p, u32 of) {
          if constexpr (has_terms) terms[p] = multiply(factors, x, loaded(a[t], b[t], column), of_a, of);
        });
    Key key[width];
    mine.sort(products, key);
    const u32 tails = mine.tails(key), count = __popc(tails), stop = warp_inclusive_sum(count), all = shuffle(stop, 31);
    u64 out = 0;
    if constexpr (flag::whole) {
      const Team<block> team = {scratch};
      u64 sum;
      const u64 below = team.exclusive_sum(u64(count), sum);
      if (threadIdx.x < 32) {
        const u64 before = look_back(state + 1, tile, sum);
        if (threadIdx.x == 0) place = before;
      }
      __syncthreads();
      out = place + below;
      if (live) out_offsets[row] = out;
      if (at + 1 == n) out_offsets[n] = control[control_entries] = out + count;
      if (count > longest) longest = count;
    } else if (live) {
      out = out_offsets[row];
      if (row_counts) row_counts[row] = count;
    }
    // The warp's entries side by side in shared memory: columns where the keys were, then sums where the terms were.
    C sums[width];
    C sum = C();
    __syncwarp();
    u32 done = stop - count;
#pragma unroll
    for (u32 s = 0; s < width; s++) {
      const bool is_tail = tails >> s & 1, is_head = s == 0 || (tails >> (s > 0 ? s - 1 : 0) & 1);
      if constexpr (!Semiring::constant) {
        C term = C();
        if constexpr (!has_terms) term = the_term();
        else if (key[s] != no_product) term = terms[mine.place(key[s])];
        if constexpr (summed) sum = is_head ? term : Semiring::add(sum, term);
        else if (is_head) sum = term;
        sums[s] = sum;
      }
      if (is_tail) mine.keys[mine.compact(done)] = mine.column(key[s]);
      done += is_tail;
    }
    __syncwarp();
    if constexpr (!Semiring::constant) {
      done = stop - count;
#pragma unroll
      for (u32 s = 0; s < width; s++) {
        if (tails >> s & 1) terms[mine.compact(done)] = sums[s];
        done += tails >> s & 1;
      }
      __syncwarp();
    }
    // Entry e of the warp belongs to the first lane whose entries end behind it.
    const u64 shift = out - (stop - count), side_by_side = shuffle(shift, 0);
#pragma unroll 2
    for (u32 e = lane_id(); e - lane_id() < all; e += 32) {
      const u64 to = (flag::whole ? side_by_side : shuffle(shift, first_above(stop, e))) + e;
      if (e < all && (!flag::whole || to < capacity)) {
        out_indices[to] = u32(mine.keys[mine.compact(e)]);
        if constexpr (Semiring::constant) write_constant(out_values, to);
        else write_value(out_values, to, terms[mine.compact(e)]);
      }
    }
  }
  if constexpr (flag::whole) {
    longest = warp_max(longest);
    if (lane_id() == 0 && longest) atomicMax(&control[control_longest], u64(longest));
    tell({page, number}, control, report_said, words, &place);
  }
}

}  // namespace oplus
