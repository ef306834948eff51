// The slice of the CUDA driver API that the library calls. Streams run at once; an error of a launch is kept, as a
// context keeps it, and every later call answers with it.
#include "runtime.h"
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#if defined(EMU_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

namespace emu {
namespace {
std::recursive_mutex mutex;
std::string last_report;
bool broken;
long fail_launch = -1, lose_launch = -1;
bool launches_armed, objects_armed;
long fail_object = -1, fail_object_count = 1;
size_t copied_out, copied_in;
typedef std::chrono::steady_clock::time_point Time;
struct Function;
struct Module {
  void* handle;
  // The static shared memory of its kernels.
  char *shared_begin = nullptr, *shared_end = nullptr;
  std::map<std::string, Function*> functions;
};
struct Function {
  std::string name;
  void (*entry)(void**);
  Module* module;
  unsigned dynamic_limit;
};
// The most shared memory of a block, as the programming guide's table of compute capabilities has it.
int shared_limit() {
  switch (setting("EMU_ARCHITECTURE", 90)) {
    case 70: case 72: return 96 << 10;
    case 75: return 64 << 10;
    case 80: case 87: return 163 << 10;
    case 86: case 89: case 120: case 121: return 99 << 10;
    default: return 227 << 10;
  }
}
// Of all kernels of the module, with what the sanitizer puts between variables: no less than one kernel has.
int static_shared(const Module& module) { return int(module.shared_end - module.shared_begin); }
int usable() { return broken ? launch_failed : success; }

#if defined(EMU_ADDRESS_SANITIZER)
// The sanitizers name the line; which thread of which kernel was there is known here.
void last_words() {
  const std::string text = running();
  if (!text.empty()) std::fprintf(stderr, "emulator: sanitizer report above: %s\n", text.c_str());
}
void arm_last_words() {
  __sanitizer_set_death_callback(last_words);
  // The library for undefined behaviour has a callback of its own.
  void* other = dlopen("libubsan.so.1", RTLD_NOW | RTLD_NOLOAD);
  typedef void Set(void (*)());
  if (void* set = other ? dlsym(other, "__sanitizer_set_death_callback") : nullptr) reinterpret_cast<Set*>(set)(last_words);
}
#else
void arm_last_words() {}
#endif
}  // namespace

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtol(text, nullptr, 10) : otherwise;
}
void report(const std::string& text) {
  last_report = text;
  if (setting("EMU_QUIET", 0) == 0) std::fprintf(stderr, "emulator: %s\n", text.c_str());
}
}  // namespace emu

