// Runs the blocks of a launch one after the other: threads as fibers in random order, warp operations, barriers, and
// reports of what can never go on.
#include "runtime.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
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

// Lanes of a warp that wait at a warp operation, and that are not done.
struct Warp { unsigned waiting, live; };

std::vector<Thread> threads;
std::vector<Warp> warps;
// This round's threads, of which those from `at` have not run yet, and the next one's.
std::vector<unsigned> ready, next;
size_t at;
unsigned count, live, at_barrier, agreed, agreed_last, live_last;
const Thread* first_at_barrier;
const Launch* current;
std::string failure;
uint64_t random_state = 0x9e3779b97f4a7c15ull, steps, step_limit;
unsigned preempt_mask;
bool shuffled = false;

uint64_t random_bits() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}
size_t random_below(size_t n) { return size_t((random_bits() >> 32) * n >> 32); }

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

// Those that wait for the next round come into this one, in any order; false if there are none.
[[gnu::noinline]] bool next_round() {
  if (next.empty()) return false;
  ready.swap(next);
  next.clear();
  at = 0;
  for (size_t i = ready.size() - 1; i > 0; i--) std::swap(ready[i], ready[random_below(i + 1)]);
  return true;
}

// The thread whose turn it is; none if the launch has failed or nobody can go on.
inline Thread* following() {
  if (!failure.empty() || (at == ready.size() && !next_round())) return nullptr;
  Thread* const t = &threads[ready[at++]];
  // The stack of the one after it comes meanwhile.
  if (at < ready.size()) {
    const char* const top = static_cast<const char*>(threads[ready[at]].fiber.stack_pointer);
    for (int line = 0; line < 4; line++) __builtin_prefetch(top + 64 * line);
  }
  return t;
}

// Gives the processor to the thread whose turn it is, or back to run_block.
inline void pass(bool finished) {
  Thread& t = self();
  Thread* to = following();
  if (to == &t) return;
  if (to) emu_current = to;
  switch_to(t.fiber, to ? &to->fiber : nullptr, finished);
}
inline void wait() { pass(false); }

[[gnu::noinline]] void too_many_steps(const char* site) {
  fail("endless loop: " + where(self()) + " is at " + site + " after " + std::to_string(steps - 1) + " steps");
  wait();
}
// Every operation of the runtime is a step: a loop that calls it cannot go on for ever.
inline void count_step(const char* site) {
  if (++steps > step_limit) too_many_steps(site);
}

template <class F> void each_lane(unsigned lanes, F f) {
  for (; lanes; lanes &= lanes - 1) f(unsigned(__builtin_ctz(lanes)));
}

void wake(unsigned i) {
  threads[i].state = State::ready;
  next.push_back(i);
}

// Lanes of a warp that have come together: mostly they go on at once, from one of them on upwards or downwards, as their stacks are
// near; sometimes when it is their turn.
void resume(unsigned base, unsigned here) {
  const unsigned lanes = unsigned(__builtin_popcount(here));
  const uint64_t bits = random_bits() >> 32;
  if (at < lanes || (bits & 3) == 0) return each_lane(here, [&](unsigned l) { wake(base + l); });
  const unsigned turn = bits >> 3 & 31, turned = here >> turn | here << (-turn & 31);
  size_t place = bits & 4 ? at : at - lanes;
  at -= lanes;
  each_lane(turned, [&](unsigned l) {
    const unsigned i = base + ((l + turn) & 31);
    threads[i].state = State::ready;
    ready[bits & 4 ? --place : place++] = i;
  });
}

void finish_barrier() {
  agreed_last = agreed;
  live_last = live;
  agreed = at_barrier = 0;
  first_at_barrier = nullptr;
  for (unsigned i = 0; i < count; i++)
    if (threads[i].state == State::barrier) wake(i);
}

int64_t as_signed(uint64_t v) { return int64_t(v); }

