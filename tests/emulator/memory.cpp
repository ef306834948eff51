// Device memory is host memory with a register of what is allocated: every copy and free is checked against it.
#include "runtime.h"
#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

namespace emu {
namespace {
std::mutex mutex;
std::map<uint64_t, size_t> blocks;
size_t used;
// Bytes that were freed and that the pool keeps: neither in use nor free. Of these the ones whose free the host has not waited for.
size_t idle, unobserved;
// Allocations until some fail, negative: none do; and how many then.
long fail_in = -1, fail_count = 1;
// So many of at least so many bytes fail.
size_t large;
long fail_large;
bool armed;
}  // namespace

size_t memory_total() { return size_t(setting("EMU_MEMORY", 8l << 30)); }
size_t memory_used() {
  std::lock_guard<std::mutex> lock(mutex);
  return used;
}

size_t memory_idle() {
  std::lock_guard<std::mutex> lock(mutex);
  return idle;
}
void keep_idle(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  idle += bytes;
  unobserved += bytes;
}
void observe() {
  std::lock_guard<std::mutex> lock(mutex);
  unobserved = 0;
}
void trim() {
  std::lock_guard<std::mutex> lock(mutex);
  idle = unobserved;
}

int allocate(uint64_t* pointer, size_t bytes) {
  if (!bytes || !pointer) return invalid_value;
  std::lock_guard<std::mutex> lock(mutex);
  if (!armed) {
    armed = true;
    fail_in = setting("EMU_FAIL_ALLOC", -1);
  }
  if (fail_in > 0) {
    fail_in--;
  } else if (fail_in == 0) {
    if (--fail_count == 0) fail_in = -1;
    return out_of_memory;
  }
  if (fail_large > 0 && bytes >= large) {
    fail_large--;
    return out_of_memory;
  }
  if (bytes > memory_total() - used) return out_of_memory;
  void* p = nullptr;
  // The size asked for, not rounded up: the sanitizer's red zone begins right behind it.
  if (posix_memalign(&p, 256, bytes)) return out_of_memory;
  std::memset(p, 0xcb, bytes);
  *pointer = uint64_t(p);
  blocks[*pointer] = bytes;
  used += bytes;
  idle -= std::min(idle, bytes);
  unobserved = std::min(unobserved, idle);
  return success;
}

int release(uint64_t pointer, size_t* bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = blocks.find(pointer);
  if (found == blocks.end()) {
    report("free of a pointer that is not allocated (freed twice, or never allocated)");
    return invalid_value;
  }
  used -= found->second;
  if (bytes) *bytes = found->second;
  std::memset(reinterpret_cast<void*>(pointer), 0xdd, found->second);
  std::free(reinterpret_cast<void*>(pointer));
  blocks.erase(found);
  return success;
}

bool inside(uint64_t pointer, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = blocks.upper_bound(pointer);
  if (found == blocks.begin()) return false;
  --found;
  return pointer - found->first <= found->second && bytes <= found->second - (pointer - found->first);
}

}  // namespace emu

extern "C" {
bool emu_in_memory(const void* p) { return emu::inside(reinterpret_cast<uint64_t>(p), 1); }
// For tests: `count` allocations from the n-th from now on fail (0: the next); negative: none does.
void emu_fail_allocations(long n, long count) {
  std::lock_guard<std::mutex> lock(emu::mutex);
  emu::armed = true;
  emu::fail_in = count > 0 ? n : -1;
  emu::fail_count = count;
}
// The next `count` allocations of at least `bytes` fail.
void emu_fail_large(size_t bytes, long count) {
  std::lock_guard<std::mutex> lock(emu::mutex);
  emu::large = bytes;
  emu::fail_large = count;
}
void emu_live_allocations(size_t* count, size_t* bytes) {
  std::lock_guard<std::mutex> lock(emu::mutex);
  *count = emu::blocks.size();
  *bytes = emu::used;
}
}
