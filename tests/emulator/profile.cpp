// Which kernels an emulated program spends its time in: `EMU_PROFILE=1` prints a table when it ends.
#include "runtime.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace emu {
namespace {
struct Cost { double seconds; uint64_t launches, blocks, threads, steps; };
struct Table {
  std::map<std::string, Cost> kernels;
  ~Table() {
    typedef std::pair<std::string, Cost> Row;
    std::vector<Row> rows(kernels.begin(), kernels.end());
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.second.seconds > b.second.seconds; });
    std::fprintf(stderr, "%9s %9s %10s %11s %12s  kernel\n", "seconds", "launches", "blocks", "threads", "steps");
    for (const auto& [name, c] : rows)
      std::fprintf(stderr, "%9.3f %9lu %10lu %11lu %12lu  %s\n", c.seconds, (unsigned long)c.launches, (unsigned long)c.blocks,
                   (unsigned long)c.threads, (unsigned long)c.steps, name.c_str());
  }
};
}  // namespace

std::string profiled(const Launch& launch) {
  static const bool wanted = setting("EMU_PROFILE", 0) != 0;
  if (!wanted) return run(launch);
  static Table table;
  const auto begin = std::chrono::steady_clock::now();
  const std::string said = run(launch);
  Cost& cost = table.kernels[launch.name];
  const uint64_t blocks = uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  cost.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  cost.launches++;
  cost.blocks += blocks;
  cost.threads += blocks * launch.block.x * launch.block.y * launch.block.z;
  cost.steps += steps_taken();
  return said;
}
}  // namespace emu
