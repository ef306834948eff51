// C⟨M⟩ = A ⊕.⊗ B by dot products, one for each entry (i, j) of a mask that is not complemented: what row i of A and column j
// of B, a row of Bᵀ, have in common.
//
// The entries of the shorter list are looked up in the longer one, from where the one before was found: a step or two where
// lists are of about one length, a binary search where they are not. A warp has 32 entries of the mask. What there is to look
// up for all of them is spread evenly over its lanes, whatever the lengths; entries of more than tuning::dot_long places to
// look up are left to blocks. An entry is done with when its sum is terminal or a list has ended.
// Every sum is in the order of k: bit-equal to a serial sum. CSR as in the other products; `b` is Bᵀ. Launches: README.md.
#include "device/rows.cuh"
#include "part/spgemm_factors.cuh"

namespace oplus {

constexpr u32 dot_threads = tuning::primitive_block;

// What is left of the two lists of an entry.
struct Lists {
  Position begin, left;  // to look up
  Position at, end;      // where
  u32 ratio;             // so many of these come to one of those
  bool turned;           // row i of A is what is looked up in
};

__device__ inline Lists lists_of(const Operands& x, u32 row, u32 column) {
  const u64 a = x.a.offsets[row], a_left = x.a.offsets[u64(row) + 1] - a;
  const u64 b = x.b.offsets[column], b_left = x.b.offsets[u64(column) + 1] - b;
  const bool turned = b_left < a_left;
  const u64 begin = turned ? b : a, left = turned ? b_left : a_left, at = turned ? a : b, many = turned ? a_left : b_left;
  return {Position(begin), Position(left), Position(at), Position(at + many), left ? u32(min(many / left, u64(1) << 30)) : 0, turned};
}

// The place of k in a list from `at` on, or where it would stand; `rank` others were looked up since.
__device__ inline Position look_up(const u32* indices, Position at, Position end, u32 k, u32 ratio, u32 rank) {
  return lower_bound_near<u32, Position>(indices, at, end, k, Position(min(u64(ratio) * (rank + 1), u64(end - at))));
}

// ⊗ of entries that share k.
__device__ inline C term_of(const Factors& factors, const Operands& x, u64 a, u64 b, u32 row, u32 column) {
  Loaded both = {A(), B(), column};
  if constexpr (Semiring::reads_a) both.a = factors.a[a];
  if constexpr (Semiring::reads_b) both.b = factors.b[b];
  return multiply(factors, x, both, a, row);
}

// A sum, or none yet.
struct Sum {
  C value;
  bool has, done;

  __device__ void add(const C& term) {
    value = has ? Semiring::add(value, term) : term;
    has = true;
    done = done || !needs_all || Semiring::is_terminal(value);
  }
};

// Adds the terms of the lanes in `mine`, in their order: other lanes may have other ones. All lanes call.
__device__ inline void add_terms(Sum& sum, u32 mine, const C& term) {
  if constexpr (Semiring::constant) {
    if (mine) sum.has = sum.done = true;
  } else if constexpr (Semiring::value_free) {
    // All are one.
    for (; mine && !sum.done; mine &= mine - 1) sum.add(Semiring::multiply(A(), B(), At{0, 0, 0}));
  } else {
    while (__ballot_sync(full_warp, mine != 0)) {
      const C next = shuffle(term, mine ? __ffs(i32(mine)) - 1 : 0);
      if (mine) sum.add(next);
      mine = sum.done ? 0 : mine & (mine - 1);
    }
  }
}

// Where A, Bᵀ, their values and the names of places are.
#define OPLUS_DOT                                                                                                      \
  const u64 *a_offsets, const u32 *a_indices, const A *a_values, const u64 *b_offsets, const u32 *b_indices,           \
      const B *b_values, const u64 *m_offsets, const u32 *m_indices, const u64 *i_ids, const u64 *k_ids, const u64 *j_ids
#define OPLUS_DOT_BODY                                                                                                 \
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, 0};                      \
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};

