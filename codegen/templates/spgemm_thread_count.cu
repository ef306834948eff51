// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of at most number::width products, a thread a row: how many columns they have.
#include "device/report.cuh"
#include "part/spgemm_thread.cuh"

namespace oplus {

// Rows of `list`, or with list = null stretches of a block's threads, one anywhere in every `stride` of them. Lengths to row_counts,
// unless that is null; without a list their sum is added to sum[0] and the number of rows to sum[1]; page, number: Report, for which
// `sum` is the control block.
// Launch: 1-D blocks of number::block threads, any grid, thread_launch's shared bytes. `units`, `begin`: places in the
// control block.
extern "C" __global__ void __launch_bounds__(u32(number::block))
spgemm_thread_count(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
                    const u64* m_offsets, const u32* m_indices, u32 columns, const u64* control, u32 units, u32 begin,
                    const u32* list, const u32* first, const u32* last, u64* row_counts, u64 rows, u64 stride, u64* sum,
                    u64* page, u64 number, u64 words) {
  typedef ThreadRows<u32(number::width)> Thread;
  static_assert(Thread::bytes * (u32(number::block) / 32) == shared_bytes::thread, "");
  DYN_SHARED(unsigned char, shared);
  const Thread mine = {reinterpret_cast<Key*>(shared + threadIdx.x / 32 * Thread::bytes)};
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const u64 n = list ? control[units] : rows, from = list ? control[begin] : 0, step = list ? 1 : stride;
  __shared__ u64 place;
  u64 total = 0, seen = 0;
  for (u64 group = blockIdx.x; group * step * blockDim.x < n; group += gridDim.x) {
    const u64 at = sampled(group, step) * blockDim.x;
    const bool live = at + threadIdx.x < n;
    const u32 row = !live ? 0 : list ? list[from + at + threadIdx.x] : u32(at + threadIdx.x);
    Key key[u32(number::width)];
    __syncwarp();
    const u32 products = mine.template expand<false>(
        x, live, row, [](Position, Position, u32) {}, [](Position, u32, u32, u32, u32) {});
    mine.sort(products, key);
    const u32 count = __popc(mine.tails(key));
    if (live && row_counts) row_counts[row] = count;
    total += count;
    seen += live;
  }
  if (list) return;
  total = warp_sum(total);
  seen = warp_sum(seen);
  if (lane_id() == 0 && seen) {
    atomicAdd(&sum[0], total);
    atomicAdd(&sum[1], seen);
  }
  tell({page, number}, sum, report_said, words, &place);
}

}  // namespace oplus
