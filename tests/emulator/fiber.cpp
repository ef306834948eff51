// Contexts of execution: a hand-written switch where the processor is known (no system call), ucontext elsewhere.
#include "runtime.h"
#include <sys/mman.h>
#include <cstdlib>
#if defined(EMU_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emu {
namespace {
constexpr size_t kStack = 320 << 10, kGuard = 64 << 10;  // a multiple of every page size
// Stacks begin at so many different distances from their ends: with one, their tops would all fall into the same sets of the caches.
constexpr size_t kColours = 61, kColour = 17 * 64;
// A guard and a stack for each thread of the largest block, side by side: to the sanitizer they are one stack, so that it need not
// be told of the switches between them.
constexpr size_t kStacks = 1024, kArena = kStacks * (kGuard + kStack);
char* arena;
size_t taken;
void* scheduler_pointer;
[[maybe_unused]] void* scheduler_fake;
[[maybe_unused]] const void* scheduler_stack;
[[maybe_unused]] size_t scheduler_size;
[[maybe_unused]] bool entered;
void (*entry_point)();
}  // namespace
// Of records of its own that belong to a stack.
bool told;
}  // namespace emu

#if defined(__x86_64__)
// Saves what the ABI has a callee save, exchanges stacks, restores.
asm(R"(
.text
.globl emu_switch
.hidden emu_switch
.type emu_switch, @function
emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emu_switch, .-emu_switch
)");
#else
#include <ucontext.h>
#include <map>
// The slow way: one ucontext per saved pointer slot.
static std::map<void**, ucontext_t*> emu_contexts;
extern "C" void emu_switch(void** save, void* load) {
  ucontext_t*& own = emu_contexts[save];
  if (!own) own = new ucontext_t;
  *save = own;
  swapcontext(own, static_cast<ucontext_t*>(load));
}
#endif

namespace emu {
namespace {
void start() {
#if defined(EMU_ADDRESS_SANITIZER)
  // The first fiber of a block learns from where it was entered.
  if (!entered) __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_size);
  else if (told) __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
  entered = true;
#endif
  entry_point();
  std::abort();  // a finished fiber is never resumed
}
}  // namespace

void prepare(Fiber& fiber, void (*entry)()) {
  if (!fiber.stack) {
    if (!arena) {
      void* p = mmap(nullptr, kArena, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) std::abort();
      arena = static_cast<char*>(p);
    }
    // Nobody may touch what is below: a stack that grows too far is a fault, not a neighbour overwritten.
    char* p = arena + taken * (kGuard + kStack);
    if (taken++ == kStacks || mprotect(p, kGuard, PROT_NONE)) std::abort();
    fiber.stack = p + kGuard;
  }
  entry_point = entry;
#if defined(EMU_ADDRESS_SANITIZER)
  // What a thread that did not end left poisoned.
  if (!fiber.clean) __asan_unpoison_memory_region(fiber.stack, kStack);
#endif
#if defined(__x86_64__)
  const size_t colour = size_t(fiber.stack - arena) / (kGuard + kStack) % kColours * kColour;
  void** top = reinterpret_cast<void**>(fiber.stack + kStack - colour) - 1;
  *--top = reinterpret_cast<void*>(&start);  // where `ret` goes; the stack is then as after a call: 8 past a multiple of 16
  for (int i = 0; i < 6; i++) *--top = nullptr;
  fiber.stack_pointer = top;
#else
  ucontext_t* context = new ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = fiber.stack;
  context->uc_stack.ss_size = kStack;
  context->uc_link = nullptr;
  makecontext(context, &start, 0);
  fiber.stack_pointer = context;
#endif
  fiber.fake_stack = nullptr;
  fiber.clean = false;
}

// The sanitizer is told of a switch: of the stack it goes to before, of its own record of the old one after.
static void exchange(void** save, void** save_fake, void* load, void* load_stack, size_t size) {
#if defined(EMU_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(save_fake, load_stack, size);
#endif
  emu_switch(save, load);
#if defined(EMU_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(save_fake ? *save_fake : nullptr, nullptr, nullptr);
#endif
  (void)save_fake, (void)load_stack, (void)size;
}

void enter(Fiber& fiber) {
  entered = false;
#if defined(EMU_ADDRESS_SANITIZER)
  told = __asan_get_current_fake_stack() != nullptr;
#endif
  exchange(&scheduler_pointer, &scheduler_fake, fiber.stack_pointer, told ? fiber.stack : arena, told ? kStack : kArena);
}

void exchange_with(Fiber& from, Fiber* to, bool finished) {
  void** fake = finished ? nullptr : &from.fake_stack;
  if (to) exchange(&from.stack_pointer, fake, to->stack_pointer, to->stack, kStack);
  else exchange(&from.stack_pointer, fake, scheduler_pointer, const_cast<void*>(scheduler_stack), scheduler_size);
}

}  // namespace emu
