// C⟨M⟩ = A ⊕.⊗ B row by row, under a mask that is not complemented: the columns of the mask's row go into a table of words, and
// products are added to those that they find there.
//
// Nothing is counted before and nothing sorted: sums stand in the order of the mask's entries, with a bit for each that has one, as
// in spgemm_dot.cu. A row has a group of number::lanes lanes, which take a row of B after the other; rows of more columns than
// number::entries, or of too many products, are left to blocks, a stretch of the mask's row each.
// Determinism: groups sum in the order of k, bit-equal to a serial sum; blocks in any order, which shows in floating ⊕ only.
// CSR as in the other products. Launches: README.md.
#include "part/accumulate.cuh"
#include "part/mask_words.cuh"
#include "part/spgemm_factors.cuh"
#include "part/spgemm_hash.cuh"
#include "warp/search.cuh"

namespace oplus {

constexpr u32 masked_threads = tuning::masked_block, masked_entries = u32(number::entries);
typedef MaskWords<2 * masked_entries> MaskRow;
// What sums take.
constexpr u32 masked_sums = Semiring::constant ? 0 : rounded(masked_entries * sizeof(C));

#define OPLUS_MASKED                                                                                                   \
  const u64 *a_offsets, const u32 *a_indices, const A *a_values, const u64 *b_offsets, const u32 *b_indices,           \
      const B *b_values, const u64 *m_offsets, const u32 *m_indices, u32 columns, const u64 *i_ids, const u64 *k_ids,  \
      const u64 *j_ids
#define OPLUS_MASKED_ROWS                                                                                              \
  u64 rows, const u32 *list, u32 *others, u32 others_most, u64 most, u64 others_products, u32 stretch, u64 *longs, u64 *counts
#define OPLUS_MASKED_BODY                                                                                              \
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};                \
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};                                                   \
  const MaskedRows y = {rows, list, others, others_most, most, others_products, stretch, longs, counts};

// The column of factors of which what is read comes later; what is not needs some value.
__device__ inline void set_column(Loaded& both, u32 column) {
  both.column = column;
  if constexpr (!Semiring::reads_a) both.a = A();
  if constexpr (!Semiring::reads_b) both.b = B();
}

// Sets bits of `words` from bit e on.
__device__ inline void set_bits(u32* words, u64 e, u32 bits) {
  if (!bits) return;
  const u32 shift = u32(e & 31);
  atomicOr(&words[e / 32], bits << shift);
  if (shift && bits >> (32 - shift)) atomicOr(&words[e / 32 + 1], bits >> (32 - shift));
}

// Of a ballot, those of the lane's group of WIDTH lanes.
template <u32 WIDTH> __device__ inline u32 group_bits(u32 ballot) {
  return ballot >> (lane_id() & ~(WIDTH - 1)) & (WIDTH == 32 ? ~0u : (1u << WIDTH % 32) - 1);
}

// The sums of the mask's entries from e on, of which `has` says where there are any: of 32 / WIDTH groups of lanes, n entries each.
template <u32 WIDTH>
__device__ inline void write_sums(const C* sums, const unsigned char* has, u64 e, u32 n, u32 lane, u32 stride, u32* words, Written* values) {
  for (u32 i = lane; __any_sync(full_warp, i - lane % WIDTH < n); i += stride) {
    const bool there = i < n && has[i];
    if (there) {
      if constexpr (Semiring::constant) write_constant(values, e + i);
      else write_value(values, e + i, sums[i]);
    }
    const u32 bits = group_bits<WIDTH>(__ballot_sync(full_warp, there));
    if (lane % WIDTH == 0) set_bits(words, e + i, bits);
  }
}

// Where a group finds its rows, and where it leaves those that it does not take.
struct MaskedRows {
  u64 rows;
  const u32* list;      // of rows, of which there are counts[2]; null: all rows
  u32* others;          // rows for groups of all lanes of a warp, counted in counts[2]; null: there are none
  u32 others_most;      // no more entries of the mask than these take
  u64 most;             // a group's products at most
  u64 others_products;  // … and theirs
  u32 stretch;          // entries of the mask that a block takes at once
  u64* longs;           // where stretches for blocks begin in the mask, counted in counts[0]; null: there are none, nor others
  u64* counts;          // 0 before
};

// Lists rows that their groups leave: for groups of a whole warp, or stretches of the mask's row for blocks.
template <u32 LANES>
__device__ inline void leave_row(const MaskedRows& y, bool leaves, u32 row, u64 from, u64 to, u64 work) {
  const u32 lane = lane_id() % LANES;
  const bool other = y.others && to - from <= y.others_most && work <= y.others_products;
  if (leaves && other && lane == 0) y.others[atomicAdd(&y.counts[2], u64(1))] = row;
  const u64 n = leaves && !other ? (to - from + y.stretch - 1) / y.stretch : 0;
  u64 place = lane == 0 && n ? atomicAdd(&y.counts[0], n) : 0;
  place = shuffle(place, 0, LANES);
  for (u64 s = lane; s < n; s += LANES) y.longs[place + s] = from + s * y.stretch;
}

