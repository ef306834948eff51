// y⟨m⟩ = x ⊕.⊗ A (push): y(j) = ⊕ of x(k) ⊗ A(k, j) over the entries k of a sparse x. With flag::matrix_left the product
// is A(k, j) ⊗ x(k), which makes mxv of a matrix stored by columns.
//
// A: CSR, u64 offsets, u32 columns ascending in each row. x: ascending u32 indices and values. y: present bits and dense values.
// Deterministic but for floating ⊕, which adds in any order. Any: the smallest k. Launches: README.md.
#include "block/sort.cuh"
#include "device/row_writer.cuh"
#include "part/entries.cuh"
#include "part/push.cuh"
#include "warp/products.cuh"

namespace oplus {

// y without entries; null y_present: nobody asks. state: columns u32, null (and unused) for a monoid with a native start; see README.md.
// Launch: ceil(columns / block) blocks of tuning::spmv_block threads, as for the others unless they say so.
extern "C" __global__ void __launch_bounds__(tuning::spmv_block)
spmspv_clear(u64 columns, u32* y_present, C* y_values, u32* state) {
  const u64 j = u64(blockIdx.x) * tuning::spmv_block + threadIdx.x;
  if (j >= columns) return;
  if (y_present && (j & 31) == 0) y_present[j >> 5] = 0;
  if constexpr (exact) y_values[j] = Exact<Semiring, C>::start();
  else state[j] = first ? 0xffffffffu : 0;
}

template <class F>
__device__ inline void for_pushed(u64 x_count, u32 each, const u32* x_indices, const u64* a_offsets, const u32* a_indices,
                                  const u32* mask, F f) {
  constexpr u32 warps = tuning::spmv_block / 32, batch = 2;
  __shared__ WarpProducts scratch[warps];
  const u64 begin = u64(blockIdx.x) * each, end = begin + each;
  const Share share = {blockIdx.y * warps + threadIdx.x / 32, gridDim.y * warps};
  for_products<batch>(share, x_indices, begin, end < x_count ? end : x_count, Rows{a_offsets, a_indices}, 0, u64(1) << 32,
                      false, &scratch[threadIdx.x / 32], [&](const Batch<batch>& p) {
#pragma unroll
                        for (u32 t = 0; t < batch; t++) {
                          if (!p.active[t]) continue;
                          const u32 column = a_indices[p.b[t]];
                          if constexpr (flag::masked) {
                            if ((mask[column >> 5] >> (column & 31) & 1) == (flag::complement ? 1u : 0u)) continue;
                          }
                          f(u32(p.a[t]), p.b[t], column);
                        }
                      });
}

// Only for monoids that keep the first term: state[j] = smallest position in x that reaches j.
// Launch: grid (ceil(x_count / each), shares): `shares` blocks part the products of `each` entries of x, 32 to 256.
extern "C" __global__ void __launch_bounds__(tuning::spmv_block)
spmspv_claim(u64 x_count, u32 each, const u32* x_indices, const u64* a_offsets, const u32* a_indices, const u32* mask, u32* state) {
  for_pushed(x_count, each, x_indices, a_offsets, a_indices, mask, [&](u32 x, u64, u32 column) {
    if (const_cast<volatile u32*>(state)[column] > x) atomicMin(&state[column], x);
  });
}

// Launch as spmspv_claim.
extern "C" __global__ void __launch_bounds__(tuning::spmv_block)
spmspv_push(u64 x_count, u32 each, const u32* x_indices, const Vector* x_values, const u64* a_offsets, const u32* a_indices,
            const Matrix* a_values, const u32* mask, const u64* k_ids, const u64* out_ids, u32* y_present, C* y_values,
            u32* state) {
  const BlockSums sums = {sums_memory()};
  const auto add = [&](C term, u32 column) { add_term(term, column, y_present, y_values, state); };
  sums.clear();
  for_pushed(x_count, each, x_indices, a_offsets, a_indices, mask, [&](u32 x, u64 e, u32 column) {
    if constexpr (first) {
      if (state[column] != x) return;
    }
    const C term = term_of(a_values, e, x_values, x, x_indices[x], column, k_ids, out_ids);
    if (!sums.add(term, column)) add(term, column);
  });
  sums.end(add);
}

__device__ inline RowWriter::Shared& row_memory() {
  __shared__ RowWriter::Shared shared;
  return shared;
}

// As spmspv_push of what has been claimed, for monoids that keep the first term: y as a sparse vector, in one launch.
// Launch: ceil(columns / tile) blocks of tuning::primitive_block threads; state is claimed.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
spmspv_claimed(u64 columns, const u32* x_indices, const Vector* x_values, const u64* a_offsets, const u32* a_indices, const Matrix* a_values,
               const u64* k_ids, const u64* out_ids, const u32* claimed, u32* out_indices, C* out_values, u64* out_offsets, u64* state,
               u64* control, u32 said, u64* page, u64 number, u64 words) {
  if constexpr (first) {
    constexpr u32 items = tuning::entry_items, nobody = 0xffffffffu;
    RowWriter::Shared& shared = row_memory();
    const RowWriter writer = {out_offsets, state, control, said, page, number, words};
    const u64 nth = writer.tile(shared), begin = nth * entry_tile + threadIdx.x / 32 * (32 * items) + lane_id();
    u32 claims[items], k[items], kept[items], all = 0;
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      claims[t] = begin + t * 32 < columns ? claimed[begin + t * 32] : nobody;
      kept[t] = __ballot_sync(full_warp, claims[t] != nobody);
      k[t] = claims[t] != nobody ? x_indices[claims[t]] : 0;
      all += u32(__popc(kept[t]));
    }
    // The warp's are counted once, and stand before those of the next.
    u64 at = shuffle(writer.before<tuning::primitive_block>(nth, lane_id() == 31 ? all : 0, shared), 0);
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      if (claims[t] != nobody) {
        const u64 to = at + u32(__popc(kept[t] & lanes_below()));
        const u32 column = u32(begin + t * 32);
        u64 e = 0;
        if constexpr (reads_matrix) e = lower_bound<u32, u64>(a_indices, a_offsets[k[t]], a_offsets[k[t] + 1], column);
        out_indices[to] = column;
        out_values[to] = term_of(a_values, e, x_values, claims[t], k[t], column, k_ids, out_ids);
      }
      at += u32(__popc(kept[t]));
    }
    writer.end(shared);
  }
}

