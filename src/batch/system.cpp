// Wraps the operating system, for Windows and for POSIX: memory_in_all(), map_memory(),
// available_processors(), at_forks().
#include "batch/system.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "batch/memory_limit.hpp"

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

namespace dtau {

#if defined(_WIN32)

namespace {

MEMORYSTATUSEX memory_status() {
    MEMORYSTATUSEX status = {};
    status.dwLength = sizeof status;
    GlobalMemoryStatusEx(&status);
    return status;
}

}  // namespace

double memory_in_all() { return static_cast<double>(memory_status().ullTotalPhys); }
double available_memory() { return static_cast<double>(memory_status().ullAvailPhys); }

void* map_memory(std::size_t bytes) {
    return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
void unmap_memory(void* memory, std::size_t) { VirtualFree(memory, 0, MEM_RELEASE); }

int at_forks(void (*)(), void (*)(), void (*)()) { return 0; }

void sleep_forever() {
    for (;;) Sleep(INFINITE);
}

#else

namespace {

double physical_memory() {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

double memory_in_all() { return std::min(physical_memory(), memory_limit().all); }

double available_memory() {
    double kilobytes = 0.0;
    if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
        char line[128];
        while (kilobytes == 0.0 && std::fgets(line, sizeof line, file))
            std::sscanf(line, "MemAvailable: %lf", &kilobytes);
        std::fclose(file);
    }
    const double of_machine = kilobytes > 0.0 ? 1024.0 * kilobytes : physical_memory();
    return std::min(of_machine, memory_limit().left);
}

void* map_memory(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
#if defined(__linux__)
    constexpr std::size_t worth_large_pages = std::size_t(4) << 20;  // of 2 MB, as NumPy does
    if (bytes >= worth_large_pages) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}
void unmap_memory(void* memory, std::size_t bytes) { munmap(memory, bytes); }

int at_forks(void (*before)(), void (*in_parent)(), void (*in_child)()) {
    return pthread_atfork(before, in_parent, in_child);
}

void sleep_forever() {
    for (;;) pause();
}

#endif

int available_processors() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
    const unsigned count = std::thread::hardware_concurrency();
    return count > 0 ? static_cast<int>(count) : 1;
}

}  // namespace dtau
