// Exports Pinocchio's algorithms through plain C, compiled from its templates with the flags of headers.py:
// open_robot(), run(), results().
//
// Pinocchio's compiled library is not linked. Its macro PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION
// stays undefined, so that no template is declared extern and all code is compiled in this file. The
// model comes as text, because flags that change Eigen's alignment change the layout of a model.
//
// ORDER 1: values and first derivatives; 2: second derivatives; 0: further values. A library has one
// of them, because every algorithm takes a compiler many seconds.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#if ORDER == 0
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#elif ORDER == 1
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#elif ORDER == 2
#include <pinocchio/algorithm/rnea-second-order-derivatives.hpp>
#else
#error "expected -DORDER=0, -DORDER=1 or -DORDER=2"
#endif
#include <pinocchio/serialization.hpp>

namespace {

using pinocchio::Data;
using pinocchio::FrameIndex;
using pinocchio::Model;
using Vector = Eigen::Map<const Eigen::VectorXd>;

struct Robot {
    Model model;
    Data data;
    explicit Robot(const Model& m) : model(m), data(m) {}
};

// Collects the results of one state: row by row, one array after the other.
class Results {
  public:
    Results(double* const* arrays, std::ptrdiff_t state) : next_(arrays), state_(state) {}

    template <class Matrix> void operator()(const Eigen::MatrixBase<Matrix>& m) {
        using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        Eigen::Map<Rows>(take(m.size()), m.rows(), m.cols()) = m;
    }

    void operator()(const Data::Tensor3x& t) {
        double* to = take(t.size());
        for (Eigen::Index i = 0; i < t.dimension(0); ++i)
            for (Eigen::Index j = 0; j < t.dimension(1); ++j)
                for (Eigen::Index k = 0; k < t.dimension(2); ++k) *to++ = t(i, j, k);
    }

  private:
    double* take(std::ptrdiff_t size) { return *next_++ + state_ * size; }

