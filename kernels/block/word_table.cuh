// The columns of one row as bits, 32 to a word, in a team's shared memory: ordered rank without sorting the columns.
//
// A range of columns that is narrow has a word a slot (direct); a wide one has its words hashed, of which at most
// SLOTS / 2 may be in use: past that the table overflows and the caller takes a narrower range.
#include "block/sort.cuh"

namespace oplus {

// RANKED: positions can be asked for. LISTED: there is a second bit a column (a mask row).
// Shared memory: `area` of `words_needed` u32, 8-byte aligned, `counters` of 2 u32. SLOTS: a power of two, > 2·THREADS.
template <u32 THREADS, u32 SLOTS, bool RANKED, bool LISTED> struct WordTable {
  static constexpr u32 words_needed = SLOTS * (2 + (RANKED ? 2 : 0) + (LISTED ? 2 : 0));
  static constexpr u32 threads = THREADS;
  static constexpr u32 limit = SLOTS / 2;
  static constexpr u32 none = 0xffffffffu;
  static_assert((SLOTS & (SLOTS - 1)) == 0 && SLOTS / 2 > THREADS, "room for one insertion a thread past the limit");

  Team<THREADS> team;
  u32 *area, *counters;
  u32 first_word, words;
  bool direct;

  __device__ u32* keys() const { return area; }
  __device__ u32* bits() const { return direct ? area : area + SLOTS; }
  __device__ u32* base() const { return area + 2 * SLOTS; }
  __device__ u64* order() const { return reinterpret_cast<u64*>(area + 3 * SLOTS); }
  __device__ u32* listed() const { return area + (RANKED ? 4 : 2) * SLOTS; }
  __device__ volatile u32* used() const { return counters; }

  // Empties the table for columns [low, high); low is a multiple of 32. Ends with a barrier.
  __device__ void open(u64 low, u64 high) {
    first_word = u32(low >> 5);
    words = u32((high - 1) >> 5) - first_word + 1;
    direct = words <= 2 * SLOTS;
    const u32 slots = direct ? words : SLOTS;
    for (u32 i = team.rank(); i < slots; i += THREADS) {
      bits()[i] = 0;
      if (!direct) keys()[i] = none;
      if constexpr (LISTED) listed()[i] = 0;
    }
    if (team.rank() == 0) counters[0] = counters[1] = 0;
    team.sync();
  }

  __device__ u32 home(u32 word) const {
    constexpr u32 shift = SLOTS >= 65536 ? 16 : SLOTS >= 32768 ? 17 : SLOTS >= 16384 ? 18 : SLOTS >= 8192 ? 19
        : SLOTS >= 4096 ? 20 : SLOTS >= 2048 ? 21 : SLOTS >= 1024 ? 22 : SLOTS >= 512 ? 23 : SLOTS >= 256 ? 24
        : SLOTS >= 128 ? 25 : 26;
    return (word * 0x9e3779b1u >> shift) & (SLOTS - 1);
  }

  // Slot of a column's word, `none` if it is not there.
  __device__ u32 find(u32 column) const {
    const u32 word = column >> 5;
    if (direct) return word - first_word;
    for (u32 slot = home(word);; slot = (slot + 1) & (SLOTS - 1)) {
      const u32 key = keys()[slot];
      if (key == word) return slot;
      if (key == none) return none;
    }
  }

  // The same, taking a free slot if there is none; `none` once the table has overflowed.
  __device__ u32 find_or_insert(u32 column) {
    const u32 word = column >> 5;
    if (direct) return word - first_word;
    for (u32 slot = home(word);; slot = (slot + 1) & (SLOTS - 1)) {
      u32 key = const_cast<volatile u32*>(keys())[slot];
      if (key == none) {
        if (used()[0] > limit) return none;
        key = atomicCAS(&keys()[slot], none, word);
        if (key == none) {
          atomicAdd(&counters[0], 1u);
          return slot;
        }
      }
      if (key == word) return slot;
    }
  }

  // Adds a column. `words` that are taken in after an overflow are lost: ask `overflowed`.
  __device__ void mark(u32 column) {
    const u32 slot = find_or_insert(column);
    if (slot != none) set(bits(), slot, column);
  }
  // Adds a column if its listed bit is (COMPLEMENT: is not) set.
  template <bool COMPLEMENT> __device__ void mark_listed(u32 column) {
    const u32 slot = COMPLEMENT ? find_or_insert(column) : find(column);
    if (slot == none) return;
    if (((listed()[slot] >> (column & 31)) & 1) != (COMPLEMENT ? 0u : 1u)) return;
    set(bits(), slot, column);
  }
  // Sets a column's listed bit.
  __device__ void list(u32 column) {
    const u32 slot = find_or_insert(column);
    if (slot != none) set(listed(), slot, column);
  }
  __device__ bool is_listed(u32 column) const {
    const u32 slot = find(column);
    return slot != none && (listed()[slot] >> (column & 31) & 1);
  }
  __device__ static void set(u32* array, u32 slot, u32 column) {
    const u32 bit = 1u << (column & 31);
    if (!(const_cast<volatile u32*>(array)[slot] & bit)) atomicOr(&array[slot], bit);
  }

  // After all marks; has a barrier on either side.
  __device__ bool overflowed() {
    team.sync();
    const bool result = used()[0] > limit;
    team.sync();
    return result;
  }

  // Columns marked.
  __device__ u32 count() {
    u32 n = 0;
    const u32 slots = direct ? words : SLOTS;
    for (u32 i = team.rank(); i < slots; i += THREADS) n += __popc(bits()[i]);
    return team.sum(n);
  }

  // Gives every marked column its rank and returns their number. Once, after all marks and a barrier.
  __device__ u32 rank() {
    static_assert(RANKED, "a table without ranks");
    u32 n = words;
    if (!direct) {
      for (u32 i = team.rank(); i < SLOTS; i += THREADS) {
        if (bits()[i] != 0) order()[atomicAdd(&counters[1], 1u)] = u64(keys()[i]) << 32 | i;
      }
      team.sync();
      n = const_cast<volatile u32*>(counters)[1];
      if (THREADS == 32 && n <= 32) {
        u64 key = team.rank() < n ? order()[team.rank()] : ~0ull;
        u64 sorted = key;
        for (u32 size = 2; size <= 32; size *= 2) {
          for (u32 stride = size / 2; stride > 0; stride /= 2) {
            const u64 other = shuffle_xor(sorted, stride);
            const bool small = ((lane_id() & stride) == 0) == ((lane_id() & size) == 0);
            sorted = (other < sorted) == small ? other : sorted;
          }
        }
        if (team.rank() < n) order()[team.rank()] = sorted;
        team.sync();
      } else {
        team_sort<THREADS, u64>(team, order(), n, ~0ull);
      }
    }
    constexpr u32 items = 4;
    u32 before = 0;
    for (u32 tile = 0; tile < n; tile += THREADS * items) {
      u32 slot[items], size[items], sum = 0;
#pragma unroll
      for (u32 t = 0; t < items; t++) {
        const u32 i = tile + team.rank() * items + t;
        slot[t] = i >= n ? none : direct ? i : u32(order()[i]);
        size[t] = slot[t] == none ? 0 : __popc(bits()[slot[t]]);
        sum += size[t];
      }
      u32 total, at = before + team.exclusive_sum(sum, total);
#pragma unroll
      for (u32 t = 0; t < items; t++) {
        if (slot[t] != none) base()[slot[t]] = at;
        at += size[t];
      }
      before += total;
    }
    team.sync();
    return before;
  }

  // Rank of a column among those marked, `none` if it is not marked.
  __device__ u32 position(u32 column) const {
    const u32 slot = find(column);
    if (slot == none) return none;
    const u32 word = bits()[slot], bit = 1u << (column & 31);
    return word & bit ? base()[slot] + __popc(word & (bit - 1)) : none;
  }

  // Cuts the columns into `parts` ranges of about equal count, at most `size` + 31 each, in a direct table, all marks made:
  // f(part, word, before) for part = 1 .. parts - 1, called once each: it begins with `word`, `before` columns ahead of it.
  // parts = ceil(marked / size), size > 32.
  template <class F> __device__ void cut(u32 size, u32 parts, F f) {
    u32 before = 0;
    for (u32 tile = 0; tile < words; tile += THREADS) {
      const u32 i = tile + team.rank(), marked = i < words ? u32(__popc(bits()[i])) : 0;
      u32 total;
      const u32 at = before + team.exclusive_sum(marked, total);
      const u32 part = (at + marked) / size;
      if (marked && part > at / size && part < parts) f(part, first_word + i + 1, at + marked);
      before += total;
    }
  }

  // f(rank, column) for every marked column; `marked` is what rank() returned.
  template <class F> __device__ void for_marked(u32 marked, F f) const {
    const u32 n = direct ? words : const_cast<volatile u32*>(counters)[1];
    if (u64(n) * 8 <= marked) {  // well filled words: a lane a bit
      for (u32 i = team.rank() / 32; i < n; i += THREADS / 32) {
        const u32 slot = direct ? i : u32(order()[i]);
        const u32 word = bits()[slot], key = direct ? first_word + i : u32(order()[i] >> 32);
        if (word >> lane_id() & 1) f(base()[slot] + __popc(word & lanes_below()), key << 5 | lane_id());
      }
    } else {
      for (u32 i = team.rank(); i < n; i += THREADS) {
        const u32 slot = direct ? i : u32(order()[i]);
        u32 word = bits()[slot], at = word ? base()[slot] : 0;
        const u32 key = direct ? first_word + i : u32(order()[i] >> 32);
        for (; word; word &= word - 1) f(at++, key << 5 | (__ffs(word) - 1));
      }
    }
  }
};

}  // namespace oplus
