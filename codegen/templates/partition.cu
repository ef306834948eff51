// Parts of equal higher bits of a key split by the next bits, until they are small or have one key each. Stable. No scalar type.
//
// A level: parts' tiles are counted and scanned (partition_tiles), then digits of every tile (partition_count), and the scan of
// these counts, in the order of part, digit and tile, says where everything goes: to partition_next the parts of the next level,
// to transpose.cu the entries. After Stehle, Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs", SIGMOD 2017,
// https://doi.org/10.1145/3035918.3064043. Deterministic. Launches: README.md.
#include "device/partition.cuh"
#include "device/report.cuh"
#include "warp/scan.cuh"

namespace oplus {

// counts[p] = tiles of part p, entries begins[p] .. begins[p + 1]; an empty one has a tile too.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
partition_tiles(u64 parts, const u64* begins, u32* counts) {
  const u64 p = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p >= parts) return;
  const u64 tiles = (begins[p + 1] - begins[p] + partition_tile - 1) / partition_tile;
  counts[p] = u32(max(tiles, u64(1)));
}

// Keys of each digit in each tile; zeros for blocks beyond the last tile.
extern "C" __global__ void __launch_bounds__(partition_block)
partition_count(const u32* keys, u64 parts, const u64* begins, const u64* tiles, u32 shift, u32 bits, u32* counts) {
  __shared__ u32 bins[1u << tuning::partition_bits];
  const u32 digits = 1u << bits;
  if (blockIdx.x >= tiles[parts]) {
    for (u32 d = threadIdx.x; d < digits; d += partition_block) counts[u64(blockIdx.x) * digits + d] = 0;
    return;
  }
  for (u32 d = threadIdx.x; d < digits; d += partition_block) bins[d] = 0;
  const PartTile tile = part_tile(parts, begins, tiles);
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < tuning::partition_items; t++) {
    const u32 i = t * partition_block + threadIdx.x;
    if (i < tile.n) atomicAdd(&bins[keys[tile.begin + i] >> shift & (digits - 1)], 1u);
  }
  __syncthreads();
  for (u32 d = threadIdx.x; d < digits; d += partition_block) counts[tile.place(digits, d)] = bins[d];
}

// begins[i] for the parts of the next level up to `limit`, which is one past the last of all n keys; starts: the counts scanned.
// control (0 before) gets the keys of the largest of them; null: nobody asks. page, number, words: Report, and what it leaves zero.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
partition_next(u64 parts, const u64* tiles, u32 bits, const u64* starts, u64 limit, u64 n, u64* begins, u64* control, u64* page,
               u64 number, u64 words) {
  __shared__ u64 place;
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto begin_of = [&](u64 at) {
    const u64 p = at >> bits, digit = at & ((1u << bits) - 1);
    return at >= limit || p >= parts ? n : starts[(tiles[p] << bits) + digit * (tiles[p + 1] - tiles[p])];
  };
  u64 size = 0;
  if (i <= limit) {
    const u64 begin = begin_of(i);
    begins[i] = begin;
    if (control && i < limit) size = begin_of(i + 1) - begin;
  }
  if (!control) return;
  size = warp_max(size);
  if (lane_id() == 0 && size) atomicMax(&control[0], size);
  tell({page, number}, control, report_said, words, &place);
}

}  // namespace oplus