using namespace emu;
#define LOCK std::lock_guard<std::recursive_mutex> lock(emu::mutex)
typedef int R;
typedef uint64_t P;
extern "C" {
// For tests.
const char* emu_last_report() { return last_report.c_str(); }
void emu_fail_launch(long n) { LOCK; launches_armed = true; fail_launch = n; }
void emu_fail_objects(long n, long count) { LOCK; objects_armed = true; fail_object = n; fail_object_count = count; }
void emu_lose_launch(long n) { LOCK; lose_launch = n; }
// Bytes copied to the host and to the device so far.
void emu_copied(size_t* to_host, size_t* to_device) { LOCK; *to_host = copied_out; *to_device = copied_in; }
void emu_seed(uint64_t s) { LOCK; seed(s); }
// Forgets the error of a launch, which a real context cannot.
void emu_recover() { LOCK; broken = false; last_report.clear(); }

R cuInit(unsigned) {
  if (const long s = setting("EMU_SEED", 0)) seed(uint64_t(s));
  return setting("EMU_DEVICES", 1) > 0 ? success : no_device;
}
R cuDriverGetVersion(int* v) { *v = int(setting("EMU_DRIVER_VERSION", 13000)); return success; }
R cuGetErrorString(R e, const char** text) {
  switch (e) {
    case success: *text = "no error"; break;
    case invalid_value: *text = "invalid argument"; break;
    case out_of_memory: *text = "out of memory"; break;
    case no_device: *text = "no CUDA-capable device is detected"; break;
    case invalid_device: *text = "invalid device ordinal"; break;
    case invalid_image: *text = "device kernel image is invalid"; break;
    case invalid_handle: *text = "invalid resource handle"; break;
    case not_found: *text = "named symbol not found"; break;
    case illegal_address: *text = "an illegal memory access was encountered"; break;
    case launch_failed: *text = last_report.empty() ? "unspecified launch failure" : last_report.c_str(); break;
    default: *text = nullptr; return invalid_value;
  }
  return success;
}
R cuGetErrorName(R e, const char** text) { return cuGetErrorString(e, text); }
R cuDeviceGetCount(int* n) { *n = int(setting("EMU_DEVICES", 1)); return success; }
R cuDeviceGet(int* d, int i) { *d = i; return i >= 0 && i < setting("EMU_DEVICES", 1) ? success : invalid_device; }
R cuDeviceGetName(char* s, int n, int) { std::snprintf(s, size_t(n), "emulated CUDA device"); return success; }
R cuDeviceTotalMem_v2(size_t* n, int) { *n = memory_total(); return success; }
R cuDeviceGetAttribute(int* v, int attribute, int) {
  switch (attribute) {
    case 1: *v = 1024; break;               // threads of a block
    case 8: *v = 48 << 10; break;           // shared memory of a block
    case 10: *v = 32; break;                // warp
    case 12: *v = 65536; break;             // registers of a block
    case 16: *v = 4; break;                 // multiprocessors
    case 38: *v = 50 << 20; break;          // L2
    case 39: *v = 2048; break;              // threads of a multiprocessor
    case 75: *v = int(setting("EMU_ARCHITECTURE", 90)) / 10; break;
    case 76: *v = int(setting("EMU_ARCHITECTURE", 90)) % 10; break;
    case 81: *v = shared_limit() + (1 << 10); break;  // shared memory of a multiprocessor
    case 97: *v = shared_limit(); break;    // the most shared memory of a block
    case 115: *v = 1; break;                // memory pools
    default: *v = 0;
  }
  return success;
}
R cuDeviceGetDefaultMemPool(void** pool, int) { *pool = reinterpret_cast<void*>(1); return success; }
R cuMemPoolSetAttribute(void*, int, void*) { return success; }
R cuMemPoolGetAttribute(void*, int attribute, void* value) {
  switch (attribute) {
    case 5: *static_cast<uint64_t*>(value) = memory_used() + memory_idle(); break;  // reserved
    case 7: *static_cast<uint64_t*>(value) = memory_used(); break;                  // in use
    default: return invalid_value;
  }
  return success;
}
R cuMemPoolTrimTo(void*, size_t) { trim(); return success; }
R cuDevicePrimaryCtxRelease_v2(int) { return success; }
R cuCtxSetCurrent(void*) { return success; }
R cuCtxSynchronize() { LOCK; observe(); return usable(); }
R cuMemGetInfo_v2(size_t* free, size_t* total) { *total = memory_total(); *free = *total - memory_used() - memory_idle(); return success; }

R cuMemAlloc_v2(P* p, size_t n) { LOCK; return broken ? launch_failed : allocate(p, n); }
R cuMemFree_v2(P p) { LOCK; return release(p); }
R cuMemAllocAsync(P* p, size_t n, void*) { return cuMemAlloc_v2(p, n); }
R cuMemFreeAsync(P p, void*) {
  LOCK;
  size_t bytes = 0;
  const R status = release(p, &bytes);
  keep_idle(bytes);
  return status;
}
// Whether this is one of the driver's objects that were asked to fail: their numbers are counted down.
static bool object_fails(const char* what) {
  LOCK;
  if (!objects_armed) {
    objects_armed = true;
    fail_object = setting("EMU_FAIL_OBJECT", -1);
  }
  if (fail_object < 0) return false;
  if (fail_object > 0) {
    fail_object--;
    return false;
  }
  if (--fail_object_count <= 0) fail_object = -1;
  report(std::string(what) + " was asked to fail");
  return true;
}
R cuMemHostAlloc(void** p, size_t n, unsigned) {
  if (object_fails("host memory")) return out_of_memory;
  *p = std::malloc(n);
  return *p ? success : out_of_memory;
}
R cuMemFreeHost(void* p) { std::free(p); return success; }
static R outside(const char* call, size_t n) {
  report(std::string(call) + " of " + std::to_string(n) + " bytes leaves its allocation");
  return invalid_value;
}
R cuMemcpyHtoDAsync_v2(P to, const void* from, size_t n, void*) {
  LOCK;
  if (broken) return launch_failed;
  if (!inside(to, n)) return outside("copy to the device", n);
  std::memcpy(reinterpret_cast<void*>(to), from, n);
  copied_in += n;
  return success;
}
R cuMemcpyDtoHAsync_v2(void* to, P from, size_t n, void*) {
  LOCK;
  if (broken) return launch_failed;
  if (!inside(from, n)) return outside("copy from the device", n);
  std::memcpy(to, reinterpret_cast<void*>(from), n);
  copied_out += n;
  return success;
}
R cuMemcpyDtoDAsync_v2(P to, P from, size_t n, void*) {
  LOCK;
  if (broken) return launch_failed;
  if (!inside(to, n) || !inside(from, n)) return outside("copy on the device", n);
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), n);
  return success;
}
R cuMemsetD8Async(P p, unsigned char v, size_t n, void*) {
  LOCK;
  if (broken) return launch_failed;
  if (!inside(p, n)) return outside("fill", n);
  std::memset(reinterpret_cast<void*>(p), v, n);
  return success;
}
R cuDevicePrimaryCtxRetain(void** c, int d) {
  if (object_fails("a context")) return out_of_memory;
  *c = reinterpret_cast<void*>(size_t(d) + 1);
  return success;
}
R cuStreamCreate(void** s, unsigned) {
  if (object_fails("a stream")) return out_of_memory;
  static size_t n = 16;
  *s = reinterpret_cast<void*>(n++);
  return success;
}
R cuStreamDestroy_v2(void*) { return success; }
R cuStreamWaitEvent(void*, void*, unsigned) { return usable(); }
R cuStreamSynchronize(void*) { LOCK; observe(); return usable(); }
R cuEventCreate(void** e, unsigned) {
  if (object_fails("an event")) return out_of_memory;
  *e = new Time;
  return success;
}
R cuEventDestroy_v2(void* e) { delete static_cast<Time*>(e); return success; }
R cuEventRecord(void* e, void*) { *static_cast<Time*>(e) = std::chrono::steady_clock::now(); return success; }
R cuEventSynchronize(void*) { LOCK; return usable(); }
R cuEventElapsedTime_v2(float* ms, void* from, void* to) {
  *ms = std::chrono::duration<float, std::milli>(*static_cast<Time*>(to) - *static_cast<Time*>(from)).count();
  return success;
}

