#include <cstdio>

#include "batch/require_memory.hpp"
#include "python/arrays.hpp"
#include "python/work.hpp"

namespace nb = nanobind;

namespace dtau {

void check_memory(const Work& work, const Plan& plan, double results) {
    const MemoryAnswer answer = ask_for_memory(results + plan.scratch);
    if (answer.enough) return;
    char message[200];
    std::snprintf(message, sizeof message,
                  ": the results take %.0f bytes, scratch of %d threads %.0f, and %.0f are "
                  "available; use a smaller batch",
                  results, plan.threads, plan.scratch, answer.available);
    const Signature& signature = work.function.signature;
    std::string advice = plan.threads > 1 ? " or fewer threads" : "";
    if (signature.smaller) advice += ", or ";
    if (place(signature, Option::packed) >= 0 && !work.options.values.packed)
        advice += "packed=True or ";
    if (signature.smaller) advice += signature.smaller;
    PyErr_SetString(PyExc_MemoryError, (public_name(signature.name) + message + advice).c_str());
    throw nb::python_error();
}

}  // namespace dtau
