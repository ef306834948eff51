// Device-wide primitives, free of any semiring: prefix sums and radix sort. Blocks of tuning::primitive_block threads.
// Sizes of grids and workspaces: kernels/device/scan.cuh, kernels/device/radix_sort.cuh and README.md.
#include "device/radix_sort.cuh"
#include "device/scan.cuh"

namespace oplus {

extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
scan_u32(const u32* values, u64 n, u64* state, u64* total, u64* largest, u64* out, u64* control, u32 said, u64* page, u64 number,
         u64 words) {
  scan_exclusive<tuning::scan_u32_items, scan_numbers>(values, n, state, total, largest, out, control, said, {page, number}, words);
}
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
scan_bits(const u32* words, u64 n, u64* state, u64* total, u64* largest, u64* out, u64* control, u32 said, u64* page, u64 number,
          u64 left) {
  scan_exclusive<tuning::scan_u32_items, scan_bit_counts>(words, n, state, total, largest, out, control, said, {page, number}, left);
}
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
scan_u64(const u64* values, u64 n, u64* state, u64* total, u64* largest, u64* out, u64* control, u32 said, u64* page, u64 number,
         u64 words) {
  scan_exclusive<tuning::scan_items, scan_numbers>(values, n, state, total, largest, out, control, said, {page, number}, words);
}

extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
sort_counts(const u64* keys, u64 n, u32 shift, u64* counts) {
  sort_count_digits(keys, n, shift, counts);
}
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
sort_pass(const u64* keys, const u32* payloads, u64 n, u32 shift, const u64* offsets, u64* keys_out, u32* payloads_out) {
  sort_scatter(keys, payloads, n, shift, offsets, keys_out, payloads_out);
}

}  // namespace oplus
