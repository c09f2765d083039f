// Visits the states of an array's batch: for_batch_states().
#pragma once

#include "batch/job.hpp"
#include "python/call.hpp"

namespace dtau {

// Calls visit(address of a state, its batch index, number of batch axes) for every state. Broadcast
// axes, of stride 0, are visited once.
template <class Visit> void for_batch_states(PyArrayObject* a, int core_axes, const Visit& visit) {
    const int last = PyArray_NDIM(a) - core_axes;
    npy_intp index[Job::max_axes], shape[Job::max_axes];
    const char* state = PyArray_BYTES(a);
    for (int axis = 0; axis < last; ++axis) {
        shape[axis] = PyArray_STRIDE(a, axis) == 0 ? std::min<npy_intp>(PyArray_DIM(a, axis), 1)
                                                   : PyArray_DIM(a, axis);
        if (shape[axis] == 0) return;
        index[axis] = 0;
    }
    for (;;) {
        visit(state, index, last);
        int axis = last - 1;
        for (; axis >= 0; --axis) {
            state += PyArray_STRIDE(a, axis);
            if (++index[axis] < shape[axis]) break;
            state -= PyArray_STRIDE(a, axis) * shape[axis];
            index[axis] = 0;
        }
        if (axis < 0) return;
    }
}

// Where a state is in its batch, for a message.
inline std::string at_index(const npy_intp* index, int naxes) {
    return naxes > 0 ? " at batch index " + text(index, naxes) : "";
}

}  // namespace dtau