// values[e] = the dot product of the mask's entry e, if bit e of `words` says that there is one. Those that blocks have to do
// are listed, unless `longs` is null: then there are none; *long_count: 0 before. Launch: ceil(n / dot_threads) blocks of dot_threads.
extern "C" __global__ void __launch_bounds__(dot_threads)
spgemm_dot(OPLUS_DOT, u64 n, u64 rows, u64* longs, u64* long_count, u32* words, Written* values) {
  OPLUS_DOT_BODY
  const u64 base = u64(blockIdx.x) * dot_threads, e = base + threadIdx.x;
  const RowRange range = rows_of_entries(m_offsets, rows, base, min(base + dot_threads, n));
  if (e - lane_id() >= n) return;
  u32 row = 0, column = 0;
  Lists lists = {0, 0, 0, 0, 0, false};
  if (e < n) {
    row = row_of(m_offsets, range.first, range.last, e);
    column = m_indices[e];
    lists = lists_of(x, row, column);
    if (longs && lists.left > tuning::dot_long) {
      longs[atomicAdd(long_count, u64(1))] = e;
      lists.left = 0;
    }
  }
  // What is looked up for this lane's entry stands in [start, stop) of what is for all.
  const u32 stop = warp_inclusive_sum(u32(lists.left)), start = stop - u32(lists.left), all = shuffle(stop, 31);
  const u32 turned = __ballot_sync(full_warp, lists.turned);
  Sum sum = {C(), false, false};
  for (u32 from = 0; from < all;) {
    const u32 item = from + lane_id(), owner = first_above(stop, item);
    const u32 owner_start = shuffle(start, owner), done = __ballot_sync(full_warp, sum.done);
    const Position begin = shuffle(lists.begin, owner), at = shuffle(lists.at, owner), end = shuffle(lists.end, owner);
    const u32 ratio = shuffle(lists.ratio, owner), owner_row = Semiring::positional ? shuffle(row, owner) : 0;
    const u32 owner_column = Semiring::positional ? shuffle(column, owner) : 0;
    const bool of_b = turned >> owner & 1;
    Position found = at;
    bool has = false;
    C term = C();
    if (item < all && !(done >> owner & 1)) {
      const u32* const others = of_b ? a_indices : b_indices;
      const Position place = begin + (item - owner_start);
      const u32 k = (of_b ? b_indices : a_indices)[place];
      found = look_up(others, at, end, k, ratio, item - max(owner_start, from));
      has = found < end && others[found] == k;
      if constexpr (!Semiring::value_free) {
        if (has) term = term_of(factors, x, of_b ? found : place, of_b ? place : found, owner_row, owner_column);
      }
    }
    // Which lanes looked up what for this lane's entry.
    const u32 to = from + 32, first = min(max(start, from), to) - from, last = min(max(stop, from), to) - from;
    const u32 mine = u32((u64(1) << last) - (u64(1) << first));
    const u32 hits = __ballot_sync(full_warp, has) & (sum.done ? 0 : mine);
    add_terms(sum, hits, term);
    const Position reached = shuffle(found, last ? last - 1 : 0);
    if (mine && !sum.done) {
      lists.at = reached;
      sum.done = reached == lists.end;
    }
    // On to the first entry that is not done with.
    const u32 open = __ballot_sync(full_warp, !sum.done && stop > to);
    if (!open) break;
    from = max(to, shuffle(start, __ffs(i32(open)) - 1));
  }
  if (sum.has) {
    if constexpr (Semiring::constant) write_constant(values, e);
    else write_value(values, e, sum.value);
  }
  const u32 word = __ballot_sync(full_warp, sum.has);
  if (lane_id() == 0) words[e / 32] = word;
}

