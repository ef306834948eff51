// A stand-in for NVRTC: the "CUBIN" is a shared object that the host's C++ compiler made of the kernel.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {
struct Program {
  std::string source, log, binary;
};
std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
std::string environment(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? text : otherwise;
}
// What takes a tenth of GCC's time at -Og and makes no kernel faster that runs for milliseconds.
#if defined(__clang__)
const std::string kSpared;
#else
const std::string kSpared =
    "-fno-forward-propagate -fno-dce -fno-dse -fno-combine-stack-adjustments -fno-compare-elim -fno-cprop-registers "
    "-fno-shrink-wrap -fno-guess-branch-probability -fno-thread-jumps -fno-reorder-blocks ";
#endif
// As `system`, but a sanitizer's library that this process was started with is neither for the compiler nor for the shell, which
// would take longer to begin with it than to run.
int shell(const std::string& command) {
  std::vector<char*> variables;
  for (char** v = environ; *v; v++)
    if (std::strncmp(*v, "LD_PRELOAD=", 11)) variables.push_back(*v);
  variables.push_back(nullptr);
  std::string name = "sh", option = "-c", text = "exec " + command;
  char* arguments[] = {name.data(), option.data(), text.data(), nullptr};
  pid_t child;
  int status;
  if (posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, variables.data())) return -1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}
// FNV-1a: names a compiled kernel by its text and flags.
std::string hash(const std::string& text) {
  unsigned long long low = 1469598103934665603ull, high = 1099511628211ull;
  for (unsigned char c : text) {
    low = (low ^ c) * 1099511628211ull;
    high = (high ^ c) * 6364136223846793005ull + 1442695040888963407ull;
  }
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx", high, low);
  return name;
}
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
// The name of the kernel whose declaration goes on at `i`: the last word before its parameters. Line markers of the preprocessor and
// bounds, which have a parenthesis of their own, lie in between.
std::string kernel_name(const std::string& text, size_t i) {
  std::string word;
  bool in_word = false;
  for (; i < text.size(); i++) {
    const char c = text[i];
    if (c == '(' && word == "__launch_bounds__") {
      for (int depth = 0; i < text.size(); i++)
        if ((depth += (text[i] == '(') - (text[i] == ')')) == 0) break;
      word.clear();
    } else if (c == '(') {
      return word;
    } else if (c == '#') {
      i = text.find('\n', i);
      if (i == std::string::npos) break;
    } else if (is_word(c)) {
      if (!in_word) word.clear();
      word += c;
    }
    in_word = is_word(c);
  }
  return "";
}
// The kernels that `marker` stands before.
std::vector<std::string> kernels(const std::string& text, const std::string& marker) {
  std::vector<std::string> names;
  for (size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at + 1)) {
    std::string name = kernel_name(text, at + marker.size());
    if (!name.empty()) names.push_back(name);
  }
  return names;
}
// Whether the text tells its kernels before the preprocessor has seen it: none is made by a macro or stands under a condition.
bool is_plain(const std::string& text) {
  int conditions = 0;
  bool directive = false, goes_on = false;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    const size_t first = line.find_first_not_of(" \t");
    if (first == line.npos) continue;
    directive = goes_on || line[first] == '#';
    if (directive && !goes_on) {
      const std::string_view word = line.substr(std::min(line.find_first_not_of(" \t", first + 1), line.size()));
      conditions += word.starts_with("if");
      conditions -= word.starts_with("endif");
    }
    if ((directive || conditions) && line.find("__global__") != line.npos) return false;
    goes_on = directive && line.back() == '\\';
  }
  return true;
}
// Behind the kernels: an entry each, and the extent of their static shared memory.
std::string entries(const std::vector<std::string>& names) {
  // Kernels may stand in the generator's namespace.
  std::string text = "\n#line 1 \"emulator\"\nnamespace oplus {}\nusing namespace oplus;\n";
  for (const std::string& name : names)
    text += "extern \"C\" void emu_entry_" + name + "(void** a) { emu_call(&" + name + ", a); }\n";
  return text + R"(
#if !defined(__SANITIZE_ADDRESS__) || !defined(__clang__)
extern "C" char __start_emu_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_emu_shared[] __attribute__((weak, visibility("hidden")));
extern "C" void emu_shared_begin(char** begin, char** end) { *begin = __start_emu_shared; *end = __stop_emu_shared; }
#endif
)";
}
// The folder of cuda_host.h as GCC reads it fastest, compiled once for these flags; where that fails, the header's own.
std::string header(const std::string& home, const std::string& command) {
#if defined(__clang__)
  return home;
#else
  const std::string folder = home + "/header-" + hash(command), draft = folder + "." + std::to_string(getpid());
  if (access(folder.c_str(), R_OK) == 0) return folder;
  mkdir(draft.c_str(), 0777);
  std::ofstream(draft + "/cuda_host.h") << contents(home + "/cuda_host.h");
  if (shell(command + " -x c++-header " + draft + "/cuda_host.h -o " + draft + "/cuda_host.h.gch > /dev/null 2>&1") == 0)
    std::rename(draft.c_str(), folder.c_str());
  // It stays where another process was first, and where it does not compile.
  unlink((draft + "/cuda_host.h.gch").c_str());
  unlink((draft + "/cuda_host.h").c_str());
  rmdir(draft.c_str());
  return access(folder.c_str(), R_OK) == 0 ? folder : home;
#endif
}
}  // namespace

