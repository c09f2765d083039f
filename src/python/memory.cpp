#include <cstdio>

#include "batch/kept_blocks.hpp"
#include "batch/system.hpp"
#include "python/arrays.hpp"
#include "python/work.hpp"

namespace nb = nanobind;

namespace dtau {
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
    PyErr_SetString(PyExc_MemoryError, (public_name(signature.name) + message + advice).c_str());
    throw nb::python_error();
}

}  // namespace dtau
