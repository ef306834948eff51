// The products of one row of A with B, spread evenly over warps whatever the lengths of B's rows.
#include "thread/search.cuh"
#include "warp/scan.cuh"

namespace oplus {

// Compressed rows, columns ascending in each: row r has entries offsets[r] .. offsets[r + 1].
struct Rows {
  const u64* offsets;
  const u32* indices;
  const u32* joined = nullptr;  // bit r: row r has the columns of row r - 1; null where nobody looks
  const u32* slots = nullptr;   // with walk_bits: a number from 1 on for rows of `least` entries and more
  u32 least = 0;
  const u32* sets = nullptr;    // `indices` are words of 32 columns: which of these; null where they are columns
};

// So many neighbouring rows of B with the same columns are walked as one at most, where A has entries side by side for them.
constexpr u32 most_joined = 3;

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
  Position first;                          // A's entry that lane 0 brought into the round: all are of the 32 from there on
  u32 lanes[BATCH];                        // how many are active: the first ones
  bool active[BATCH];
  Position a[BATCH], b[BATCH];             // positions of the entries; defined where active
  u32 group[BATCH], groups[BATCH];         // which of the rows of B among the 32: equal group, distinct columns
  u32 joined[BATCH];                       // n more products of the same column: of entries a + i and b + i * stride, i = 1 .. n
  Position stride[BATCH];                  // defined where there are any
};

// The warps that share a row of A, of which this is one. `left`: they are those of the block, all of which call, and this is
// shared memory for what one leaves for all: how many rounds, and which.
struct Share {
  static constexpr u32 most_left = 63, left_bytes = 4 * (1 + most_left);

  u32 warp, warps;
  u32* left = nullptr;
};

__device__ inline u32 warp_or(u32 x) {
#if defined(OPLUS_EMULATOR) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
  return __reduce_or_sync(full_warp, x);
#else
  for (u32 d = 16; d > 0; d /= 2) x |= __shfl_xor_sync(full_warp, x, d);
  return x;
#endif
}

// How products are walked.
enum {
  walk_huge = 1,    // ranges of 2^26 columns and more
  walk_joined = 2,  // rows of B with the same columns as one: batches bring up to most_joined products of a column
  walk_bits = 4,    // rows of B that have a slot are not walked, but handed over whole
};

// A warp's entries of A in one round: the rows of B they name, cut to the range of columns. With walk_bits a row that has a slot
// has it for `begin` and nothing left; one that has neither begins at 0.
struct Round {
  Position begin, left;
  u32 joined;       // rows of the lanes after this one that are walked with it, and have nothing left themselves
  Position stride;  // from one's entry to the next one's
};
template <u32 WALK = 0>
__device__ inline Round load_round(const u32* a_indices, Position first, Position end, Rows b, u64 low, u64 high, bool partial) {
  Round round = {0, 0, 0, 0};
  const bool in = first + lane_id() < end;
  const u32 k = in ? a_indices[first + lane_id()] : 0;
  if (in) {
    round.begin = Position(b.offsets[k]);
    Position stop = Position(b.offsets[k + 1]);
    round.stride = stop - round.begin;
    const u32 slot = (WALK & walk_bits) && round.stride >= b.least ? b.slots[k] : 0;
    if (slot) {
      round.begin = stop = slot;
    } else if (partial) {
      round.begin = lower_bound<u32, Position>(b.indices, round.begin, stop, u32(low));
      if (high <= 0xffffffffull) stop = lower_bound<u32, Position>(b.indices, round.begin, stop, u32(high));
    }
    round.left = stop - round.begin;
    if ((WALK & walk_bits) && round.left == 0) round.begin = slot;
  }
  if constexpr (WALK & walk_joined) {
    const u32 before = shuffle_up(k, 1);
    const bool follows = in && lane_id() > 0 && k == before + 1 && (b.joined[k / 32] >> (k & 31) & 1);
    // Bit l: lane l follows the one before. A run of these is walked in groups of most_joined.
    const u32 all = __ballot_sync(full_warp, follows), heads = ~all & (lanes_below() << 1 | 1);
    const u32 place = (lane_id() - (31 - __clz(heads))) % most_joined;
    const u32 after = __ffs(~(all >> lane_id() >> 1)) - 1;
    // One with a slot is the same columns as the one it goes with.
    if (place > 0) round.left = round.begin = 0;
    else round.joined = after < most_joined ? after : most_joined - 1;
  }
  return round;
}