// What the operation gives to all its lanes alike.
uint64_t warp_result(const Thread* lanes, unsigned here) {
  const Thread& first = lanes[__builtin_ctz(here)];
  uint64_t all = first.value;
  const auto fold = [&](auto f) { each_lane(here & (here - 1), [&](unsigned l) { all = f(all, lanes[l].value); }); };
  const auto least = [](auto a, auto b) { return uint64_t(b < a ? b : a); };
  const auto most = [](auto a, auto b) { return uint64_t(a < b ? b : a); };
  // Sign decides which order is meant.
  const bool is_signed = first.source;
  switch (first.op) {
    case emu_ballot:
      all = 0;
      each_lane(here, [&](unsigned l) { all |= uint64_t(lanes[l].value != 0) << l; });
      break;
    case emu_add: fold([](uint64_t a, uint64_t b) { return a + b; }); break;
    case emu_and: fold([](uint64_t a, uint64_t b) { return a & b; }); break;
    case emu_or: fold([](uint64_t a, uint64_t b) { return a | b; }); break;
    case emu_xor: fold([](uint64_t a, uint64_t b) { return a ^ b; }); break;
    case emu_min: fold([&](uint64_t a, uint64_t b) { return is_signed ? least(as_signed(a), as_signed(b)) : least(a, b); }); break;
    case emu_max: fold([&](uint64_t a, uint64_t b) { return is_signed ? most(as_signed(a), as_signed(b)) : most(a, b); }); break;
    default: break;
  }
  return all;
}

// The lanes `here` of the warp from `base`, all that the operation is for: gives each one its result.
void finish_warp(unsigned base, unsigned here) {
  Thread* lanes = &threads[base];
  const emu_warp_op op = lanes[__builtin_ctz(here)].op;
  if (op == emu_shfl || op == emu_match) {
    uint64_t in[32];
    each_lane(here, [&](unsigned l) { in[l] = lanes[l].value; });
    each_lane(here, [&](unsigned l) {
      Thread& t = lanes[l];
      if (op == emu_shfl) {
        // Reading a lane that is not there is undefined in CUDA: poison.
        t.value = t.source < 32 && here >> t.source & 1 ? in[t.source] : 0xababababababababull;
      } else {
        t.value = 0;
        each_lane(here, [&](unsigned k) { t.value |= uint64_t(in[k] == in[l]) << k; });
      }
    });
  } else if (op != emu_sync) {
    const uint64_t all = warp_result(lanes, here);
    each_lane(here, [&](unsigned l) { lanes[l].value = all; });
  }
  warps[base / 32].waiting &= ~here;
  resume(base, here);
}

// Completes the operation of lane `i` if the lanes `here`, all in its mask that live, agree.
void complete_warp(const Thread& t, unsigned here) {
  const unsigned base = t.linear & ~31u;
  bool same = true;
  // What exchanges values does so at one place; lanes may come to meet from several.
  each_lane(here, [&](unsigned l) {
    const Thread& other = threads[base + l];
    same &= other.mask == t.mask && other.op == t.op && (t.op == emu_sync || other.site == t.site || !std::strcmp(other.site, t.site));
  });
  if (same) finish_warp(base, here);
}
// The same if everybody in its mask has come.
inline void try_warp(const Thread& t, const Warp& warp) {
  const unsigned here = t.mask & warp.live;
  if ((here & ~warp.waiting) == 0) complete_warp(t, here);
}

void thread_main() {
  current->entry(current->arguments);
  Thread& t = self();
  t.state = State::done;
  t.fiber.clean = true;
  live--;
  // Somebody may have waited for this thread to come or to go.
  Warp& warp = warps[t.linear / 32];
  warp.live &= ~(1u << t.lane);
  const unsigned waiting = warp.waiting;
  for (unsigned l = 0; waiting && l < 32; l++)
    if (waiting >> l & 1 && threads[(t.linear & ~31u) + l].mask >> t.lane & 1) {
      try_warp(threads[(t.linear & ~31u) + l], warp);
      break;
    }
  if (live && at_barrier == live) finish_barrier();
  pass(true);
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
  first_at_barrier = nullptr;
  ready.clear();
  next.clear();
  at = 0;
  for (unsigned w = 0; w < (count + 31) / 32; w++) warps[w] = {0, count - w * 32 < 32 ? (1u << (count - w * 32)) - 1 : ~0u};
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
  Thread& first = *following();
  emu_current = &first;
  enter(first.fiber);
  if (live && failure.empty()) describe_deadlock();
}