// Rows of C, one for each group of LANES lanes of a warp, those that are `live`.
template <u32 ENTRIES, u32 LANES>
__device__ inline void masked_row(const Operands& x, const Factors& factors, const MaskedRows& y, bool live, u32 row, unsigned char* memory,
                                  u32* words, Written* values) {
  constexpr u32 batch = u32(number::batch);
  static_assert(LANES % batch == 0, "");
  constexpr bool preset = Exact<Semiring, C>::value && !Semiring::constant;
  const u32 lane = lane_id() % LANES;
  C* const sums = reinterpret_cast<C*>(memory + MaskRow::bytes);
  unsigned char* const has = memory + MaskRow::bytes + masked_sums;
  u64 from = 0, to = 0;
  Position at = 0, end = 0;
  if (live) {
    from = x.m.offsets[row];
    to = x.m.offsets[row + 1];
    if (from < to) {
      at = Position(x.a.offsets[row]);
      end = Position(x.a.offsets[row + 1]);
    }
  }
  if (!__any_sync(full_warp, at < end)) return;
  Round next = load_rows<LANES>(x.a.indices, at, end, x.b);
  if (y.longs) {
    u64 work = next.left;
    bool many = at < end && (to - from > ENTRIES || end - at > y.others_products);
    for (Position k = at; __any_sync(full_warp, !many && end - k > LANES);) {
      if (many || end - k <= LANES) continue;
      k += LANES;
      work += load_rows<LANES>(x.a.indices, k, end, x.b).left;
    }
    work = warp_sum<LANES>(work);
    many = many || work > y.most;
    if (__any_sync(full_warp, many)) leave_row<LANES>(y, many, row, from, to, end - at > y.others_products ? end - at : work);
    if (many) {
      at = end;
      next.left = 0;
    }
  }
  const u32 m = at < end ? u32(to - from) : 0;
  const MaskRow table(memory, m);
  for (u32 i = lane; i < m; i += LANES) {
    has[i] = 0;
    if constexpr (preset) sums[i] = Exact<Semiring, C>::start();
  }
  table.fill(x.m.indices + from, m, lane, LANES, [] { __syncwarp(); });
  // Lanes of a group have columns of one row of B: different places.
  const auto add = [&](u32 place, const Loaded& both, Position a) {
    if (place != table.none) {
      if constexpr (preset) {
        sums[place] = Semiring::add(sums[place], multiply(factors, x, both, a, row));
      } else if constexpr (!Semiring::constant) {
        const bool more = has[place];
        if (needs_all || !more) {
          const C term = multiply(factors, x, both, a, row);
          sums[place] = more ? Semiring::add(sums[place], term) : term;
        }
      }
      has[place] = 1;
    }
    __syncwarp();
  };
  while (__any_sync(full_warp, at < end)) {
    const Round round = next;
    const Position now = at;
    at = end - at > LANES ? at + LANES : end;
    next = load_rows<LANES>(x.a.indices, at, end, x.b);
    // A step is LANES entries of a row of B: those of all rows, in their order, so that as many are in flight where rows are long.
    const u32 steps = u32((round.left + LANES - 1) / LANES), stop = warp_inclusive_sum<LANES>(steps), all = shuffle(stop, LANES - 1, LANES);
    const Position origin = round.begin - Position(stop - steps) * LANES, row_end = round.begin + round.left;
#pragma unroll 1
    for (u32 s = 0; __any_sync(full_warp, s < all); s += batch) {
      Position a[batch], b[batch];
      bool active[batch];
      u32 place[batch];
      Loaded both[batch];
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        const u32 owner = min(u32(__popc(group_bits<LANES>(__ballot_sync(full_warp, stop <= s + t)))), LANES - 1);
        a[t] = now + owner;
        b[t] = shuffle(origin, owner, LANES) + (s + t) * LANES + lane;
        const Position its_end = shuffle(row_end, owner, LANES);
        active[t] = s + t < all && b[t] < its_end;
      }
      // Loads of all of them, then looks, then loads again: each waits for the one before.
#pragma unroll
      for (u32 t = 0; t < batch; t++) set_column(both[t], active[t] ? x.b.indices[b[t]] : 0);
#pragma unroll
      for (u32 t = 0; t < batch; t++) place[t] = active[t] ? table.find(both[t].column) : table.none;
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        if (place[t] == table.none) continue;
        if constexpr (Semiring::reads_a) both[t].a = factors.a[a[t]];
        if constexpr (Semiring::reads_b) both[t].b = factors.b[b[t]];
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) add(place[t], both[t], a[t]);
    }
  }
  write_sums<LANES>(sums, has, from, m, lane, LANES, words, values);
}