// Products that spmspv_few takes at most; none of large values. The library reckons with the same.
constexpr u32 few_products = sizeof(C) <= 8 ? 2048 : sizeof(C) <= 16 ? 1024 : 0, few_threads = 512;

// y as a sparse vector where all products are few, however many columns there are: sorted by columns, and summed in the order of k,
// bit-equal to a serial sum. control[0] is ~0 where they are not few after all: y is nothing then. mask: bits, or null and `listed`
// the columns, ascending. Launch: 1 block of few_threads threads; x_count <= few_products.
extern "C" __global__ void __launch_bounds__(few_threads)
spmspv_few(u64 x_count, const u32* x_indices, const Vector* x_values, const u64* a_offsets, const u32* a_indices, const Matrix* a_values,
           const u32* mask, u64 listed_count, const u32* listed, const u64* k_ids, const u64* out_ids, u32* out_indices, C* out_values,
           u64* out_offsets, u64* state, u64* control, u32 said, u64* page, u64 number, u64 words) {
  if constexpr (few_products > 0) {
    constexpr u32 threads = few_threads;
    constexpr u64 nothing = ~0ull;
    // What is not taken is looked at all the same, and no array may have no place.
    constexpr u32 room = few_products > 0 ? few_products : 1;
    __shared__ u64 keys[room], space[room * sizeof(C) / 8 + 1];
    __shared__ u32 starts[room];
    __shared__ RowWriter::Shared shared;
    C* const terms = reinterpret_cast<C*>(space);
    const RowWriter writer = {out_offsets, state, control, said, page, number, words};
    const Team<threads> team = {shared.scratch};
    u64 total = 0;
    for (u64 begin = 0; begin < x_count; begin += threads) {
      const u64 i = begin + threadIdx.x;
      const u32 k = i < x_count ? x_indices[i] : 0;
      u64 all;
      const u64 before = team.exclusive_sum(i < x_count ? a_offsets[k + 1] - a_offsets[k] : u64(0), all);
      if (i < x_count) starts[i] = u32(min(total + before, u64(few_products)));
      total += all;
    }
    const bool fits = total <= few_products;
    const u32 count = fits ? u32(total) : 0;
    __syncthreads();
    for (u32 p = threadIdx.x; p < count; p += threads) {
      // Of rows without an entry the next one begins at the same product.
      const u32 place = upper_bound<u32, u32>(starts, 0, u32(x_count), p) - 1, k = x_indices[place];
      const u64 e = a_offsets[k] + (p - starts[place]);
      const u32 column = a_indices[e];
      bool open = true;
      if constexpr (flag::masked) {
        bool there;
        if (mask) {
          there = mask[column >> 5] >> (column & 31) & 1;
        } else {
          const u64 at = lower_bound<u32, u64>(listed, 0, listed_count, column);
          there = at < listed_count && listed[at] == column;
        }
        open = there != flag::complement;
      }
      keys[p] = open ? u64(column) << 32 | p : nothing;
      if (open) terms[p] = term_of(a_values, e, x_values, place, k, column, k_ids, out_ids);
    }
    team_sort(team, keys, count, nothing);
    const u32 each = (count + threads - 1) / threads, begin = min(threadIdx.x * each, count), end = min(begin + each, count);
    const auto heads = [&](auto f) {
      for (u32 i = begin; i < end; i++) {
        if (keys[i] != nothing && (i == 0 || keys[i - 1] >> 32 != keys[i] >> 32)) f(i);
      }
    };
    u32 mine = 0;
    heads([&](u32) { mine++; });
    u64 at = writer.before<threads>(0, mine, shared);
    heads([&](u32 i) {
      const u32 column = u32(keys[i] >> 32);
      C sum = terms[u32(keys[i])];
      if constexpr (!first) {
        for (u32 next = i + 1; next < count && u32(keys[next] >> 32) == column; next++) sum = Semiring::add(sum, terms[u32(keys[next])]);
      }
      out_indices[at] = column;
      out_values[at] = sum;
      at++;
    });
    __syncthreads();
    if (!fits && threadIdx.x == 0) control[0] = nothing;
    writer.end(shared);
  }
}

// As spmspv_push for x with a value at every place, spread over A's n entries; not for monoids that keep the first term.
// Launch: ceil(n / tile) blocks of tuning::primitive_block threads.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
spmspv_push_all(u64 n, u64 rows, const u64* a_offsets, const u32* a_indices, const Matrix* a_values, const Vector* x_values,
                const u64* k_ids, const u64* out_ids, u32* y_present, C* y_values, u32* state) {
  const BlockSums sums = {sums_memory()};
  const auto add = [&](C term, u32 column) { add_term(term, column, y_present, y_values, state); };
  sums.clear();
  const Entries<Matrix> a = {n, rows, a_offsets, a_indices, nullptr};
  for_entries<false, true, true>(a, [&](u64 e, bool inside, const Matrix&, u32 k, u32 column) {
    if (!inside) return;
    const C term = term_of(a_values, e, x_values, k, k, column, k_ids, out_ids);
    if (!sums.add(term, column)) add(term, column);
  });
  sums.end(add);
}

}  // namespace oplus
