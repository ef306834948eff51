// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, all rows of few columns and about equally few products: a thread a row, with a hash table of its
// own, or number::lanes of them, whose tables are put together in the end; rows straight to their places by look-back.
//
// A lane's table lies across the banks of shared memory, so that lanes never wait for one another there, and nothing is shared: no
// votes, no atomics, no barriers while products are added. Some entries of A at a time, then some of a row of B: a lane's loads lie
// side by side and are under way together, and lanes whose rows are neighbours are at neighbouring rows of B, if A has diagonals.
// Where a row is long and has few columns, its lanes take its entries in turn, and sums of one column never meet before the end.
// Where rows of B come in no order, and have hardly any entries, they are packed before (number::packed): a lane waits for one sector
// of memory instead of three.
// Determinism: of one lane sums run in the order of k, bit-equal to a serial sum; of several in another order, always the same. See
// README.md for launches and sizes.
#include "device/look_back.cuh"
#include "device/report.cuh"
#include "part/lane_table.cuh"
#include "part/packed_rows.cuh"
#include "part/spgemm_factors.cuh"
#include "warp/search.cuh"

namespace oplus {

// Blocks of a multiprocessor, which bounds registers: of tables of many slots no more have room.
constexpr u32 threads = u32(number::block), hash_thread_blocks = (number::slots > 16 ? 512 : 1024) / threads;

// Entries that are loaded together.
constexpr u32 a_ahead = sizeof(A) <= 8 ? 4 : sizeof(A) <= 16 ? 2 : 1, b_ahead = sizeof(B) <= 8 ? 4 : sizeof(B) <= 16 ? 2 : 1;

// As spgemm_hash: C's offsets to c_offsets, nothing written past `capacity` entries. state: u64[1 + ceil(rows · lanes / number::block)] zeros.
// nnz(C) and the longest row's length to control[control_entries] and control[control_longest] (0 before); control[control_failed] = failed_row
// if a row has more columns than fit, and then C is not complete: rows not begun yet are left out. Columns are below 2^32 / number::slots. page, number: Report;
// `words` from `control` on are left zero.
// With number::packed b_values are B's rows as pack_rows leaves them, of up to so many entries.
// Launch: 1-D blocks of number::block threads, any grid, hash_bytes' shared bytes a warp.
extern "C" __global__ void __launch_bounds__(threads, hash_thread_blocks)
spgemm_hash_thread(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
                   const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,
                   const u64* j_ids, u64* control, u64* c_offsets, u32* c_indices, Written* c_values, u64 rows, u64* state, u64 capacity,
                   u64* page, u64 number, u64 words) {
  constexpr u32 slots = u32(number::slots), lanes = u32(number::lanes), warps = threads / 32, block = threads / lanes;
  typedef LaneTable<slots> Table;
  constexpr u32 values_bytes = Semiring::constant ? 0 : rounded(slots * 32 * sizeof(C)), bytes = values_bytes + Table::bytes;
  static_assert(bytes == shared_bytes::hash, "");
  __shared__ u64 place;
  __shared__ u32 counts[warps];
  DYN_SHARED(unsigned char, shared);
  unsigned char* const memory = shared + threadIdx.x / 32 * bytes;
  C* const sums = reinterpret_cast<C*>(memory);  // slot s of a lane: 32 · s + lane
  C* const own_sums = sums + lane_id();
  Table table(reinterpret_cast<u32*>(memory + values_bytes));
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  const u32 lane = lane_id(), warp = threadIdx.x / 32, part = lane % lanes;
  u32 longest = 0;
  for (bool more = true; more; more = u64(gridDim.x) * block < rows) {
    const u64 tile = next_tile(state, &place), at = tile * block + threadIdx.x / lanes;
    if (tile * block >= rows) break;
    const bool live = at < rows;
    const u32 row = live ? u32(at) : 0;
    table.clear();
    Position a = 0, a_end = 0;
    if (live) {
      a = Position(a_offsets[row]);
      a_end = Position(a_offsets[row + 1]);
      a = a_end - a > part ? a + part : a_end;
    }
    const auto add = [&](u32 slot, bool fresh, const Loaded& both, Position of_a) {
      if constexpr (!Semiring::constant) {
        C& sum = own_sums[32 * slot];
        if (fresh) sum = multiply(factors, x, both, of_a, row);
        else if (needs_all) sum = Semiring::add(sum, multiply(factors, x, both, of_a, row));
      }
    };
    const auto put = [&](const Loaded& both, Position of_a) {
      if (admitted(x, row, both.column)) table.put(both.column, [&](u32 slot, bool fresh) { add(slot, fresh, both, of_a); });
    };
    // Those of a packed row: its columns differ, so that all are looked up before one is waited for.
    typedef PackedRow<B, number::packed ? u32(number::packed) : 1, Semiring::reads_b> Packed;
    const auto put_packed = [&](const A& a, const Packed& its, Position of_a) {
      Loaded both[Packed::most];
      u32 slot[Packed::most];
      bool wanted[Packed::most];
      C sum[Packed::most];
#pragma unroll
      for (u32 s = 0; s < Packed::most; s++) {
        both[s] = {a, its.value_of(s), its.column[s]};
        wanted[s] = its.column[0] != packed_none && its.column[s] != packed_none && admitted(x, row, its.column[s]);
        slot[s] = wanted[s] ? table.slot_at_home(its.column[s]) : Table::nowhere;
      }
      if constexpr (!Semiring::constant && needs_all) {
#pragma unroll
        for (u32 s = 0; s < Packed::most; s++) {
          if (slot[s] != Table::nowhere) sum[s] = own_sums[32 * slot[s]];
        }
      }
#pragma unroll
      for (u32 s = 0; s < Packed::most; s++) {
        if (slot[s] == Table::nowhere) {
          if (wanted[s]) table.settle(both[s].column, Table::home(both[s].column), [&](u32 slot, bool fresh) { add(slot, fresh, both[s], of_a); });
        } else if constexpr (!Semiring::constant && needs_all) {
          own_sums[32 * slot[s]] = Semiring::add(sum[s], multiply(factors, x, both[s], of_a, row));
        }
      }
    };
    u32 k[a_ahead];
    const auto load_k = [&](Position from) {
#pragma unroll
      for (u32 t = 0; t < a_ahead; t++) k[t] = a_end - from > t * lanes ? a_indices[from + t * lanes] : 0;
    };
    load_k(a);
    while (a < a_end) {
      const Position now = a;
      a = a_end - a > a_ahead * lanes ? a + a_ahead * lanes : a_end;
      if constexpr (number::packed > 0) {
        Packed its[a_ahead];
        A value[a_ahead];
#pragma unroll
        for (u32 t = 0; t < a_ahead; t++) {
          const bool inside = a_end - now > t * lanes;
          if (inside) its[t] = reinterpret_cast<const Packed*>(b_values)[k[t]];
          else its[t].column[0] = packed_none;
          value[t] = A();
          if constexpr (Semiring::reads_a) {
            if (inside) value[t] = a_values[now + t * lanes];
          }
        }
        load_k(a);
#pragma unroll
        for (u32 t = 0; t < a_ahead; t++) put_packed(value[t], its[t], now + t * lanes);
        continue;
      }
      // Their rows of B; the first is the next to be walked.
      Position begin[a_ahead], left[a_ahead];
      A value[a_ahead];
#pragma unroll
      for (u32 t = 0; t < a_ahead; t++) {
        const bool inside = a_end - now > t * lanes;
        begin[t] = inside ? Position(b_offsets[k[t]]) : 0;
        left[t] = inside ? Position(b_offsets[u64(k[t]) + 1]) - begin[t] : 0;
        value[t] = A();
        if constexpr (Semiring::reads_a) {
          if (inside) value[t] = a_values[now + t * lanes];
        }
      }
      load_k(a);
#pragma unroll 1
      for (u32 e = 0; e < a_ahead; e++) {
        Position b = begin[0], some = left[0];
        const A a_value = value[0];
#pragma unroll
        for (u32 t = 0; t + 1 < a_ahead; t++) {
          begin[t] = begin[t + 1];
          left[t] = left[t + 1];
          value[t] = value[t + 1];
        }
#pragma unroll 1
        while (some > 0) {
          Loaded both[b_ahead];
          const u32* const its_columns = b_indices + b;
          const B* const its_values = b_values + b;
#pragma unroll
          for (u32 s = 0; s < b_ahead; s++) {
            both[s] = {a_value, B(), 0};
            if (s >= some) continue;
            both[s].column = its_columns[s];
            if constexpr (Semiring::reads_b) both[s].b = its_values[s];
          }
#pragma unroll
          for (u32 s = 0; s < b_ahead; s++) {
            if (s < some) put(both[s], now + e * lanes);
          }
          b += b_ahead;
          some = some > b_ahead ? some - b_ahead : 0;
        }
      }
    }
    // The first of the lanes has all in the end.
#pragma unroll 1
    for (u32 by = 1; by < lanes; by *= 2) {
      __syncwarp();
      u32 theirs = shuffle_down(table.used, by);
      table.lost |= shuffle_down(table.lost, by);
      if (part % (2 * by) != 0) {
        table.used = table.lost = 0;
        continue;
      }
      for (; theirs; theirs &= theirs - 1) {
        const u32 from = u32(__ffs(i32(theirs))) - 1;
        table.put(table.column_of(by, from), [&](u32 slot, bool fresh) {
          if constexpr (!Semiring::constant) {
            C& sum = own_sums[32 * slot];
            const C& other = own_sums[32 * from + by];
            if (fresh) sum = other;
            else if (needs_all) sum = Semiring::add(sum, other);
          }
        });
      }
    }
    if (table.lost) {
      atomicOr(&control[control_failed], u64(failed_row));
      draw_no_more(state, rows);
      table.used = 0;
    }
    const u32 n = u32(__popc(table.used)), stop = warp_inclusive_sum(n), ours = shuffle(stop, 31);
    if (n > longest) longest = n;
    if (lane == 0) counts[warp] = ours;
    __syncthreads();
    u32 all = 0, before = 0;
#pragma unroll
    for (u32 w = 0; w < warps; w++) {
      if (w == warp) before = all;
      all += counts[w];
    }
    // The look-back's wait hides behind sorting.
    if (warp == 0) look_back_post(state + 1, tile, all);
    table.sort_some(warp_max(n));
    if (warp == 0) {
      const u64 begin = look_back_wait(state + 1, tile, all);
      if (lane == 0) place = begin;
    }
    __syncthreads();
    const u64 out = place + before;
    if (live && part == 0) {
      c_offsets[row] = out + (stop - n);
      if (at + 1 == rows) c_offsets[rows] = control[control_entries] = out + stop;
    }
    // Entry e of the warp belongs to the first lane whose entries end behind it.
    for (u32 e = lane; e - lane < ours; e += 32) {
      const u32 owner = first_above(stop, e), from = shuffle(stop - n, owner);
      if (e >= ours || out + e >= capacity) continue;
      const u32 key = table.keys[32 * (e - from) + owner];
      c_indices[out + e] = key >> Table::bits;
      if constexpr (Semiring::constant) write_constant(c_values, out + e);
      else write_value(c_values, out + e, sums[32 * (key & (slots - 1)) + owner]);
    }
    __syncwarp();
  }
  longest = warp_max(longest);
  if (lane == 0 && longest) atomicMax(&control[control_longest], u64(longest));
  tell({page, number}, control, report_said, words, &place);
}

}  // namespace oplus
