// Which of a tile's merged entries are entries of the result.
#include "part/merge.cuh"

namespace oplus {

// Looks ascending places up in a mask, going on from where the last was.
struct MaskWalk {
  const u64* offsets;
  const u32* indices;
  u64 at, end;
  u32 row;
  bool started;

  __device__ bool has(u32 r, u32 column) {
    u64 step = 1;
    if (!started || r != row) {
      at = offsets[r];
      end = offsets[u64(r) + 1];
      // The first one may stand anywhere in its row, the first of another row stands near where that begins.
      if (!started) step = end - at;
      row = r;
      started = true;
    }
    while (end - at > step && indices[at + step - 1] < column) {
      at += step;
      step *= 2;
    }
    at = lower_bound<u32, u64>(indices, at, min(at + step, end), column);
    return at < end && indices[at] == column;
  }
};

// Some rows or columns: first and one past last, and bits where not all between are meant.
struct Within {
  u32 first, end;
  const u32* bits;
  __device__ bool has(u32 place) const {
    return place >= first && place < end && (!bits || (bits[place >> 5] >> (place & 31) & 1));
  }
};

__device__ inline Within within(const u32* bounds, u32 part) {
  const u32 start = bounds[3 * part + 2];
  return {bounds[3 * part], bounds[3 * part + 1], start ? bounds + start : nullptr};
}

// Four threads' bytes as a word, in all of them.
__device__ inline u32 word_of_bytes(u32 byte) {
  u32 word = byte << 8 * (threadIdx.x & 3);
  word |= __shfl_xor_sync(full_warp, word, 1);
  return word | __shfl_xor_sync(full_warp, word, 2);
}

// 32 merged entries, a bit each: which are entries of the result, A's, such of A's as B has too, and where T counts.
struct MergeWords {
  u32 kept, sides, pairs, admitted;
};

// Those of the thread's word of its tile, in all four threads that have entries of it. All threads call.
__device__ inline MergeWords merge_rule(const MergeTile& tile, const u64* m_offsets, const u32* m_indices, const u32* bounds) {
  MaskWalk mask = {m_offsets, m_indices, 0, 0, 0, false};
  Within parts[4] = {};
  if constexpr (flag::region) {
    for (u32 p = 0; p < 4; p++) parts[p] = within(bounds, p);
  }
  // All where nothing restricts them.
  u32 admits = flag::masked || flag::region ? 0 : 255, erased = 0;
  const Merged merged = tile.walk([&](u32 t, u32 row, u32 column) {
    bool admit = true;
    if constexpr (flag::masked) admit = mask.has(row, column) != flag::complement;
    bool erase = flag::replace && !admit;
    if constexpr (flag::region) {
      const bool reached = parts[2].has(row) && parts[3].has(column);
      erase = erase && reached;
      admit = admit && reached && parts[0].has(row) && parts[1].has(column);
    }
    if constexpr (flag::masked || flag::region) admits |= u32(admit) << t;
    erased |= u32(erase) << t;
  });
  const u32 from_b = merged.pairs | ~merged.sides;
  u32 kept = merged.first;
  if constexpr (number::kind == kind_intersection) {
    kept = merged.pairs;
  } else if constexpr (number::kind != kind_union && number::kind != kind_filled) {
    // Where T does not count C stays, unless it is replaced.
    const u32 written = number::kind == kind_overwrite ? from_b : ~0u;
    kept &= (admits & written) | (merged.sides & ~admits & ~erased);
  }
  return {word_of_bytes(kept & 255), word_of_bytes(merged.sides), word_of_bytes(merged.pairs), word_of_bytes(admits)};
}

}  // namespace oplus
