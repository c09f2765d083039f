// Solves a problem with crocoddyl's own action models and with those of knot.hpp in turns. Compares
// the iterates, and prints one line of JSON with the milliseconds of every solve.
//    Usage: compare ROBOT.urdf ROBOT.dtau fixed|free POSTURES ROUNDS [FRAME ...]
// ROBOT.dtau is the same robot, by Python's model.save. POSTURES is a text with two configurations
// in Pinocchio's order: the start and the goal. A fixed robot brings its frames to where they are
// at the goal. A free robot stands on its frames.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <limits>

#include <crocoddyl/core/activations/weighted-quadratic.hpp>
#include <crocoddyl/core/integrator/euler.hpp>
#include <crocoddyl/core/solvers/fddp.hpp>
#include <crocoddyl/multibody/actions/contact-fwddyn.hpp>
#include <crocoddyl/multibody/actions/free-fwddyn.hpp>
#include <crocoddyl/multibody/actuations/floating-base.hpp>
#include <crocoddyl/multibody/actuations/full.hpp>
#include <crocoddyl/multibody/contacts/contact-3d.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include "knot.hpp"

namespace {

using Eigen::VectorXd;
using std::make_shared;
using std::shared_ptr;
using namespace crocoddyl;

constexpr int knots = 100, most_iterations = 100;
constexpr double dt = 0.01, brake = 50.0;  // s; 1/s, on velocities of contacts
// The largest differences of costs and of states, in terms of the largest number. For a robot on
// feet, the states of crocoddyl's own iterations change by up to 1e-6 if the first controls change
// in their last digit.
constexpr double same_costs = 1e-8, same_states = 1e-5;

struct Task {
    shared_ptr<StateMultibody> state;
    VectorXd start, goal;  // states
    std::vector<std::string> frames;
    bool free;

    int nu() const { return static_cast<int>(state->get_nv()) - (free ? 6 : 0); }
};

// Squares of displacements from the goal, of velocities and of controls, and errors of frames.
shared_ptr<CostModelSum> costs(const Task& task, double factor) {
    const int nv = static_cast<int>(task.state->get_nv()), nu = task.nu();
    VectorXd weights(2 * nv);
    weights << VectorXd::Constant(nv, task.free ? 0.1 : 1.0), VectorXd::Constant(nv, 0.1);
    if (task.free) weights.head(6).setConstant(100.0), weights.segment(nv, 6).setOnes();
    auto sum = make_shared<CostModelSum>(task.state, nu);
    const auto add = [&](const char* name, auto residual, double weight, auto activation) {
        const auto cost = make_shared<CostModelResidual>(task.state, activation, residual);
        sum->addCost(name, cost, weight);
    };
    add("state", make_shared<ResidualModelState>(task.state, task.goal, nu), factor,
        make_shared<ActivationModelWeightedQuad>(weights));
    add("control", make_shared<ResidualModelControl>(task.state, nu), 1e-3,
        make_shared<ActivationModelQuad>(nu));
    if (task.free) return sum;
    const pinocchio::Model& robot = *task.state->get_pinocchio();
    pinocchio::Data data(robot);
    pinocchio::framesForwardKinematics(robot, data, task.goal.head(robot.nq));
    for (const std::string& name : task.frames) {
        const pinocchio::FrameIndex frame = robot.getFrameId(name);
        add(name.c_str(),
            make_shared<ResidualModelFramePlacement>(task.state, frame, data.oMf[frame], nu),
            10.0 * factor, make_shared<ActivationModelQuad>(6));
    }
    return sum;
}

shared_ptr<ShootingProblem> problem(const Task& task, shared_ptr<ActionModelAbstract> running,
                                    shared_ptr<ActionModelAbstract> terminal) {
    const std::vector<shared_ptr<ActionModelAbstract>> all(knots, running);
    auto made = make_shared<ShootingProblem>(task.start, all, terminal);
    made->set_nthreads(1);
    return made;
}

shared_ptr<ActionModelAbstract> their_knot(const Task& task, double factor) {
    const shared_ptr<ActuationModelAbstract> actuation =
        task.free ? shared_ptr<ActuationModelAbstract>(
                        make_shared<ActuationModelFloatingBase>(task.state))
                  : make_shared<ActuationModelFull>(task.state);
    shared_ptr<DifferentialActionModelAbstract> dynamics;
    if (task.free) {
        auto contacts = make_shared<ContactModelMultiple>(task.state, task.nu());
        for (const std::string& name : task.frames)
            contacts->addContact(
                name, make_shared<ContactModel3D>(
                          task.state, task.state->get_pinocchio()->getFrameId(name),
                          Eigen::Vector3d::Zero(), pinocchio::LOCAL_WORLD_ALIGNED, task.nu(),
                          Eigen::Vector2d(0.0, brake)));
        dynamics = make_shared<DifferentialActionModelContactFwdDynamics>(
            task.state, actuation, contacts, costs(task, factor), 0.0, false);
    } else {
        dynamics = make_shared<DifferentialActionModelFreeFwdDynamics>(task.state, actuation,
                                                                       costs(task, factor));
    }
    return make_shared<IntegratedActionModelEuler>(dynamics, dt);
}

shared_ptr<ShootingProblem> our_problem(const Task& task, const dtau::Model& model) {
    std::vector<dtau::Contact> contacts;
    if (task.free)
        for (const std::string& name : task.frames)
            contacts.push_back(dtau::PointContact{.frame = name, .axes = "mixed", .kd = brake});
    const auto dynamics = make_shared<Dynamics>(model, task.state, dt, contacts);
    return problem(task, make_shared<Knot>(dynamics, costs(task, 1.0)),
                   make_shared<Knot>(dynamics, costs(task, 100.0)));
}

// Keeps the cost and the states of every iteration.
struct Recorder : CallbackAbstract {
    void operator()(SolverAbstract& solver) override {
        costs.push_back(solver.get_cost());
        for (const VectorXd& x : solver.get_xs()) states.insert(states.end(), x.begin(), x.end());
    }
    std::vector<double> costs, states;
};

struct Contender {
    Contender(const char* name, shared_ptr<ShootingProblem> problem)
        : name(name), problem(problem), solver(problem) {}

