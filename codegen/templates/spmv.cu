// y⟨m⟩ = A ⊕.⊗ x (pull): y(i) is present where a product exists. With flag::vector_left the product is x(k) ⊗ A(i, k),
// which makes vxm of a matrix stored by columns.
//
// A: CSR, u64 offsets, u32 columns ascending in each row. x: dense values, present bits (u32 words; null: all present).
// flag::masked: rows whose bit in `mask` is unset (flag::complement: set) are left out.
// Deterministic: lanes take entries in strides, then a fixed tree; blocks those of long rows, as many as the row's length says, whose sums
// the last to end adds in order. Any: the smallest k. Sums stop at a terminal value.
#include "part/spmv.cuh"

namespace oplus {

// The nth of `total` equal parts of a long row, and its sum. In the first one `ended` counts those that have theirs.
struct LongPart {
  u32 row, nth, total, ended, order, has;
};

// Parts of a row have so many entries, or more where they would be more than that many.
constexpr u64 part_entries = 2 * u64(tuning::spmv_long), most_parts = 1024;

// Puts all parts of a row on the list.
__device__ inline void list_parts(u32 row, u64 n, LongPart* parts, u32* count) {
  const u32 total = u32(min((n + part_entries - 1) / part_entries, most_parts)), first = atomicAdd(count, total);
  for (u32 t = 0; t < total; t++) parts[first + t] = {row, t, total, 0, 0, 0};
}

struct Vectors {
  const u32* x_present;
  const u32* mask;
  Ids ids;
};

__device__ inline bool bit_at(const u32* words, u64 i) { return words[i >> 5] >> (i & 31) & 1; }

// The terms of entries e, e + stride, … below end.
__device__ inline Partial<C> sum_entries(const u32* a_indices, const Matrix* a_values, const Vector* x_values,
                                         const Vectors& v, u64 row, u64 e, u64 end, u64 stride) {
  Partial<C> sum = no_term<C>();
  for (; e < end; e += stride) {
    const u32 k = a_indices[e];
    if (v.x_present && !bit_at(v.x_present, k)) continue;
    Join<Semiring>::append(sum, term_of(a_values, x_values, v.ids, row, e, k), k);
    if constexpr (Join<Semiring>::first) break;
    if constexpr (Semiring::terminal != terminal_never) {
      if (Semiring::is_terminal(sum.value)) break;
    }
  }
  return sum;
}

__device__ inline bool row_wanted(const Vectors& v, u64 row) {
  if constexpr (flag::masked) return bit_at(v.mask, row) != flag::complement;
  else return true;
}

template <u32 LANES>
__device__ inline void spmv_rows(u64 rows, const u64* a_offsets, const u32* a_indices, const Matrix* a_values,
                                 const Vector* x_values, const Vectors& v, u32* y_present, C* y_values, LongPart* parts,
                                 u32* part_count) {
  const u64 row = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / LANES;
  const u32 lane = lane_id() & (LANES - 1);
  u64 begin = 0, end = 0;
  if (row < rows && row_wanted(v, row)) {
    begin = a_offsets[row];
    end = a_offsets[row + 1];
    if (end - begin > u64(tuning::spmv_long)) {
      if (lane == 0) list_parts(u32(row), end - begin, parts, part_count);
      end = begin;
    }
  }
  Partial<C> sum = sum_entries(a_indices, a_values, x_values, v, row, begin + lane, end, LANES);
  sum = group_reduce<Semiring, LANES>(sum);
  const bool writes = lane == 0 && sum.has;
  if (writes) y_values[row] = sum.value;
  // The rows of a warp share one word of presence.
  u32 bits = writes ? 1u << (row & 31) : 0;
  for (u32 d = 16; d > 0; d /= 2) bits |= __shfl_xor_sync(full_warp, bits, d);
  if (lane_id() == 0 && bits) atomicOr(&y_present[row >> 5], bits);
}

// Launch: 1-D blocks of tuning::spmv_block threads, ceil(rows · LANES / block) of them; y_present and *part_count zeroed
// before. Rows of over tuning::spmv_long entries go to parts (room: entries / spmv_long), which spmv_long_rows sums.
#define OPLUS_SPMV(LANES)                                                                                            \
  extern "C" __global__ void __launch_bounds__(tuning::spmv_block) spmv_lanes##LANES(                                \
      u64 rows, const u64* a_offsets, const u32* a_indices, const Matrix* a_values, const u32* x_present,            \
      const Vector* x_values, const u32* mask, const u64* i_ids, const u64* k_ids, u32* y_present, C* y_values,      \
      LongPart* parts, u32* part_count) {                                                                            \
    spmv_rows<LANES>(rows, a_offsets, a_indices, a_values, x_values, {x_present, mask, {i_ids, k_ids}}, y_present,     \
                     y_values, parts, part_count);                                                                   \
  }
OPLUS_SPMV(1)
OPLUS_SPMV(2)
OPLUS_SPMV(4)
OPLUS_SPMV(8)
OPLUS_SPMV(16)
OPLUS_SPMV(32)

// The sum of a row by its parts', in their order. All lanes of a warp call.
__device__ inline Partial<C> join_parts(const LongPart* parts, const C* sums, u32 total) {
  const u32 share = (total + 31) / 32, first = min(lane_id() * share, total), end = min(first + share, total);
  Partial<C> sum = no_term<C>();
  for (u32 t = first; t < end; t++) {
    if (parts[t].has) sum = Join<Semiring>::join(sum, Partial<C>{sums[t], parts[t].order, true});
  }
  return group_reduce<Semiring, 32>(sum);
}

// Launch: 1-D blocks of tuning::spmv_block threads, any grid; a block a part. sums: a place a part.
extern "C" __global__ void __launch_bounds__(tuning::spmv_block)
spmv_long_rows(const u64* a_offsets, const u32* a_indices, const Matrix* a_values, const u32* x_present,
               const Vector* x_values, const u64* i_ids, const u64* k_ids, u32* y_present, C* y_values,
               LongPart* parts, const u32* part_count, C* sums) {
  __shared__ u64 space[tuning::spmv_block / 32 * ((sizeof(Partial<C>) + 7) / 8)];
  const Team<tuning::spmv_block> team = {nullptr};
  const Vectors v = {x_present, nullptr, {i_ids, k_ids}};
  for (u32 p = blockIdx.x; p < *part_count; p += gridDim.x) {
    const u32 row = parts[p].row, nth = parts[p].nth, total = parts[p].total;
    const u64 begin = a_offsets[row], n = a_offsets[row + 1] - begin;
    Partial<C> sum = sum_entries(a_indices, a_values, x_values, v, row, begin + n * nth / total + threadIdx.x,
                                 begin + n * (nth + 1) / total, tuning::spmv_block);
    sum = team_reduce<Semiring>(team, sum, reinterpret_cast<Partial<C>*>(space));
    if (threadIdx.x >= 32) continue;
    if (total > 1) {
      LongPart* const all = parts + (p - nth);
      u32 before = 0;
      if (threadIdx.x == 0) {
        if (sum.has) sums[p] = sum.value;
        parts[p].order = sum.order;
        parts[p].has = sum.has;
        __threadfence();
        before = atomicAdd(&all->ended, 1u);
      }
      if (shuffle(before, 0) + 1 < total) continue;
      // Now it sees all the others'.
      __threadfence();
      sum = join_parts(all, sums + (p - nth), total);
    }
    if (threadIdx.x == 0 && sum.has) {
      y_values[row] = sum.value;
      atomicOr(&y_present[row >> 5], 1u << (row & 31));
    }
  }
}

}  // namespace oplus