// Products lo .. hi of a round of rows that are long in the mean: one row after the other, 32 entries at a time. Hardly any
// arithmetic, and the columns of a batch's 32 are always distinct.
template <u32 BATCH, u32 WALK = 0, class F>
__device__ inline void walk_long_rows(Position first, Round round, u32 last, u32 lo, u32 hi, F f) {
  constexpr bool joins = WALK & walk_joined;
  struct Row {
    Position from, stride;
    u32 entry, length, joined;
  };
  const auto row_of = [&](u32 e) {
    Row row = {shuffle(round.begin, e & 31), 0, e, shuffle(u32(round.left), e & 31), 0};
    if constexpr (joins) {
      row.joined = shuffle(round.joined, e & 31);
      row.stride = shuffle(round.stride, e & 31);
    }
    return row;
  };
  Row row = row_of(__popc(__ballot_sync(full_warp, last <= lo)));
  u32 p = lo - (shuffle(last, row.entry & 31) - row.length);
  for (u32 left = hi - lo; left;) {
    Batch<BATCH> batch;
#pragma unroll
    for (u32 t = 0; t < BATCH; t++) {
      while (p >= row.length && left) {
        row = row_of(row.entry + 1);
        p = 0;
      }
      u32 n = row.length - p < left ? row.length - p : left;
      if (n > 32) n = 32;
      batch.first = first;
      batch.lanes[t] = n;
      batch.active[t] = lane_id() < n;
      batch.a[t] = first + row.entry;
      batch.b[t] = row.from + p + lane_id();
      batch.group[t] = 0;
      batch.groups[t] = 1;
      batch.joined[t] = row.joined;
      batch.stride[t] = row.stride;
      p += n;
      left -= n;
    }
    f(batch);
  }
}

// The same of rows that are short: side by side in the lanes.
template <u32 BATCH, u32 WALK = 0, class F>
__device__ inline void walk_short_rows(Position first, Round round, u32 last, u32 lo, u32 hi, WarpProducts* s, F f) {
  const u32 piece = u32(round.left), filled = __ballot_sync(full_warp, piece != 0);
  const u32 rows = __popc(filled), r = __popc(filled & lanes_below());
  __syncwarp();
  if (piece) {
    s->start[r] = round.begin - (last - piece);
    s->before[r] = last - piece;
    s->entry[r] = lane_id();
  }
  __syncwarp();
  const u32 mine = lane_id() < rows ? s->before[lane_id()] : 0xffffffffu;
  for (u32 tile = lo; tile < hi; tile += 32 * BATCH) {
    Batch<BATCH> batch;
    u32 seen = __popc(__ballot_sync(full_warp, mine < tile));
#pragma unroll
    for (u32 t = 0; t < BATCH; t++) {
      const u32 at = tile + 32 * t, ahead = mine - at;
      const u32 heads = warp_or(mine >= at && ahead < 32 ? 1u << ahead : 0);
      const u32 mine_too = heads & (lanes_below() << 1 | 1);
      u32 e = seen + __popc(mine_too) - 1;
      seen += __popc(heads);
      batch.first = first;
      batch.lanes[t] = at >= hi ? 0 : hi - at < 32 ? hi - at : 32;
      batch.active[t] = at + lane_id() < hi;
      batch.group[t] = __popc(mine_too & ~1u);
      batch.groups[t] = __popc(heads & ~1u) + 1;
      if (!batch.active[t]) e = 0;
      const u32 entry = s->entry[e];
      batch.joined[t] = WALK & walk_joined ? shuffle(round.joined, entry) : 0;
      batch.stride[t] = WALK & walk_joined ? shuffle(round.stride, entry) : 0;
      batch.a[t] = first + entry;
      batch.b[t] = s->start[e] + (at + lane_id());
    }
    f(batch);
  }
}

// Products of a round are counted in 32 bits. Of one with a row of 2^26 entries and more this leaves those of its `piece`-th 2^30,
// and returns whether there are more.
__device__ inline bool cut_round(Round& round, u32 piece) {
  constexpr u32 piece_bits = 30;
  if (!__any_sync(full_warp, round.left >> 26 != 0)) return false;
  const u64 after = warp_inclusive_sum(u64(round.left)), before = after - round.left;
  const u64 low = u64(piece) << piece_bits, high = u64(piece + 1) << piece_bits;
  const u64 begin = before > low ? before : low, end = after < high ? after : high;
  round.begin += Position(begin - before);
  round.left = end > begin ? Position(end - begin) : 0;
  return shuffle(after, 31) > high;
}

