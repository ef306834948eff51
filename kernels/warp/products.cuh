// The products of one row of A with B, spread evenly over warps whatever the lengths of B's rows.
#include "thread/search.cuh"
#include "warp/scan.cuh"

namespace oplus {

// Compressed rows, columns ascending in each: row r has entries offsets[r] .. offsets[r + 1].
struct Rows {
  const u64* offsets;
  const u32* indices;
};

// A position among the entries of A or B: 32 bits where both have fewer than 2^31, which saves registers and arithmetic.
template <bool NARROW> struct PositionOf {
  typedef u64 Type;
};
template <> struct PositionOf<true> {
  typedef u32 Type;
};
typedef PositionOf<flag::narrow>::Type Position;

// Shared memory of one warp: the rows of B it walks now.
struct WarpProducts {
  Position start[32];  // product p of the round is entry start[r] + p of B
  u32 before[32];      // products of the round ahead of row r
  u32 entry[32];       // A's entry, from the first of the round
};

// BATCH times 32 products, one a lane each time. Lanes are in the order of A's entries.
template <u32 BATCH> struct Batch {
  bool active[BATCH];
  Position a[BATCH], b[BATCH];             // positions of the entries; defined where active
  u32 group[BATCH], groups[BATCH];         // which of the rows of B among the 32: equal group, distinct columns
};

// The warps that share a row of A, of which this is one.
struct Share {
  u32 warp, warps;
};

__device__ inline u32 warp_or(u32 x) {
#if defined(OPLUS_EMULATOR) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
  return __reduce_or_sync(full_warp, x);
#else
  for (u32 d = 16; d > 0; d /= 2) x |= __shfl_xor_sync(full_warp, x, d);
  return x;
#endif
}

__device__ inline u64 warp_sum_position(Position x) { return warp_sum(u64(x)); }

// Calls f(batch) until each product of A's entries [a_begin, a_end) with columns [low, high) of B was in one batch of one
// of the share's warps. Whole warps call together. `partial`: [low, high) may cut rows of B. One warp alone gets the
// products in the order of A's entries. No barrier but the warp's.
template <u32 BATCH, class F>
__device__ inline void for_products(Share share, const u32* a_indices, u64 a_begin, u64 a_end, Rows b, u64 low, u64 high,
                                    bool partial, WarpProducts* s, F f) {
  if (a_begin >= a_end) return;
  const u64 entries = a_end - a_begin;
  // Entries a warp takes at a time; with fewer takings than warps, several warps share one.
  u32 size = 32;
  if (share.warps > 1 && entries < u64(32) * share.warps) size = (u32(entries) + share.warps - 1) / share.warps;
  const u64 takings = (entries + size - 1) / size;
  u64 taking = share.warp;
  u32 part = 0, parts = 1;
  if (takings < share.warps) {
    const u32 n = u32(takings);
    taking = share.warp % n;
    part = share.warp / n;
    parts = (share.warps - u32(taking) + n - 1) / n;
  }
  for (; taking < takings; taking += share.warps) {
    const Position round = Position(a_begin + taking * size);
    Position begin = 0, left = 0;
    if (lane_id() < size && taking * size + lane_id() < entries) {
      const u32 k = a_indices[round + lane_id()];
      begin = Position(b.offsets[k]);
      Position end = Position(b.offsets[k + 1]);
      if (partial) {
        begin = lower_bound<u32, Position>(b.indices, begin, end, u32(low));
        if (high <= 0xffffffffull) end = lower_bound<u32, Position>(b.indices, begin, end, u32(high));
      }
      left = end - begin;
    }
    // Long rows of B one after the other, 32 entries at a time: hardly any arithmetic, and columns are always distinct.
    const u32 some = __popc(__ballot_sync(full_warp, left != 0));
    if (warp_sum_position(left) >= u64(some) * tuning::long_rows) {
      const u32 n = u32(entries - taking * size < size ? entries - taking * size : size);
      Position from = shuffle(begin, 0), length = shuffle(left, 0), p = part * 32;
      for (u32 e = 0; e < n;) {
        Batch<BATCH> batch;
#pragma unroll
        for (u32 t = 0; t < BATCH; t++) {
          while (p >= length && e < n) {
            e++;
            from = shuffle(begin, e & 31);
            length = e < n ? shuffle(left, e & 31) : 0;
            p = part * 32;
          }
          batch.active[t] = p + lane_id() < length;
          batch.a[t] = round + e;
          batch.b[t] = from + p + lane_id();
          batch.group[t] = 0;
          batch.groups[t] = 1;
          p += parts * 32;
        }
        f(batch);
      }
      continue;
    }
    // Products of a round are counted in 32 bits: rows of over 2^26 entries go one at a time, in pieces.
    const bool huge = __any_sync(full_warp, left >> 26 != 0);
    for (bool more = true; more;) {
      u32 piece = u32(left);
      more = false;
      if (huge) {
        const u32 pending = __ballot_sync(full_warp, left != 0);
        if (pending == 0) break;
        piece = lane_id() != u32(__ffs(pending)) - 1 ? 0 : left >> 26 ? 1u << 26 : u32(left);
        more = true;
      }
      const u32 filled = __ballot_sync(full_warp, piece != 0);
      const u32 rows = __popc(filled), r = __popc(filled & lanes_below());
      const u32 last = warp_inclusive_sum(piece), total = shuffle(last, 31);
      __syncwarp();
      if (piece) {
        s->start[r] = begin - (last - piece);
        s->before[r] = last - piece;
        s->entry[r] = lane_id();
      }
      begin += piece;
      left -= piece;
      __syncwarp();
      const u32 mine = lane_id() < rows ? s->before[lane_id()] : 0xffffffffu;
      for (u32 tile = part * 32 * BATCH; tile < total; tile += parts * 32 * BATCH) {
        Batch<BATCH> batch;
        u32 seen = __popc(__ballot_sync(full_warp, mine < tile));
#pragma unroll
        for (u32 t = 0; t < BATCH; t++) {
          const u32 at = tile + 32 * t, ahead = mine - at;
          const u32 heads = warp_or(ahead < 32 ? 1u << ahead : 0);
          const u32 mine_too = heads & (lanes_below() << 1 | 1);
          u32 e = seen + __popc(mine_too) - 1;
          seen += __popc(heads);
          batch.active[t] = at + lane_id() < total;
          batch.group[t] = __popc(mine_too & ~1u);
          batch.groups[t] = __popc(heads & ~1u) + 1;
          if (!batch.active[t]) e = 0;
          batch.a[t] = round + s->entry[e];
          batch.b[t] = s->start[e] + (at + lane_id());
        }
        f(batch);
      }
    }
  }
}

}  // namespace oplus
