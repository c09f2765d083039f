// Implements the C interface on the C++ library: dtau.h. Exceptions become codes and sentences.
#include <dtau.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>

#include "dtau/library/call.hpp"

#include "library/model_file.hpp"
#include "library/reading.hpp"

struct dtau_model {
    dtau::Model model;
};
struct dtau_function {
    dtau::Call call;
};

namespace dtau {
namespace {

thread_local char last_error[1000] = "";

int fail(int code, const char* what) {
    std::snprintf(last_error, sizeof last_error, "%s", what);
    return code;
}

template <class Body> int guarded(const Body& body) noexcept {
    try {
        body();
        return DTAU_OK;
    } catch (const std::invalid_argument& error) {
        return fail(DTAU_INVALID_ARGUMENT, error.what());
    } catch (const InvalidFile& error) {
        return fail(DTAU_INVALID_FILE, error.what());
    } catch (const std::bad_alloc&) {
        return fail(DTAU_FAILED, "out of memory");
    } catch (const std::exception& error) {
        return fail(DTAU_FAILED, error.what());
    }
}

// Throws if a pointer that a call needs is null.
void require(const void* pointer, const char* argument) {
    if (!pointer)
        throw std::invalid_argument(std::string(argument) + ": expected a pointer, got null");
}

std::vector<bool> mask(const std::string& name, const std::string& text) {
    std::vector<bool> result;
    for (const char c : text) {
        if (c != '0' && c != '1')
            throw std::invalid_argument(name + ": expected a mask of 0 and 1, got '" + text + "'");
        result.push_back(c == '1');
    }
    return result;
}

bool flag(const std::string& name, const std::string& text) {
    if (text != "0" && text != "1")
        throw std::invalid_argument(name + ": expected 0 or 1, got '" + text + "'");
    return text == "1";
}

void add(CallArguments& all, const std::string& argument) {
    const std::size_t at = argument.find('=');
    const std::string name = argument.substr(0, at);
    const std::string value = at == std::string::npos ? "" : argument.substr(at + 1);
    if (name == "frames" || name == "frame")
        all.frames.push_back(value);
    else if (name == "axes")
        all.axes = value;
    else if (name == "f_ext_axes")
        all.f_ext_axes = value;
    else if (name == "kind")
        all.kind = value;
    else if (name == "integrator")
        all.integrator = value;
    else if (name == "prescribed")
        all.prescribed = mask(name, value);
    else if (name == "inputs")
        all.inputs = mask(name, value);
    else if (name == "symmetric")
        all.symmetric = flag(name, value);
    else if (name == "layout")
        all.layout = value;
    else if (name == "joint_parameters")
        all.joint_parameters = flag(name, value);
    else if (name == "forces")
        all.forces = flag(name, value);
    else if (name == "coordinates")
        all.coordinates = value;
    else if (name == "by")
        all.by.push_back(value);
    else if (name == "contacts")
        all.contacts.push_back(contact_of_text(value));
    else if (name == "contacts_at")
        all.contacts_at = numbers(name, value);
    else if (name == "regularization")
        all.regularization = number(name, value);
    else if (name == "order")
        all.order = integer(name, value);
    else if (name == "threads")
        all.threads = integer(name, value);
    else
        throw std::invalid_argument("expected name=value with an argument's name, got '" +
                                    argument + "'");
}

const char* describe(const std::vector<Array>& arrays, int index, ptrdiff_t* shape, int* ndim) {
    if (index < 0 || index >= static_cast<int>(arrays.size())) return nullptr;
    const Array& array = arrays[index];
    std::copy(array.shape.begin(), array.shape.end(), shape);
    *ndim = static_cast<int>(array.shape.size());
    return array.name.c_str();
}

const char* name_at(const std::vector<std::string>& names, int index) {
    return index < 0 || index >= static_cast<int>(names.size()) ? nullptr : names[index].c_str();
}

// An index that `body` looks up; -1: it throws.
template <class Body>
int found(const dtau_model* model, const char* name, const Body& body) noexcept {
    int index = -1;
    guarded([&] {
        require(model, "model");
        require(name, "name");
        index = body();
    });
    return index;
}

}  // namespace
}  // namespace dtau

using namespace dtau;

const char* dtau_version(void) { return DTAU_VERSION; }
const char* dtau_error(void) { return last_error; }

