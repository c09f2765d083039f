// Declares Call, one function of dtau by its name: of one robot, or of poses.
#pragma once

#include "dtau/library/views.hpp"  // first: it says which C++ is needed

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dtau.h>

#include "dtau/library/contacts.hpp"
#include "dtau/library/model.hpp"

namespace dtau {

struct LibraryCall;  // src/library

// The arguments of a Python function that are not arrays, by the same names, with the same words. A
// function reads the arguments that it takes, and refuses others.
struct CallArguments {
    std::vector<std::string> frames = {};  // for the argument `frame` exactly one
    std::string axes = {}, f_ext_axes = {}, kind = {}, integrator = {}, layout = {},
                coordinates = {};
    // Masks of velocities. A map of inputs has as many columns as `inputs` has true, by default as
    // there are actuated velocities.
    std::vector<bool> prescribed = {}, inputs = {};
    // joint_parameters: numbers of joints are behind numbers of bodies, also in the input `parameters`.
    bool symmetric = false, joint_parameters = false, forces = false;
    // coordinates "numbers": the axes of q have length nq, of which a typed call has to know.
    // "dt", "f_ext": results behind the others, for which a typed call has no room; or a larger H.
    std::vector<std::string> by = {};
    std::vector<Contact> contacts = {};
    // A configuration (nq), the argument `at` of Python's Contacts: contacts without a position or
    // placement are held where it puts them.
    std::vector<double> contacts_at = {};
    double regularization = 0.0;
    int order = 0;  // of time derivatives
    // The most threads that share a batch, the calling one included; 0: as many as are of use.
    int threads = 1;
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

// One function, of one robot or of poses, with the memory of its calls. A call that succeeds allocates nothing
// and throws nothing; on one thread it takes no lock and makes no system call. Each thread needs a
// Call of its own.
class DTAU_API Call {
  public:
    // Throws std::invalid_argument if the name or an argument is unknown or missing. `most_states`
    // is the largest batch: the memory of a call is made here, and its threads are started.
    Call(const Model& model, std::string_view name, const CallArguments& arguments = {},
         std::ptrdiff_t most_states = 1);
    // A function of poses or rotations, which takes no model, such as "pose_log".
    explicit Call(std::string_view name, const CallArguments& arguments = {},
                  std::ptrdiff_t most_states = 1);
    Call(Call&&) noexcept;
    Call& operator=(Call&&) noexcept;
    ~Call();

    const std::vector<Array>& inputs() const;
    const std::vector<Array>& results() const;

    // Evaluates `states` states; pass one array per input and result, in their order. Inputs that are
    // null, or left out at the end, are not given. Returns false if something is missing, an array
    // has another size or the batch is too large; error() then has a sentence. NaN: the state has no
    // result, because it has NaN itself or its constraints depend on each other. Quaternions are
    // normalized; in poses and rotations, which functions without a model take, they have norm 1.
    [[nodiscard]] bool run(std::initializer_list<InputView> inputs,
                           std::initializer_list<ResultView> results,
                           std::ptrdiff_t states = 1) noexcept;
    [[nodiscard]] bool run(const double* const* inputs, double* const* results,
                           std::ptrdiff_t states = 1) noexcept;
    const char* error() const noexcept;

  private:
    std::unique_ptr<LibraryCall> call_;
};

// The name of a function as an argument of a template.
template <std::size_t size> struct FunctionName {
    char text[size] = {};
    constexpr FunctionName(const char (&name)[size]) {
        for (std::size_t k = 0; k < size; ++k) text[k] = name[k];
    }
    constexpr operator std::string_view() const { return {text, size - 1}; }
};

// What the typed calls of dtau/library/calls share: the constructor, for one function of a robot ...
template <FunctionName name> class CallOf : public Call {
  public:
    explicit CallOf(const Model& model, const CallArguments& arguments = {},
                    std::ptrdiff_t most_states = 1)
        : Call(model, name, arguments, most_states) {}
};

// ... or of poses.
template <FunctionName name> class PoseCallOf : public Call {
  public:
    explicit PoseCallOf(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call(name, arguments, most_states) {}
};

// The names of all functions of a model, and of functions that take none.
DTAU_API std::vector<std::string> function_names();
DTAU_API std::vector<std::string> pose_function_names();

}  // namespace dtau