R cuModuleLoadData(void** module, const void* image) {
  LOCK;
  if (broken) return launch_failed;
  if (object_fails("a module")) return out_of_memory;
  const Elf64_Ehdr* h = static_cast<const Elf64_Ehdr*>(image);
  if (std::memcmp(h->e_ident, ELFMAG, SELFMAG)) return invalid_image;
  const size_t size = h->e_shoff + size_t(h->e_shnum) * h->e_shentsize;
  const int file = memfd_create("kernel", 0);
  if (file < 0 || write(file, image, size) != ssize_t(size)) return out_of_memory;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    report(std::string("module does not load: ") + dlerror());
    return invalid_image;
  }
  // With the first kernels their sanitizers are here.
  arm_last_words();
  // The descriptor stays open: glibc knows loaded objects by device and inode, the debugger reads from it.
  Module* loaded = new Module{handle};
  typedef void Range(char**, char**);
  if (void* range = dlsym(handle, "emu_shared_begin"))
    reinterpret_cast<Range*>(range)(&loaded->shared_begin, &loaded->shared_end);
  *module = loaded;
  return success;
}
// Kernels may still be looked at by the sanitizer: nothing is unmapped.
R cuModuleUnload(void*) { return success; }
R cuModuleGetFunction(void** f, void* m, const char* name) {
  LOCK;
  Module* module = static_cast<Module*>(m);
  Function*& function = module->functions[name];
  if (!function) {
    void* entry = dlsym(module->handle, (std::string("emu_entry_") + name).c_str());
    if (!entry) return not_found;
    // What a launch may have without asking for more.
    const unsigned limit = (48 << 10) - std::min(static_shared(*module), 48 << 10);
    function = new Function{name, reinterpret_cast<void (*)(void**)>(entry), module, limit};
  }
  *f = function;
  return success;
}
R cuFuncGetAttribute(int* v, int attribute, void* f) {
  switch (attribute) {
    case 0: *v = 1024; break;                                           // threads of a block
    case 1: *v = static_shared(*static_cast<Function*>(f)->module); break;
    case 8: *v = int(static_cast<Function*>(f)->dynamic_limit); break;  // dynamic shared memory
    default: *v = 0;
  }
  return success;
}
R cuFuncSetAttribute(void* f, int attribute, int value) {
  if (attribute == 8) {
    Function& function = *static_cast<Function*>(f);
    if (value < 0 || value > shared_limit() - static_shared(*function.module)) return invalid_value;
    function.dynamic_limit = unsigned(value);
  }
  return success;
}
R cuOccupancyMaxActiveBlocksPerMultiprocessor(int* n, void*, int block, size_t shared) {
  *n = int(std::min<size_t>(2048 / size_t(std::max(block, 1)), shared ? (228u << 10) / shared : 32));
  return success;
}
R cuLaunchKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void*,
                 void** arguments, void**) {
  LOCK;
  if (broken) return launch_failed;
  Function& function = *static_cast<Function*>(f);
  if (!gx || !gy || !gz || !bx || !by || !bz || size_t(bx) * by * bz > 1024 || shared > function.dynamic_limit) {
    report("kernel " + function.name + ": bad launch shape, or more dynamic shared memory than allowed");
    return invalid_value;
  }
  if (!launches_armed) {
    launches_armed = true;
    fail_launch = setting("EMU_FAIL_LAUNCH", -1);
  }
  if (fail_launch >= 0 && fail_launch-- == 0) return out_of_memory;
  if (lose_launch >= 0 && lose_launch-- == 0) return success;
  const Module& module = *function.module;
  Launch launch{function.name.c_str(), function.entry, arguments, {gx, gy, gz},
                {bx, by, bz}, shared, module.shared_begin, module.shared_end};
  const std::string text = profiled(launch);
  if (!text.empty()) {
    report(text);
    broken = true;
  }
  return success;  // as on a device, what a kernel does wrong shows at the next call
}
}
