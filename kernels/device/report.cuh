// What a launch has found, told to the host by the launch itself: no copy after it, and no fill before the next.
#include "portable.cuh"

namespace oplus {

// Blocks that have come here count in this word of the control block. The host waits for the last word of its page.
constexpr u32 report_done = 14, report_number = 511;
// Words that a kernel whose launch begins with zeros tells.
constexpr u32 report_said = 16;

// A page of the host's memory and what to write to its end; null: nothing is told.
struct Report {
  u64 *page, number;
};

// The block that comes last copies `said` words of the control block to the page and leaves `words` of it zero, where these are the
// states of the launch, or else the count alone. `place`: shared memory. All threads of all blocks call, once, at the end.
__device__ inline void tell(const Report& report, u64* control, u32 said, u64 words, volatile u64* place) {
  if (!report.page) return;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const u64 ended = atomicAdd(&control[report_done], u64(1)) + 1;
    // Now it sees what all the others found, and past the barrier so do the others of its block.
    if (ended == gridDim.x) __threadfence();
    *place = ended;
  }
  __syncthreads();
  if (*place != gridDim.x) return;
  volatile u64* const found = control;
  volatile u64* const page = report.page;
  for (u32 i = threadIdx.x; i < said; i += blockDim.x) page[i] = found[i];
  __syncthreads();
  for (u64 i = threadIdx.x; i < words; i += blockDim.x) found[i] = 0;
  if (threadIdx.x == 0) {
    found[report_done] = 0;
    __threadfence_system();
    page[report_number] = report.number;
  }
}

}  // namespace oplus