extern "C" {
typedef int R;
R nvrtcVersion(int* major, int* minor) { *major = 13; *minor = 0; return 0; }
const char* nvrtcGetErrorString(R code) { return code == 6 ? "NVRTC_ERROR_COMPILATION" : code ? "NVRTC_ERROR" : "NVRTC_SUCCESS"; }
R nvrtcGetNumSupportedArchs(int* n) { *n = 4; return 0; }
R nvrtcGetSupportedArchs(int* archs) {
  const int all[] = {75, 80, 90, 100};
  std::memcpy(archs, all, sizeof all);
  return 0;
}
R nvrtcCreateProgram(Program** p, const char* source, const char* name, int, const char* const*, const char* const*) {
  // Messages name the program, not the file it goes through here.
  *p = new Program{"#line 1 \"" + std::string(name ? name : "default_program") + "\"\n" + source, "", ""};
  return 0;
}
R nvrtcDestroyProgram(Program** p) {
  delete *p;
  *p = nullptr;
  return 0;
}
R nvrtcCompileProgram(Program* p, int, const char* const*) {
  static std::atomic<int> drafts;
  const std::string home = environment("EMU_HOME", "."), cache = home + "/kernels";
  const std::string flags = environment("EMU_CXXFLAGS", "");
  const std::string command = environment("EMU_CXX", "c++") +
      " -std=c++20 -Og -g1 -fPIC -w -ffp-contract=off -fno-strict-aliasing -fno-exceptions -fno-rtti " + kSpared + flags
#if defined(EMU_ADDRESS_SANITIZER) && !defined(__clang__)
      + " -fsanitize-sections=emu_shared"
#endif
      ;
  const std::string name = hash(command + p->source), object = cache + "/" + name + ".so";
  p->binary = contents(object);
  if (!p->binary.empty()) return 0;
  mkdir(cache.c_str(), 0777);
  const std::string draft = cache + "/" + name + "." + std::to_string(getpid()) + "." + std::to_string(drafts++), log = " >> " + draft + ".log 2>&1";
  static std::once_flag once;
  static std::string include;
  std::call_once(once, [&] { include = " -I" + header(home, command) + " -include cuda_host.h"; });
  // The driver brings the libraries of C and C++: searched for each kernel they take half of the linker's time. Not what reports
  // undefined behaviour.
  const bool reports = flags.find("undefined") != std::string::npos && flags.find("trap") == std::string::npos;
  const std::string link = std::string(" -shared") + (reports ? "" : " -nostdlib") + " -o " + draft + ".so -x none -L" + home +
      " -l:libcuda.so.1" + log;
  int status = -1;
  if (is_plain(p->source)) {
    std::ofstream(draft + ".cu") << p->source << entries(kernels(p->source, "__global__"));
    status = shell(command + include + " -x c++ " + draft + ".cu" + link);
  }
  // Kernels that macros define are visible only after preprocessing; nor is a word in a comment a kernel then.
  if (status != 0) {
    std::ofstream(draft + ".cu") << p->source;
    unlink((draft + ".log").c_str());
    status = shell(command + " -E -DEMU_GLOBAL=EMU_GLOBAL -I" + home + " -include cuda_host.h -x c++ " + draft + ".cu -o " + draft + ".ii" + log);
    if (status == 0) {
      const std::string preprocessed = contents(draft + ".ii");
      std::ofstream(draft + ".ii") << preprocessed << entries(kernels(preprocessed, "EMU_GLOBAL"));
      status = shell(command + " -DEMU_GLOBAL= -x c++ " + draft + ".ii" + link);
    }
  }
  p->log = contents(draft + ".log");
  if (status != 0 && p->log.empty()) p->log = "the compiler ended with status " + std::to_string(status);
  if (status == 0) p->binary = contents(draft + ".so");
  // Whole or not at all: other processes read it.
  if (status == 0) std::rename((draft + ".so").c_str(), object.c_str());
  unlink((draft + ".cu").c_str());
  unlink((draft + ".ii").c_str());
  unlink((draft + ".log").c_str());
  return status == 0 ? 0 : 6;
}
R nvrtcGetProgramLogSize(Program* p, size_t* n) { *n = p->log.size() + 1; return 0; }
R nvrtcGetProgramLog(Program* p, char* to) { std::memcpy(to, p->log.c_str(), p->log.size() + 1); return 0; }
R nvrtcGetCUBINSize(Program* p, size_t* n) { *n = p->binary.size(); return 0; }
R nvrtcGetCUBIN(Program* p, char* to) { std::memcpy(to, p->binary.data(), p->binary.size()); return 0; }
R nvrtcGetPTXSize(Program* p, size_t* n) { return nvrtcGetCUBINSize(p, n); }
R nvrtcGetPTX(Program* p, char* to) { return nvrtcGetCUBIN(p, to); }
}