    double* const* next_;
    std::ptrdiff_t state_;
};

// The functions, under the package's names: the calls for a state, and the results copied from Pinocchio's
// data. u is the third input: tau where the package takes tau, else a.
#define FUNCTION(function, calls, copies)                                        \
    struct function {                                                            \
        static constexpr const char* name = #function;                           \
        static void call([[maybe_unused]] const Model& m, Data& d, Vector q,     \
                         [[maybe_unused]] Vector v, [[maybe_unused]] Vector u) { \
            using namespace pinocchio;                                           \
            calls;                                                               \
        }                                                                        \
        static void copy(const Data& d, Results to) { copies; }                  \
    };

#if ORDER == 0

FUNCTION(bias_torque, nonLinearEffects(m, d, q, v), to(d.nle))
FUNCTION(gravity_torque, computeGeneralizedGravity(m, d, q), to(d.g))
FUNCTION(coriolis_matrix, computeCoriolisMatrix(m, d, q, v), to(d.C))
FUNCTION(center_of_mass, centerOfMass(m, d, q, false), to(d.com[0]))
// d.q_in is as long as a configuration
FUNCTION(integrate, (d.q_in = q, pinocchio::integrate(m, q, v, d.q_in)), to(d.q_in))

// These two functions take the model's last frame.
FrameIndex last(const Model& m) { return static_cast<FrameIndex>(m.nframes - 1); }
FUNCTION(frame_placements, (forwardKinematics(m, d, q), updateFramePlacement(m, d, last(m))),
         (to(d.oMf.back().rotation()), to(d.oMf.back().translation())))
FUNCTION(frame_jacobians,
         (d.J.setZero(), computeFrameJacobian(m, d, q, last(m), LOCAL_WORLD_ALIGNED, d.J)), to(d.J))

#elif ORDER == 1

FUNCTION(inverse_dynamics, rnea(m, d, q, v, u), to(d.tau))
FUNCTION(forward_dynamics, aba(m, d, q, v, u), to(d.ddq))
FUNCTION(mass_matrix, crba(m, d, q), to(d.M))
FUNCTION(mass_matrix_inverse, computeMinverse(m, d, q), to(d.Minv))
FUNCTION(inverse_dynamics_derivatives, computeRNEADerivatives(m, d, q, v, u),
         (to(d.dtau_dq), to(d.dtau_dv), to(d.M)))
FUNCTION(forward_dynamics_derivatives, computeABADerivatives(m, d, q, v, u),
         (to(d.ddq_dq), to(d.ddq_dv), to(d.Minv)))

#else

// Element (i, j, k) belongs to torque i. In dqdv, j belongs to q and k to v; in dadq, j to a and k to q. In
// dqdq, k belongs to the derivative taken last: with a free root the order matters.
FUNCTION(inverse_dynamics_second_derivatives, ComputeRNEASecondOrderDerivatives(m, d, q, v, u),
         (to(d.d2tau_dqdq), to(d.d2tau_dvdv), to(d.d2tau_dqdv), to(d.d2tau_dadq)))

#endif

// States: rows of q, v and u; null where a function does not take them.
struct States {
    const double *q, *v, *u;
    std::ptrdiff_t count;
};

Vector row(const double* rows, std::ptrdiff_t i, int length) {
    return Vector(rows ? rows + i * length : nullptr, length);
}

template <class Function> void call(Robot& robot, const States& at, std::ptrdiff_t i) {
    const Model& m = robot.model;
    Function::call(m, robot.data, row(at.q, i, m.nq), row(at.v, i, m.nv), row(at.u, i, m.nv));
}

struct Entry {
    const char* name;
    void (*run)(Robot&, const States&, std::ptrdiff_t passes);
    void (*results)(Robot&, const States&, double* const* arrays);
};

template <class Function> constexpr Entry entry() {
    return {Function::name,
            [](Robot& robot, const States& at, std::ptrdiff_t passes) {
                for (std::ptrdiff_t pass = 0; pass < passes; ++pass)
                    for (std::ptrdiff_t i = 0; i < at.count; ++i) call<Function>(robot, at, i);
            },
            [](Robot& robot, const States& at, double* const* arrays) {
                for (std::ptrdiff_t i = 0; i < at.count; ++i) {
                    call<Function>(robot, at, i);
                    Function::copy(robot.data, Results(arrays, i));
                }
            }};
}

constexpr Entry kEntries[] = {
#if ORDER == 0
    entry<bias_torque>(),      entry<gravity_torque>(),  entry<coriolis_matrix>(),
    entry<frame_placements>(), entry<frame_jacobians>(), entry<center_of_mass>(),
    entry<integrate>(),
#elif ORDER == 1
    entry<inverse_dynamics>(),
    entry<forward_dynamics>(),
    entry<mass_matrix>(),
    entry<mass_matrix_inverse>(),
    entry<inverse_dynamics_derivatives>(),
    entry<forward_dynamics_derivatives>(),
#else
    entry<inverse_dynamics_second_derivatives>(),
#endif
};

const Entry* find(const char* name) {
    for (const Entry& entry : kEntries)
        if (std::strcmp(entry.name, name) == 0) return &entry;
    return nullptr;
}

}  // namespace

#define DTAU_EXPORT extern "C" __attribute__((visibility("default")))

// Loads a model from the text of Pinocchio's Model.saveToString; null and a message if it fails.
DTAU_EXPORT void* open_robot(const char* text, char* message, std::size_t size) {
    try {
        Model model;
        model.loadFromString(text);
        return new Robot(model);
    } catch (const std::exception& error) {
        std::snprintf(message, size, "%s", error.what());
        return nullptr;
    }
}

DTAU_EXPORT void close_robot(void* robot) { delete static_cast<Robot*>(robot); }

// Calls a function at all states, one after the other, `passes` times. Returns false if this library has no
// such function.
DTAU_EXPORT bool run(void* robot, const char* function, const double* q, const double* v,
                     const double* u, std::ptrdiff_t states, std::ptrdiff_t passes) {
    const Entry* entry = find(function);
    if (entry) entry->run(*static_cast<Robot*>(robot), {q, v, u, states}, passes);
    return entry != nullptr;
}

// Calls a function at all states and copies its results from Pinocchio's data, one array for each result.
DTAU_EXPORT bool results(void* robot, const char* function, const double* q, const double* v,
                         const double* u, std::ptrdiff_t states, double* const* arrays) {
    const Entry* entry = find(function);
    if (entry) entry->results(*static_cast<Robot*>(robot), {q, v, u, states}, arrays);
    return entry != nullptr;
}