// The listed entries, a block each: a stretch of the shorter list at a time, a place a thread, whose terms are added one after the other:
// small ones by one thread that reads them side by side, others by the warps in turn.
__device__ inline void dot_by_blocks(const Operands& x, const Factors& factors, u64 rows, const u64* longs, u64 count, u32* words,
                                     Written* values) {
  constexpr u32 warps = dot_threads / 32;
  __shared__ u64 space[(sizeof(Sum) + 7) / 8];
  __shared__ u32 hits[warps];
  __shared__ Position reached;
  constexpr bool gathered = !Semiring::constant && !Semiring::value_free && sizeof(C) <= 16;
  __shared__ u64 term_space[gathered ? dot_threads * sizeof(C) / 8 : 1];
  C* const terms = reinterpret_cast<C*>(term_space);
  // The sum, between warps.
  Sum* const kept = reinterpret_cast<Sum*>(space);
  for (u64 l = blockIdx.x; l < count; l += gridDim.x) {
    const u64 e = longs[l];
    const u32 row = u32(warp_last_not_above(0, rows - 1, e, [&](u64 i) { return x.m.offsets[i]; })), column = x.m.indices[e];
    const Lists lists = lists_of(x, row, column);
    const u32 *const own = lists.turned ? x.b.indices : x.a.indices, *const others = lists.turned ? x.a.indices : x.b.indices;
    if (threadIdx.x == 0) {
      *kept = Sum{C(), false, false};
      reached = lists.at;
    }
    __syncthreads();
    for (Position from = 0; from < lists.left; from += dot_threads) {
      const Position at = reached, place = lists.begin + from + threadIdx.x;
      const bool active = from + threadIdx.x < lists.left;
      Position found = at;
      bool has = false;
      C term = C();
      if (active) {
        const u32 k = own[place];
        found = look_up(others, at, lists.end, k, lists.ratio, threadIdx.x);
        has = found < lists.end && others[found] == k;
        if constexpr (!Semiring::value_free) {
          if (has) term = term_of(factors, x, lists.turned ? found : place, lists.turned ? place : found, row, column);
        }
      }
      const u32 mine = __ballot_sync(full_warp, has);
      if (lane_id() == 0) hits[threadIdx.x / 32] = mine;
      __syncthreads();
      // All have read it.
      if (active && (threadIdx.x + 1 == dot_threads || from + threadIdx.x + 1 == lists.left)) reached = found;
      if constexpr (gathered) {
        u32 before = 0, all = 0;
        for (u32 w = 0; w < warps; w++) {
          if (w == threadIdx.x / 32) before = all;
          all += __popc(hits[w]);
        }
        if (has) terms[before + __popc(mine & lanes_below())] = term;
        __syncthreads();
        if (threadIdx.x == 0) {
          Sum sum = *kept;
#pragma unroll 4
          for (u32 i = 0; i < all; i++) {
            if (!sum.done) sum.add(terms[i]);
          }
          *kept = sum;
        }
      }
      for (u32 w = 0; !gathered && w < warps; w++) {
        if (!hits[w]) continue;
        if (threadIdx.x / 32 == w) {
          // Only the warp whose turn it is reads it (a compiler may have others read it in vain), and lane 0 writes it after that.
          __syncwarp();
          Sum sum = *kept;
          __syncwarp();
          add_terms(sum, lane_id() == 0 && !sum.done ? mine : 0, term);
          if (lane_id() == 0) *kept = sum;
        }
        __syncthreads();
      }
      __syncthreads();
      if (kept->done || reached == lists.end) break;
    }
    if (threadIdx.x == 0 && kept->has) {
      if constexpr (Semiring::constant) write_constant(values, e);
      else write_value(values, e, kept->value);
      atomicOr(&words[e / 32], 1u << (e & 31));
    }
    __syncthreads();
  }
}

// Launch: any grid of blocks of dot_threads.
extern "C" __global__ void __launch_bounds__(dot_threads)
spgemm_dot_long(OPLUS_DOT, u64 n, u64 rows, const u64* longs, const u64* long_count, u32* words, Written* values) {
  OPLUS_DOT_BODY
  dot_by_blocks(x, factors, rows, longs, *long_count, words, values);
}

}  // namespace oplus