// The products of one round, of the `part`-th of `parts` warps.
template <u32 BATCH, u32 WALK, class F>
__device__ inline void walk_round(Position first, Round round, u32 part, u32 parts, WarpProducts* s, F f) {
  const u32 some = __popc(__ballot_sync(full_warp, round.left != 0));
  const u32 last = warp_inclusive_sum(u32(round.left)), total = shuffle(last, 31);
  const u32 lo = u32(u64(total) * part / parts), hi = u32(u64(total) * (part + 1) / parts);
  if (lo == hi) return;
  if (total >= some * tuning::long_rows) walk_long_rows<BATCH, WALK>(first, round, last, lo, hi, f);
  else walk_short_rows<BATCH, WALK>(first, round, last, lo, hi, s, f);
}

struct NoSlots {
  __device__ void operator()(u32, u32, u32, u32) const {}
};

// Calls f(batch) until each product of A's entries [first, last) with columns [low, high) of B was in one batch of one
// of the share's warps. Whole warps call together. `partial`: [low, high) may cut rows of B. One warp alone gets the
// products in the order of A's entries. No barrier but the warp's, unless rounds may be left: then all of the block call.
// With walk_bits take(lanes, slot, part, parts) is called instead of these lanes' rows, which have a slot, by each warp that has a part of them.
template <u32 BATCH, u32 WALK = walk_huge, class F, class T = NoSlots>
__device__ inline void for_products(Share share, const u32* a_indices, u64 first, u64 last, Rows b, u64 low, u64 high,
                                    bool partial, WarpProducts* s, F f, T take = {}) {
  if (first >= last) return;
  const Position a_begin = Position(first), a_end = Position(last), entries = a_end - a_begin;
  // Of few entries the warps do every round together, an equal part of its products each; of many, a round each. Rounds of so
  // many products that others would wait for the warp are left for all, where there is memory to say which.
  const bool together = share.warps > 1 && entries <= 32 * share.warps;
  u32* const left = share.left;
  bool leaves = left != nullptr && !together;
  if (leaves) {
    if (threadIdx.x == 0) left[0] = 0;
    __syncthreads();
  }
  const bool barriers = leaves;
  u32 part = together ? share.warp : 0, parts = together ? share.warps : 1, done = 0, n = 0, piece = 0;
  Position at = a_begin + (together ? 0 : share.warp * 32);
  Round next = load_round<WALK>(a_indices, at, a_end, b, low, high, partial);
  for (;;) {
    if (at >= a_end) {
      if (!leaves) break;
      leaves = false;
      __syncthreads();
      n = left[0] < Share::most_left ? left[0] : Share::most_left;
      part = share.warp;
      parts = share.warps;
      at = n ? a_begin + Position(left[1]) * 32 : a_end;
      next = load_round<WALK>(a_indices, at, a_end, b, low, high, partial);
      continue;
    }
    const Position now = at;
    Round round = next;
    if (n == 0) at += 32 * (together ? 1 : share.warps);
    else at = ++done < n ? a_begin + Position(left[1 + done]) * 32 : a_end;
    next = load_round<WALK>(a_indices, at, a_end, b, low, high, partial);
    if (leaves && piece == 0 && warp_sum(u64(round.left)) > tuning::shared_round) {
      u32 place = 0;
      if (lane_id() == 0) {
        place = atomicAdd(&left[0], 1u);
        if (place < Share::most_left) left[1 + place] = u32((now - a_begin) / 32);
      }
      if (shuffle(place, 0) < Share::most_left) continue;
    }
    if constexpr (WALK & walk_bits) {
      const u32 slotted = __ballot_sync(full_warp, round.left == 0 && round.begin != 0);
      if (slotted) take(slotted, u32(round.begin), part, parts);
    }
    if constexpr (WALK & walk_huge) {
      if (cut_round(round, piece)) {
        piece++;
        at = now;
        done -= n != 0;
        next = load_round<WALK>(a_indices, at, a_end, b, low, high, partial);
      } else {
        piece = 0;
      }
    }
    walk_round<BATCH, WALK>(now, round, part, parts, s, f);
  }
  if (barriers) __syncthreads();
}

}  // namespace oplus
