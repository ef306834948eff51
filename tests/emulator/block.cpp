// Runs the blocks of a launch one after the other: threads as fibers in random order, warp operations, barriers, and
// reports of what can never go on.
#include "runtime.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

extern "C" {
emu_thread* emu_current;
uint3 emu_block;
dim3 emu_block_dim, emu_grid_dim;
void* emu_dynamic_shared;
}

namespace emu {
namespace {

enum class State { ready, barrier, warp, done };
struct Thread : emu_thread {
  Fiber fiber;
  State state;
  const char* site;
  unsigned mask, source;
  emu_warp_op op;
  uint64_t value;
};

std::vector<Thread> threads;
std::vector<unsigned> ready, next;
unsigned count, live, at_barrier, agreed, agreed_last, live_last;
const Launch* current;
std::string failure;
uint64_t random_state = 0x9e3779b97f4a7c15ull, steps, step_limit;
unsigned preempt_mask;

uint64_t random_bits() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

std::string where(const Thread& t) {
  char text[512];
  std::snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", current->name, emu_block.x, emu_block.y,
                emu_block.z, t.index.x, t.index.y, t.index.z);
  return text;
}

Thread& self() { return *static_cast<Thread*>(emu_current); }

void fail(const std::string& text) {
  if (failure.empty()) failure = text;
}

// Gives the processor back; a failed launch resumes nobody any more.
void wait() { suspend(self().fiber, false); }

// Every operation of the runtime is a step: a loop that calls it cannot go on for ever.
void count_step(const char* site) {
  if (++steps <= step_limit) return;
  fail("endless loop: " + where(self()) + " is at " + site + " after " + std::to_string(steps - 1) + " steps");
  wait();
}

void wake(unsigned i) {
  threads[i].state = State::ready;
  next.push_back(i);
}

void finish_barrier() {
  agreed_last = agreed;
  live_last = live;
  agreed = at_barrier = 0;
  for (unsigned i = 0; i < count; i++)
    if (threads[i].state == State::barrier) wake(i);
}

int64_t as_signed(uint64_t v) { return int64_t(v); }

// The lanes of `mask` from `base`, all of them here: computes each one's result.
void finish_warp(unsigned base, unsigned mask) {
  uint64_t in[32];
  unsigned here = 0;
  for (unsigned l = 0; l < 32; l++)
    if (mask >> l & 1 && base + l < count && threads[base + l].state != State::done) {
      in[l] = threads[base + l].value;
      here |= 1u << l;
    }
  const Thread& first = threads[base + unsigned(__builtin_ctz(here))];
  uint64_t all = first.value;
  unsigned ballot = 0;
  bool begun = false;
  for (unsigned l = 0; l < 32; l++) {
    if (!(here >> l & 1)) continue;
    if (in[l]) ballot |= 1u << l;
    if (!begun) {
      begun = true;
      continue;
    }
    switch (first.op) {
      case emu_add: all += in[l]; break;
      case emu_min: all = first.source ? uint64_t(std::min(as_signed(all), as_signed(in[l]))) : std::min(all, in[l]); break;
      case emu_max: all = first.source ? uint64_t(std::max(as_signed(all), as_signed(in[l]))) : std::max(all, in[l]); break;
      case emu_and: all &= in[l]; break;
      case emu_or: all |= in[l]; break;
      case emu_xor: all ^= in[l]; break;
      default: break;
    }
  }
  for (unsigned l = 0; l < 32; l++) {
    if (!(here >> l & 1)) continue;
    Thread& t = threads[base + l];
    switch (t.op) {
      // Reading a lane that is not there is undefined in CUDA: poison.
      case emu_shfl: t.value = t.source < 32 && here >> t.source & 1 ? in[t.source] : 0xababababababababull; break;
      case emu_ballot: t.value = ballot; break;
      case emu_sync: break;
      case emu_match: {
        unsigned equal = 0;
        for (unsigned k = 0; k < 32; k++)
          if (here >> k & 1 && in[k] == in[l]) equal |= 1u << k;
        t.value = equal;
        break;
      }
      default: t.value = all;
    }
    wake(base + l);
  }
}

// Completes the operation of lane `i` if everybody in its mask has come.
bool try_warp(unsigned i) {
  const Thread& t = threads[i];
  const unsigned base = i & ~31u;
  for (unsigned l = 0; l < 32; l++) {
    if (!(t.mask >> l & 1) || base + l >= count) continue;
    const Thread& o = threads[base + l];
    if (o.state == State::done) continue;
    if (o.state != State::warp || o.mask != t.mask || o.op != t.op) return false;
  }
  finish_warp(base, t.mask);
  return true;
}

void thread_main() {
  current->entry(current->arguments);
  Thread& t = self();
  t.state = State::done;
  live--;
  // Somebody may have waited for this thread to come or to go.
  const unsigned base = t.linear & ~31u;
  for (unsigned i = base; i < std::min(base + 32, count); i++)
    if (threads[i].state == State::warp && threads[i].mask >> t.lane & 1) {
      try_warp(i);
      break;
    }
  if (live && at_barrier == live) finish_barrier();
  suspend(t.fiber, true);
}

void describe_deadlock() {
  unsigned in_warp = 0;
  const Thread *barrier = nullptr, *warp = nullptr;
  for (unsigned i = 0; i < count; i++) {
    const Thread& t = threads[i];
    if (t.state == State::barrier && !barrier) barrier = &t;
    if (t.state == State::warp) {
      in_warp++;
      if (!warp) warp = &t;
    }
  }
  char text[512];
  std::string all = "deadlock: " + where(barrier ? *barrier : *warp);
  if (barrier) {
    std::snprintf(text, sizeof text, " waits at the block barrier %s with %u of %u live threads", barrier->site, at_barrier, live);
    all += text;
  }
  if (warp) {
    std::snprintf(text, sizeof text, "%s waits at the warp operation %s with mask %08x (%u threads wait at such)",
                  barrier ? ("; " + where(*warp)).c_str() : "", warp->site, warp->mask, in_warp);
    all += text;
  }
  fail(all);
}

void run_block() {
  live = count;
  at_barrier = agreed = 0;
  next.clear();
  for (unsigned i = 0; i < count; i++) {
    Thread& t = threads[i];
    t.linear = i;
    t.lane = i % 32;
    t.warp = i / 32;
    const dim3& d = emu_block_dim;
    t.index.x = i % d.x;
    t.index.y = i / d.x % d.y;
    t.index.z = i / (d.x * d.y);
    prepare(t.fiber, &thread_main);
    wake(i);
  }
  while (live && failure.empty()) {
    if (next.empty()) return describe_deadlock();
    ready.swap(next);
    next.clear();
    for (size_t i = ready.size() - 1; i > 0; i--) std::swap(ready[i], ready[random_bits() % (i + 1)]);
    for (unsigned i : ready) {
      if (!failure.empty()) return;
      emu_current = &threads[i];
      resume(threads[i].fiber);
    }
  }
}

// A kernel that spins without ever touching the runtime cannot be unwound: the report goes to stderr and the process ends.
struct Watchdog {
  std::mutex mutex;
  std::condition_variable over;
  bool done = false;
  std::thread thread;
  Watchdog() : thread([this] {
    std::unique_lock<std::mutex> lock(mutex);
    const auto limit = std::chrono::milliseconds(setting("EMU_TIME_LIMIT_MS", 300000));
    if (!over.wait_for(lock, limit, [this] { return done; })) {
      std::fprintf(stderr, "emulator: endless loop: %s runs for %lld ms\n", running().c_str(), (long long)limit.count());
      std::_Exit(86);
    }
  }) {}
  ~Watchdog() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      done = true;
    }
    over.notify_one();
    thread.join();
  }
};

}  // namespace

