// Finds the inputs of the states of a job, one state after the other: Cursor.
#pragma once

#include "batch/job.hpp"
#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {

// Iterates over the states of a job and tracks the address of the current state in every input.
class Cursor {
  public:
    Cursor(const Job& job, std::ptrdiff_t state) : job_(job) { go_to(state); }
    const char* operator[](int input) const { return inputs_[input]; }

    void go_to(std::ptrdiff_t state) {
        for (int i = 0; i < job_.ninputs; ++i) inputs_[i] = job_.inputs[i].data;
        for (int axis = job_.naxes - 1; axis >= 0; --axis) {
            index_[axis] = state % job_.shape[axis];
            state /= job_.shape[axis];
            move(axis, index_[axis]);
        }
    }
    void next() {
        for (int axis = job_.naxes - 1; axis >= 0; --axis) {
            if (++index_[axis] < job_.shape[axis]) return move(axis, 1);
            move(axis, 1 - index_[axis]);
            index_[axis] = 0;
        }
    }

  private:
    void move(int axis, std::ptrdiff_t steps) {
        for (int i = 0; i < job_.ninputs; ++i)
            if (inputs_[i]) inputs_[i] += steps * job_.inputs[i].stride[axis];
    }

    const Job& job_;
    const char* inputs_[Job::max_inputs];
    std::ptrdiff_t index_[Job::max_axes];
};

}  // namespace dtau::DTAU_VARIANT