    const char* name;
    shared_ptr<ShootingProblem> problem;
    SolverFDDP solver;
    std::vector<double> milliseconds;
};

// The largest difference of two series, in terms of the largest number.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    const Eigen::Map<const VectorXd> x(a.data(), a.size()), y(b.data(), b.size());
    return (x - y).cwiseAbs().maxCoeff() / x.cwiseAbs().maxCoeff();
}

VectorXd read(std::ifstream& file, const pinocchio::Model& robot) {
    VectorXd x = VectorXd::Zero(robot.nq + robot.nv);
    for (int k = 0; k < robot.nq; ++k)
        if (!(file >> x[k])) throw std::runtime_error("POSTURES: expected two configurations");
    return x;
}

int run(int count, char** words) {
    if (count < 6)
        throw std::runtime_error(
            "usage: compare ROBOT.urdf ROBOT.dtau fixed|free POSTURES ROUNDS [FRAME ...]");
    Task task;
    task.free = std::string(words[3]) == "free";
    const auto robot = make_shared<pinocchio::Model>();
    if (task.free)
        pinocchio::urdf::buildModel(words[1], pinocchio::JointModelFreeFlyer(), *robot);
    else
        pinocchio::urdf::buildModel(words[1], *robot);
    task.state = make_shared<StateMultibody>(robot);
    std::ifstream postures(words[4]);
    task.start = read(postures, *robot);
    task.goal = read(postures, *robot);
    task.frames.assign(words + 6, words + count);
    std::sort(task.frames.begin(), task.frames.end());  // as crocoddyl orders contacts

    Contender both[] = {
        {"crocoddyl", problem(task, their_knot(task, 1.0), their_knot(task, 100.0))},
        {"dtau", our_problem(task, dtau::Model::load(words[2]))}};
    const std::vector<VectorXd> xs(knots + 1, task.start);
    std::vector<VectorXd> us(knots, VectorXd::Zero(task.nu()));
    both[0].problem->quasiStatic(us, {xs.begin(), xs.end() - 1});

    std::vector<shared_ptr<Recorder>> records;
    for (Contender& one : both) {
        records.push_back(make_shared<Recorder>());
        one.solver.setCallbacks({records.back()});
        one.solver.solve(xs, us, most_iterations, false);
        one.solver.setCallbacks({});
    }
    const double costs_off = difference(records[0]->costs, records[1]->costs);
    const double states_off = difference(records[0]->states, records[1]->states);

    for (int round = 0; round < std::stoi(words[5]); ++round)
        for (Contender& one : both) {
            const std::clock_t begin = std::clock();  // of this processor: all is on one thread
            one.solver.solve(xs, us, most_iterations, false);
            const double ticks = static_cast<double>(std::clock() - begin);
            one.milliseconds.push_back(1e3 * ticks / CLOCKS_PER_SEC);
        }
    std::printf("{\"iterations\": %zu, \"cost\": %.17g, \"costs_off\": %.3g, \"states_off\": %.3g",
                records[0]->costs.size(), records[0]->costs.back(), costs_off, states_off);
    for (const Contender& one : both) {
        std::printf(", \"%s\": [", one.name);
        const char* comma = "";
        for (const double time : one.milliseconds) std::printf("%s%.6g", comma, time), comma = ", ";
        std::printf("]");
    }
    std::printf("}\n");
    if (costs_off <= same_costs && states_off <= same_states) return 0;
    std::fprintf(stderr, "the iterates are not crocoddyl's\n");
    return 1;
}

}  // namespace

int main(int count, char** words) {
    try {
        return run(count, words);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
