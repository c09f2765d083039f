// The C++ library: Model loads a file that Python's Model.save wrote, and Call computes one
// function of dtau for it. `#include <dtau.hpp>` and link dtau::dtau; docs/cpp.md explains.
//
//     dtau::Model model = dtau::Model::load("robot.dtau");
//     dtau::InverseDynamics inverse_dynamics(model);
//     inverse_dynamics(q.data(), v.data(), a.data(), tau.data());
//
// Arrays are contiguous float64, with the shapes and conventions of the Python function of the same
// name; several states follow each other. Results have the same bits as Python's.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dtau.h>

namespace dtau {

struct LibraryCall;    // src/library
struct CompiledModel;  // src/library

// A robot. Copies share one robot, which never changes: any thread may use it.
class DTAU_API Model {
  public:
    // Reads a file of Python's Model.save. Throws std::runtime_error, with a message that names the
    // file, if it cannot be read, is truncated, damaged or of another version.
    static Model load(const std::string& path);

    const std::string& name() const;
    int nq() const;
    int nv() const;
    int nbodies() const;
    const std::vector<std::string>& frames() const;  // names of all links, moving or fixed
    const std::vector<std::string>& joints() const;  // names of the core's joints, depth first

  private:
    friend class Call;
    explicit Model(std::shared_ptr<const CompiledModel> compiled);
    std::shared_ptr<const CompiledModel> compiled_;
};

// A point or frame contact with the world: Python's PointContact (3 rows) and FrameContact (6).
struct Contact {
    std::string frame;
    int rows = 3;
    std::string axes = "body";  // or "mixed"
    double kd = 0.0;            // Baumgarte gain of velocities
};

// The arguments of a Python function that are not arrays, by the same names, with the same words. A
// function reads those that it takes, and refuses others.
struct CallArguments {
    std::vector<std::string> frames = {};  // for the argument `frame` exactly one
    std::string axes = {}, f_ext_axes = {}, kind = {}, integrator = {}, layout = {};
    // Masks of velocities. A map of inputs has as many columns as `inputs` has true, by default as
    // there are actuated velocities.
    std::vector<bool> prescribed = {}, inputs = {};
    bool symmetric = false, joint_parameters = false, forces = false;
    std::vector<Contact> contacts = {};
    double regularization = 0.0;
    int order = 0;  // of time derivatives
};

// One array of a function: its name and the shape of one state.
struct Array {
    std::string name;
    bool optional;
    std::vector<std::ptrdiff_t> shape;
    std::ptrdiff_t size;  // numbers of one state
    // With layout "pattern": the places of these numbers in the dense array, by rows.
    std::vector<std::ptrdiff_t> entries;
};

// One function for one robot, with the memory of its calls. A call allocates nothing, takes no lock
// and throws nothing. Each thread needs a Call of its own.
class DTAU_API Call {
  public:
    // Throws std::invalid_argument if the name or an argument is unknown or missing. `most_states`
    // is the largest batch: the memory of a call is made here.
    Call(const Model& model, std::string_view name, const CallArguments& arguments = {},
         std::ptrdiff_t most_states = 1);
    Call(Call&&) noexcept;
    Call& operator=(Call&&) noexcept;
    ~Call();

    const std::vector<Array>& inputs() const;
    const std::vector<Array>& results() const;

    // Computes so many states: one pointer for each input and result, in their order. An optional
    // input may be null. Returns false if something is missing or the batch is too large; error()
    // then has a sentence. NaN: the state has no result, because it has NaN itself or its
    // constraints depend on each other. Quaternions are normalized.
    [[nodiscard]] bool run(const double* const* inputs, double* const* results,
                           std::ptrdiff_t states = 1) noexcept;
    // Inputs that are left out at the end are not given.
    [[nodiscard]] bool run(std::initializer_list<const double*> inputs,
                           std::initializer_list<double*> results,
                           std::ptrdiff_t states = 1) noexcept;
    const char* error() const noexcept;

  private:
    std::unique_ptr<LibraryCall> call_;
};

// The names of all functions.
DTAU_API std::vector<std::string> function_names();

// ---------------------------------------------------------------- the most used functions, typed
//
// nv, nq, nframes: as the model and the arguments have them. Matrices are by rows.

class InverseDynamics : public Call {
  public:
    explicit InverseDynamics(const Model& model, std::ptrdiff_t most_states = 1)
        : Call(model, "inverse_dynamics", {}, most_states) {}
    // tau (nv)
    [[nodiscard]] bool operator()(const double* q, const double* v, const double* a, double* tau,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {tau}, states);
    }
};

class InverseDynamicsDerivatives : public Call {
  public:
    explicit InverseDynamicsDerivatives(const Model& model, std::ptrdiff_t most_states = 1)
        : Call(model, "inverse_dynamics_derivatives", {}, most_states) {}
    // by q and v (nv, nv), and M (nv, nv), the derivative by a
    [[nodiscard]] bool operator()(const double* q, const double* v, const double* a,
                                  double* dtau_dq, double* dtau_dv, double* M,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {dtau_dq, dtau_dv, M}, states);
    }
};

class ForwardDynamics : public Call {
  public:
    explicit ForwardDynamics(const Model& model, std::ptrdiff_t most_states = 1)
        : Call(model, "forward_dynamics", {}, most_states) {}
    // a (nv)
    [[nodiscard]] bool operator()(const double* q, const double* v, const double* tau, double* a,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, tau}, {a}, states);
    }
};

class ForwardDynamicsDerivatives : public Call {
  public:
    explicit ForwardDynamicsDerivatives(const Model& model, std::ptrdiff_t most_states = 1)
        : Call(model, "forward_dynamics_derivatives", {}, most_states) {}
    // by q and v (nv, nv), and the inverse of M (nv, nv), the derivative by tau
    [[nodiscard]] bool operator()(const double* q, const double* v, const double* tau,
                                  double* da_dq, double* da_dv, double* da_dtau,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, tau}, {da_dq, da_dv, da_dtau}, states);
    }
};

class MassMatrix : public Call {
  public:
    explicit MassMatrix(const Model& model, std::ptrdiff_t most_states = 1)
        : Call(model, "mass_matrix", {}, most_states) {}
    // M (nv, nv)
    [[nodiscard]] bool operator()(const double* q, double* M, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {M}, states);
    }
};

class FramePlacements : public Call {
  public:
    FramePlacements(const Model& model, std::vector<std::string> frames,
                    std::ptrdiff_t most_states = 1)
        : Call(model, "frame_placements", {.frames = std::move(frames)}, most_states) {}
    // rotations (nframes, 3, 3), positions (nframes, 3)
    [[nodiscard]] bool operator()(const double* q, double* rotations, double* positions,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {rotations, positions}, states);
    }
};

class FrameJacobians : public Call {
  public:
    // axes: "body", "mixed" or "world"
    FrameJacobians(const Model& model, std::vector<std::string> frames, std::string axes = "body",
                   std::ptrdiff_t most_states = 1)
        : Call(model, "frame_jacobians", {.frames = std::move(frames), .axes = std::move(axes)},
               most_states) {}
    // J (nframes, 6, nv)
    [[nodiscard]] bool operator()(const double* q, double* J, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {J}, states);
    }
};

}  // namespace dtau
