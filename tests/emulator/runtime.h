// What the parts of the emulated driver share.
#pragma once
#define EMU_RUNTIME
#include "cuda_host.h"
#include <cstring>
#include <string>

namespace emu {

// fiber.cpp: contexts of execution with stacks of their own, reused from block to block.
struct Fiber {
  void* stack_pointer = nullptr;
  char* stack = nullptr;
  void* fake_stack = nullptr;
  bool clean = true;  // nobody left the stack but by returning
};
void prepare(Fiber& fiber, void (*entry)());
void enter(Fiber& fiber);  // until some fiber switches to none
void exchange_with(Fiber& from, Fiber* to, bool finished);
// Whether the sanitizer has to be told of switches, which takes longer than they do.
extern bool told;
extern "C" __attribute__((visibility("hidden"))) void emu_switch(void** save, void* load);
inline void switch_to(Fiber& from, Fiber* to, bool finished) {
  if (to && !told) emu_switch(&from.stack_pointer, to->stack_pointer);
  else exchange_with(from, to, finished);
}

// block.cpp: runs one launch; empty on success, else the report.
struct Launch {
  const char* name;
  void (*entry)(void**);
  void** arguments;
  dim3 grid, block;
  unsigned dynamic_shared;
  char *shared_begin, *shared_end;  // the module's static shared memory
};
std::string run(const Launch& launch);
uint64_t steps_taken();  // by the last launch
// profile.cpp: the same, and counted where a profile is wanted.
std::string profiled(const Launch& launch);
void seed(uint64_t s);
std::string running();  // the kernel, block and thread of a launch under way; empty if none is

// memory.cpp: device memory. Status codes are CUDA's.
enum Status { success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3, no_device = 100, invalid_device = 101,
  invalid_image = 200, invalid_handle = 400, not_found = 500, illegal_address = 700, launch_failed = 719 };
int allocate(uint64_t* pointer, size_t bytes);
int release(uint64_t pointer, size_t* bytes = nullptr);
bool inside(uint64_t pointer, size_t bytes);
size_t memory_total();
size_t memory_used();
// What the pool keeps of what was freed: it counts as taken until the pool is trimmed, which leaves what was freed since the host last
// waited, as CUDA says it may.
size_t memory_idle();
void keep_idle(size_t bytes);
void observe();
void trim();

// driver.cpp: one report at a time, kept until the process ends, as an error of a context is.
void report(const std::string& text);
long setting(const char* name, long otherwise);

}  // namespace emu
