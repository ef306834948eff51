// The products of one row of A with B, spread evenly over a team whatever the lengths of B's rows.
#include "block/team.cuh"
#include "thread/search.cuh"

namespace oplus {

// Compressed rows, columns ascending in each: row r has entries offsets[r] .. offsets[r + 1].
struct Rows {
  const u64* offsets;
  const u32* indices;
};

// Shared memory of one team, 16 bytes a member.
template <u32 THREADS> struct ProductScratch {
  u64 start[THREADS];  // B's entry of product p is start[e] + p
  u64 last[THREADS];   // one past the last product of entry e
};

// Calls f(active, e, a, b) once for each product of A's entries [a_begin, a_end) with columns [low, high) of B:
// a, b are the positions of the entries, e = a - (first entry of the round), equal e means same row of B.
// Whole warps call f together; a lane past the end has active = false. `partial`: [low, high) may cut rows of B.
// Of `parts` teams with equal arguments, each gets its share of the products. Lanes of a warp hold products in order of A's entries. Starts and ends with a team barrier.
template <u32 THREADS, class F>
__device__ inline void for_products(Team<THREADS> team, const u32* a_indices, u64 a_begin, u64 a_end, Rows b, u64 low,
                                    u64 high, bool partial, ProductScratch<THREADS>* s, F f, u32 part = 0, u32 parts = 1) {
  for (u64 round = a_begin; round < a_end; round += THREADS) {
    const u64 entry = round + team.rank();
    u64 begin = 0, end = 0;
    if (entry < a_end) {
      const u32 k = a_indices[entry];
      begin = b.offsets[k];
      end = b.offsets[k + 1];
      if (partial) {
        begin = lower_bound<u32, u64>(b.indices, begin, end, u32(low));
        if (high <= 0xffffffffull) end = lower_bound<u32, u64>(b.indices, begin, end, u32(high));
      }
    }
    u64 total;
    const u64 before = team.exclusive_sum(end - begin, total);
    team.sync();
    s->start[team.rank()] = begin - before;
    s->last[team.rank()] = before + (end - begin);
    team.sync();
    const u32 n = a_end - round < THREADS ? u32(a_end - round) : THREADS;
    u32 first = 0;
    for (u64 tile = (u64(part) * (THREADS / 32) + team.warp()) * 32; tile < total; tile += u64(THREADS) * parts) {
      first = upper_bound<u64, u32>(s->last, first, n, tile);
      const u64 p = tile + lane_id();
      u32 e = first;
      if (s->last[first] < tile + 32) e = upper_bound<u64, u32>(s->last, first, n, p);
      const bool active = p < total;
      if (!active) e = n - 1;
      f(active, e, round + e, s->start[e] + p);
    }
  }
  team.sync();
}

}  // namespace oplus
