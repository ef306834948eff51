// A single value, told to the host by the launch that has found it.
#include "device/report.cuh"

namespace oplus {

// One thread's value, which no launch has told yet, to the beginning of the page, or of the control block where there is no page; if it has no
// room before the count to *out instead. The count is left zero.
template <class T> __device__ inline void tell_value(const Report& report, u64* control, const T& value, T* out) {
  constexpr u32 words = (sizeof(T) + 7) / 8;
  control[report_done] = 0;
  if constexpr (words <= report_done) {
    alignas(16) u64 said[words] = {};
    *reinterpret_cast<T*>(said) = value;
    volatile u64* const to = report.page ? report.page : control;
    for (u32 i = 0; i < words; i++) to[i] = said[i];
  } else {
    *out = value;
  }
  if (!report.page) return;
  __threadfence_system();
  *(volatile u64*)(report.page + report_number) = report.number;
}

}  // namespace oplus
