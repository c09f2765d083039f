#include <unistd.h>

#include <cstdio>

#include "batch/kept_blocks.hpp"
#include "python/arrays.hpp"
#include "python/work.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Bytes of memory that can still be taken; where the system does not say, what there is in all.
double available_memory() {
    double kilobytes = 0.0;
    if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
        char line[128];
        while (kilobytes == 0.0 && std::fgets(line, sizeof line, file))
            std::sscanf(line, "MemAvailable: %lf", &kilobytes);
        std::fclose(file);
    }
    if (kilobytes > 0.0) return 1024.0 * kilobytes;
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void check_memory(const Work& work, const Plan& plan, double results) {
    constexpr double unnoticed = 256e6;  // bytes that are asked for without a look
    if (results + plan.scratch < unnoticed) return;
    if (results + plan.scratch < available_memory()) return;
    free_kept_blocks();
    const double available = available_memory();
    if (results + plan.scratch < available) return;
    char message[200];
    std::snprintf(message, sizeof message,
                  ": the results take %.0f bytes, scratch of %d threads %.0f, and %.0f are "
                  "available; use a smaller batch",
                  results, plan.threads, plan.scratch, available);
    const Signature& signature = work.function.signature;
    std::string advice = plan.threads > 1 ? " or fewer threads" : "";
    if (signature.smaller) advice += ", or ";
    for (int k = 0; k < signature.noptions; ++k)
        if (signature.options[k] == Option::packed && !work.options.values.packed)
            advice += "packed=True or ";
    if (signature.smaller) advice += signature.smaller;
    PyErr_SetString(PyExc_MemoryError, (signature.name + (message + advice)).c_str());
    throw nb::python_error();
}

}  // namespace dtau