// Over the red zones between the arrays as well, which nothing else may touch.
__attribute__((no_sanitize("address"))) static void poison(volatile char* begin, volatile char* end) {
  for (; begin != end; begin++) *begin = char(0xcd);
}

std::string running() { return current ? where(self()) : ""; }

void seed(uint64_t s) { random_state = s * 0x9e3779b97f4a7c15ull | 1; }

std::string run(const Launch& launch) {
  current = &launch;
  failure.clear();
  steps = 0;
  step_limit = uint64_t(setting("EMU_STEP_LIMIT", 400000000));
  preempt_mask = unsigned(setting("EMU_PREEMPT", 63));
  emu_grid_dim = launch.grid;
  emu_block_dim = launch.block;
  count = launch.block.x * launch.block.y * launch.block.z;
  if (threads.size() < count) threads.resize(count);
  emu_current = &threads[0];
  Watchdog watchdog;
  for (unsigned z = 0; z < launch.grid.z && failure.empty(); z++)
    for (unsigned y = 0; y < launch.grid.y && failure.empty(); y++)
      for (unsigned x = 0; x < launch.grid.x && failure.empty(); x++) {
        emu_block.x = x;
        emu_block.y = y;
        emu_block.z = z;
        // Of its own for each block, so that the sanitizer sees its end.
        emu_dynamic_shared = std::malloc(std::max(launch.dynamic_shared, 1u));
        std::memset(emu_dynamic_shared, 0xcd, launch.dynamic_shared);
        poison(launch.shared_begin, launch.shared_end);
        run_block();
        std::free(emu_dynamic_shared);
      }
  current = nullptr;
  return failure;
}

}  // namespace emu

using namespace emu;
extern "C" {

int emu_barrier(int predicate, int* live_out, const char* site) {
  Thread& t = self();
  count_step(site);
  for (unsigned i = 0; i < count && at_barrier; i++)
    if (threads[i].state == State::barrier) {
      if (std::strcmp(threads[i].site, site))
        fail("divergent barrier: " + where(t) + " is at " + site + ", " + where(threads[i]) + " at " + threads[i].site);
      break;
    }
  if (!failure.empty()) wait();
  t.state = State::barrier;
  t.site = site;
  at_barrier++;
  agreed += predicate != 0;
  if (at_barrier == live) finish_barrier();
  wait();
  if (live_out) *live_out = int(live_last);
  return int(agreed_last);
}

uint64_t emu_warp(unsigned mask, emu_warp_op op, uint64_t value, unsigned source, const char* site) {
  Thread& t = self();
  count_step(site);
  if (!(mask >> t.lane & 1)) {
    fail("warp operation " + std::string(site) + ": " + where(t) + " is not in the mask it gives");
    wait();
  }
  t.state = State::warp;
  t.site = site;
  t.mask = mask;
  t.op = op;
  t.value = value;
  t.source = source;
  try_warp(t.linear);
  wait();
  return t.value;
}

void emu_step(const char* site) {
  count_step(site);
  if (preempt_mask && (random_bits() & preempt_mask) == 0) {
    next.push_back(self().linear);
    wait();
  }
}
}