// A kernel that spins without ever touching the runtime cannot be unwound: the report goes to stderr and the process ends.
// One thread looks after all launches, now and then: to begin one for each, or to wake it, takes longer than most of them.
struct Watch {
  explicit Watch(long milliseconds) {
    static const bool begun = (std::thread(look).detach(), true);
    (void)begun;
    limit = milliseconds;
    until = now() + milliseconds;
  }
  ~Watch() { until = never; }

 private:
  static constexpr int64_t never = INT64_MAX;
  static inline std::atomic<int64_t> until{never};
  static inline std::atomic<long> limit;
  static int64_t now() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  static void look() {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
      if (now() < until) continue;
      std::fprintf(stderr, "emulator: endless loop: %s runs for %ld ms\n", running().c_str(), limit.load());
      std::_Exit(86);
    }
  }
};

}  // namespace

// Over the red zones between the arrays as well, which nothing else may touch, memset neither.
static void poison(char* begin, char* end) {
  typedef volatile uint64_t Word;
  for (; begin != end && reinterpret_cast<uintptr_t>(begin) % sizeof(Word); begin++) *static_cast<volatile char*>(begin) = char(0xcd);
  for (; size_t(end - begin) >= sizeof(Word); begin += sizeof(Word)) *reinterpret_cast<Word*>(begin) = 0xcdcdcdcdcdcdcdcdull;
  for (; begin != end; begin++) *static_cast<volatile char*>(begin) = char(0xcd);
}

std::string running() { return current ? where(self()) : ""; }

uint64_t steps_taken() { return steps; }

void seed(uint64_t s) {
  random_state = s * 0x9e3779b97f4a7c15ull | 1;
  shuffled = true;
}

// Which of n blocks comes at place i: they begin in order unless a seed was asked for, as nothing says they do.
struct Order {
  uint64_t n, first = 0, step = 1;
  explicit Order(uint64_t n) : n(n) {
    if (!shuffled || n < 2) return;
    first = (random_state >> 20) % n;
    step = (random_state >> 33) % n + 1;
    while (std::gcd(step, n) != 1) step++;
  }
  unsigned at(uint64_t i) const { return unsigned((first + i * step) % n); }
};

std::string run(const Launch& launch) {
  current = &launch;
  failure.clear();
  steps = 0;
  step_limit = uint64_t(setting("EMU_STEP_LIMIT", 400000000));
  preempt_mask = unsigned(setting("EMU_PREEMPT", 63));
  emu_grid_dim = launch.grid;
  emu_block_dim = launch.block;
  count = launch.block.x * launch.block.y * launch.block.z;
  if (threads.size() < count) {
    threads.resize(count);
    warps.resize((count + 31) / 32);
  }
  emu_current = &threads[0];
  const Watch watch(setting("EMU_TIME_LIMIT_MS", 300000));
  const Order order(launch.grid.x);
  for (unsigned z = 0; z < launch.grid.z && failure.empty(); z++)
    for (unsigned y = 0; y < launch.grid.y && failure.empty(); y++)
      for (unsigned x = 0; x < launch.grid.x && failure.empty(); x++) {
        emu_block.x = order.at(x);
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
  if (!first_at_barrier) first_at_barrier = &t;
  // Sites are texts of the module: mostly the same, always equal.
  else if (first_at_barrier->site != site && std::strcmp(first_at_barrier->site, site))
    fail("divergent barrier: " + where(t) + " is at " + site + ", " + where(*first_at_barrier) + " at " + first_at_barrier->site);
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

[[gnu::noinline]] static void not_in_mask(const Thread& t, const char* site) {
  fail("warp operation " + std::string(site) + ": " + where(t) + " is not in the mask it gives");
  wait();
}

uint64_t emu_warp(unsigned mask, emu_warp_op op, uint64_t value, unsigned source, const char* site) {
  Thread& t = self();
  count_step(site);
  if (!(mask >> t.lane & 1)) not_in_mask(t, site);
  t.state = State::warp;
  t.site = site;
  t.mask = mask;
  t.op = op;
  t.value = value;
  t.source = source;
  Warp& warp = warps[t.linear / 32];
  warp.waiting |= 1u << t.lane;
  try_warp(t, warp);
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