int dtau_model_load(const char* path, dtau_model** model) {
    return guarded([&] {
        require(path, "path");
        require(model, "model");
        *model = new dtau_model{Model::load(path)};
    });
}
void dtau_model_free(dtau_model* model) { delete model; }
int dtau_model_nq(const dtau_model* model) { return model ? model->model.nq() : 0; }
int dtau_model_nv(const dtau_model* model) { return model ? model->model.nv() : 0; }
int dtau_model_nbodies(const dtau_model* model) { return model ? model->model.nbodies() : 0; }
int dtau_model_nframes(const dtau_model* model) {
    return model ? static_cast<int>(model->model.frames().size()) : 0;
}
const char* dtau_model_joint(const dtau_model* model, int index) {
    return model ? name_at(model->model.joints(), index) : nullptr;
}
const char* dtau_model_body(const dtau_model* model, int index) {
    return model ? name_at(model->model.bodies(), index) : nullptr;
}
const char* dtau_model_frame(const dtau_model* model, int index) {
    return model ? name_at(model->model.frames(), index) : nullptr;
}

int dtau_model_find_joint(const dtau_model* model, const char* name) {
    return found(model, name, [&] { return model->model.joint(name).index; });
}
int dtau_model_find_body(const dtau_model* model, const char* name) {
    return found(model, name, [&] { return model->model.body(name); });
}
int dtau_model_find_frame(const dtau_model* model, const char* name) {
    return found(model, name, [&] { return model->model.frame(name); });
}

int dtau_model_joint_entries(const dtau_model* model, int index, int* q, int* nq, int* v, int* nv) {
    return guarded([&] {
        require(model, "model");
        require(q, "q"), require(nq, "nq"), require(v, "v"), require(nv, "nv");
        const char* const name = dtau_model_joint(model, index);
        if (!name)
            throw std::invalid_argument("index: expected a joint from 0 to " +
                                        std::to_string(model->model.nbodies() - 1) + ", got " +
                                        std::to_string(index));
        const Joint& joint = model->model.joint(name);
        *q = joint.q, *nq = joint.nq, *v = joint.v, *nv = joint.nv;
    });
}

const double* dtau_model_lower_limits(const dtau_model* model) {
    return model ? model->model.lower_limits().data() : nullptr;
}
const double* dtau_model_upper_limits(const dtau_model* model) {
    return model ? model->model.upper_limits().data() : nullptr;
}
const double* dtau_model_velocity_limits(const dtau_model* model) {
    return model ? model->model.velocity_limits().data() : nullptr;
}
const double* dtau_model_effort_limits(const dtau_model* model) {
    return model ? model->model.effort_limits().data() : nullptr;
}
const double* dtau_model_masses(const dtau_model* model) {
    return model ? model->model.masses().data() : nullptr;
}
const double* dtau_model_gravity(const dtau_model* model) {
    return model ? model->model.gravity().data() : nullptr;
}

int dtau_function_make(const dtau_model* model, const char* name, const char* const* arguments,
                       int narguments, ptrdiff_t most_states, dtau_function** function) {
    return guarded([&] {
        require(name, "name");
        require(function, "function");
        if (narguments > 0) require(arguments, "arguments");
        CallArguments all;
        for (int k = 0; k < narguments; ++k) {
            require(arguments[k], "arguments");
            add(all, arguments[k]);
        }
        *function = new dtau_function{model ? Call(model->model, name, all, most_states)
                                            : Call(name, all, most_states)};
    });
}
void dtau_function_free(dtau_function* function) { delete function; }

int dtau_function_ninputs(const dtau_function* function) {
    return function ? static_cast<int>(function->call.inputs().size()) : 0;
}
int dtau_function_nresults(const dtau_function* function) {
    return function ? static_cast<int>(function->call.results().size()) : 0;
}
const char* dtau_function_input(const dtau_function* function, int index, ptrdiff_t shape[5],
                                int* ndim) {
    return !function ? nullptr : describe(function->call.inputs(), index, shape, ndim);
}
const char* dtau_function_result(const dtau_function* function, int index, ptrdiff_t shape[5],
                                 int* ndim) {
    return !function ? nullptr : describe(function->call.results(), index, shape, ndim);
}
ptrdiff_t dtau_function_entries(const dtau_function* function, int index,
                                const ptrdiff_t** entries) {
    if (!function) return 0;
    const std::vector<Array>& results = function->call.results();
    if (index < 0 || index >= static_cast<int>(results.size())) return 0;
    *entries = results[index].entries.data();
    return static_cast<ptrdiff_t>(results[index].entries.size());
}

int dtau_function_run(dtau_function* function, const double* const* inputs, double* const* results,
                      ptrdiff_t states) {
    const int code = guarded([&] {
        require(function, "function");
        require(inputs, "inputs");
        require(results, "results");
    });
    if (code != DTAU_OK) return code;
    if (function->call.run(inputs, results, states)) return DTAU_OK;
    return fail(DTAU_INVALID_ARGUMENT, function->call.error());
}