// values[e] = the entry of C at the mask's entry e, if bit e of `words` (0 before) says that there is one. Launch: a row a group, or any
// grid of a list.
extern "C" __global__ void __launch_bounds__(masked_threads)
spgemm_masked(OPLUS_MASKED, OPLUS_MASKED_ROWS, u32* words, Written* values) {
  OPLUS_MASKED_BODY
  constexpr u32 entries = masked_entries, lanes = u32(number::lanes), groups = 32 / lanes;
  constexpr u32 bytes = MaskRow::bytes + masked_sums + entries;
  static_assert(bytes * groups == shared_bytes::masked, "");
  DYN_SHARED(unsigned char, shared);
  const u32 warp = threadIdx.x / 32, group = lane_id() / lanes;
  unsigned char* const memory = shared + (warp * groups + group) * bytes;
  constexpr u32 warps = masked_threads / 32;
  const u64 n = y.list ? y.counts[2] : y.rows, first = (u64(blockIdx.x) * warps + warp) * groups;
  for (u64 at = first; at < n; at += u64(gridDim.x) * warps * groups) {
    const u64 mine = at + group;
    const u32 row = mine >= n ? 0 : y.list ? y.list[mine] : u32(mine);
    masked_row<entries, lanes>(x, factors, y, mine < n, row, memory, words, values);
    __syncwarp();
  }
}

// The listed stretches. counts[1]: a ticket, 0 before. Launch: any grid.
extern "C" __global__ void __launch_bounds__(masked_threads)
spgemm_masked_long(OPLUS_MASKED, OPLUS_MASKED_ROWS, u32* words, Written* values) {
  OPLUS_MASKED_BODY
  constexpr u32 entries = masked_entries, warps = masked_threads / 32, batch = tuning::numeric_batch;
  typedef Accumulator<Semiring, C, masked_threads, entries> Sums;
  constexpr u32 scratch_bytes = sizeof(WarpProducts) * warps, state_bytes = Semiring::constant ? 0 : rounded(Sums::state_words * 4);
  static_assert(scratch_bytes + MaskRow::bytes + masked_sums + state_bytes + entries == shared_bytes::masked_long, "");
  __shared__ u64 ticket;
  DYN_SHARED(unsigned char, shared);
  WarpProducts* const scratch = reinterpret_cast<WarpProducts*>(shared) + threadIdx.x / 32;
  unsigned char* const memory = shared + scratch_bytes;
  C* const sum_of = reinterpret_cast<C*>(memory + MaskRow::bytes);
  Sums sums = {{nullptr}, sum_of, reinterpret_cast<u32*>(memory + MaskRow::bytes + masked_sums)};
  unsigned char* const has = memory + MaskRow::bytes + masked_sums + state_bytes;
  const u64 count = counts[0];
  for (;;) {
    if (threadIdx.x == 0) ticket = atomicAdd(&counts[1], u64(1));
    __syncthreads();
    const u64 l = ticket;
    __syncthreads();
    if (l >= count) return;
    const u64 from = longs[l];
    const u32 row = u32(warp_last_not_above(0, rows - 1, from, [&](u64 i) { return m_offsets[i]; }));
    const u64 first = m_offsets[row], last = m_offsets[row + 1], to = last - from > stretch ? from + stretch : last;
    const u32 m = u32(to - from);
    const bool partial = from != first || to != last;
    const u64 low = m_indices[from], high = u64(m_indices[to - 1]) + 1;
    const MaskRow table(memory, m);
    for (u32 i = threadIdx.x; i < m; i += masked_threads) has[i] = 0;
    if constexpr (!Semiring::constant) sums.clear(m);
    table.fill(m_indices + from, m, threadIdx.x, masked_threads, [] { __syncthreads(); });
    const u64 begin = a_offsets[row], end = a_offsets[row + 1];
    const auto walk = [&](auto f) {
      for_products<batch>(Share{threadIdx.x / 32, warps}, a_indices, begin, end, x.b, low, high, partial, scratch, f);
      __syncthreads();
    };
    if constexpr (!Semiring::constant && Sums::two_passes) {
      walk([&](const Batch<batch>& p) {
#pragma unroll
        for (u32 t = 0; t < batch; t++) {
          const u32 at = p.active[t] ? table.find(b_indices[p.b[t]]) : table.none;
          if (at != table.none) sums.claim(at, u32(p.a[t] - begin));
        }
      });
    }
    walk([&](const Batch<batch>& p) {
      Loaded both[batch];
      u32 place[batch];
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        set_column(both[t], p.active[t] ? b_indices[p.b[t]] : 0);
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        place[t] = p.active[t] ? table.find(both[t].column) : table.none;
        if (place[t] == table.none) continue;
        has[place[t]] = 1;
        if constexpr (Semiring::reads_a) both[t].a = a_values[p.a[t]];
        if constexpr (Semiring::reads_b) both[t].b = b_values[p.b[t]];
      }
      if constexpr (!Semiring::constant) {
#pragma unroll
        for (u32 t = 0; t < batch; t++) {
          C term = C();
          if (place[t] != table.none) term = multiply(factors, x, both[t], p.a[t], row);
          sums.put(place[t] != table.none, place[t], term, u32(p.a[t] - begin), p.group[t], p.groups[t]);
        }
      }
    });
    write_sums<32>(sum_of, has, from, m, threadIdx.x, masked_threads, words, values);
    __syncthreads();
  }
}

}  // namespace oplus
