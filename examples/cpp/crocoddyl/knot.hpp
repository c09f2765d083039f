// Action models for crocoddyl with dtau's dynamics. A Knot is a whole time step with crocoddyl's
// costs; the first calcDiff of an iteration linearizes all knots of the same Dynamics in one batch.
//
//     auto dynamics = std::make_shared<Dynamics>(dtau::Model::load("robot.dtau"), state, 0.01);
//     auto knot = std::make_shared<Knot>(dynamics, costs);
//     std::vector<std::shared_ptr<crocoddyl::ActionModelAbstract>> knots(100, knot);
//     crocoddyl::ShootingProblem problem(x0, knots, knot);
//     problem.set_nthreads(1);  // the knots of one Dynamics share memory
//
// States are in Pinocchio's form, as everywhere in crocoddyl.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <crocoddyl/core/action-base.hpp>
#include <crocoddyl/core/costs/cost-sum.hpp>
#include <crocoddyl/core/costs/residual.hpp>
#include <crocoddyl/core/residuals/control.hpp>
#include <crocoddyl/multibody/data/multibody.hpp>
#include <crocoddyl/multibody/residuals/frame-placement.hpp>
#include <crocoddyl/multibody/residuals/frame-rotation.hpp>
#include <crocoddyl/multibody/residuals/frame-translation.hpp>
#include <crocoddyl/multibody/residuals/state.hpp>
#include <crocoddyl/multibody/states/multibody.hpp>
#include <dtau.hpp>

#include "coordinates.hpp"

// Steps of `dt` by the semi-implicit Euler method, crocoddyl's IntegratedActionModelEuler, without
// contacts or with contacts that are held. Owns the points and the derivatives of its knots.
class Dynamics {
  public:
    Dynamics(const dtau::Model& model, std::shared_ptr<crocoddyl::StateMultibody> given, double dt,
             std::vector<dtau::Contact> contacts = {})
        : state(std::move(given)),
          dt(dt),
          nu(model.nv() - (model.nq() == model.nv() ? 0 : 6)),
          coordinates_(*state->get_pinocchio(), model),
          model_(model),
          arguments_{.integrator = "semi_implicit", .contacts = std::move(contacts)},
          step_(model, "step", arguments_),
          nq_(model.nq()),
          nv_(model.nv()) {
        arguments_.inputs.assign(nv_, true);
        std::fill_n(arguments_.inputs.begin(), nv_ - nu, false);
    }

    const std::shared_ptr<crocoddyl::StateMultibody> state;
    const double dt;
    const int nu;  // joint torques, of all joints but a free root

    // Returns the place of a new knot.
    int add() {
        if (!unused_.empty()) {
            const int place = unused_.back();
            unused_.pop_back();
            return place;
        }
        const int place = static_cast<int>(changed_.size());
        const std::size_t n = place + 1;
        changed_.push_back(false);
        times_.resize(n, dt);
        q_.resize(n * nq_), v_.resize(n * nv_), tau_.resize(n * nv_);
        next_q_.resize(n * nq_), next_v_.resize(n * nv_);
        A_.resize(n * 4 * nv_ * nv_), B_.resize(n * 2 * nv_ * nu);
        return place;
    }
    void remove(int place) {
        changed_[place] = false;
        unused_.push_back(place);
    }

    // Moves a knot to a state and controls, and computes the next state.
    void step(int place, const double* x, const double* u, double* next) {
        double *q = &q_[place * nq_], *v = &v_[place * nv_], *tau = &tau_[place * nv_];
        coordinates_.state_to_dtau(x, q, v);
        std::copy_n(u, nu, tau + nv_ - nu);
        changed_[place] = true;
        double *to_q = &next_q_[place * nq_], *to_v = &next_v_[place * nv_];
        require(step_, step_.run({q, v, tau, &dt}, {to_q, to_v}));
        coordinates_.state_from_dtau(to_q, to_v, next);
    }

    // Writes the derivatives at a knot, after those of all knots that have moved are computed.
    void linearize(int place, Eigen::MatrixXd& Fx, Eigen::MatrixXd& Fu) {
        if (changed_[place]) linearize_changed();
        using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        Fx = Eigen::Map<const ByRows>(&A_[place * 4 * nv_ * nv_], 2 * nv_, 2 * nv_);
        Fu = Eigen::Map<const ByRows>(&B_[place * 2 * nv_ * nu], 2 * nv_, nu);
    }

  private:
    static void require(const dtau::Call& call, bool done) {
        if (!done) throw std::runtime_error(call.error());
    }

    // A solver has moved all knots before it asks for a derivative: they are one batch then.
    void linearize_changed() {
        const std::size_t count = changed_.size();
        const bool held = !arguments_.contacts.empty();
        if (!linearize_ || most_ < count) {
            linearize_ =
                std::make_unique<dtau::Call>(model_, "linearize_discrete", arguments_, count);
            most_ = count;
            if (held) residual_.resize(count * linearize_->results()[4].size);
        }
        for (std::size_t end, k = 0; k < count; k = end + 1) {
            for (end = k; end < count && changed_[end];) ++end;
            if (end == k) continue;
            const std::initializer_list<dtau::InputView> inputs = {&q_[k * nq_], &v_[k * nv_],
                                                                   &tau_[k * nv_], &times_[k]};
            double *A = &A_[k * 4 * nv_ * nv_], *B = &B_[k * 2 * nv_ * nu];
            double *q = &next_q_[k * nq_], *v = &next_v_[k * nv_];
            require(*linearize_,
                    held ? linearize_->run(inputs, {A, B, q, v, residual_.data()}, end - k)
                         : linearize_->run(inputs, {A, B, q, v}, end - k));
            std::fill(changed_.begin() + k, changed_.begin() + end, false);
        }
    }

    const Coordinates coordinates_;
    const dtau::Model model_;
    dtau::CallArguments arguments_;
    dtau::Call step_;
    std::unique_ptr<dtau::Call> linearize_;
    std::size_t most_ = 0;
    const int nq_, nv_;
    std::vector<double> times_, q_, v_, tau_;  // of all knots, in dtau's form
    std::vector<double> next_q_, next_v_, A_, B_, residual_;
    std::vector<bool> changed_;  // since the derivatives were computed
    std::vector<int> unused_;    // places of knots that are gone
};

// The data of one knot.
struct KnotData : crocoddyl::ActionDataAbstract {
    template <class Model>
    explicit KnotData(Model* model)
        : crocoddyl::ActionDataAbstract(static_cast<crocoddyl::ActionModelAbstract*>(model)),
          x(model->get_state()->get_nx()),
          u(model->get_nu()),
          pinocchio(*model->dynamics->state->get_pinocchio()),
          collector(&pinocchio),
          costs(model->costs->createData(&collector)),
          dynamics(model->dynamics),
          place(dynamics->add()) {
        costs->shareMemory(this);
        x.setConstant(std::numeric_limits<double>::quiet_NaN());  // no point yet
    }
    ~KnotData() override { dynamics->remove(place); }

    Eigen::VectorXd x, u;  // the point of the last calc
    pinocchio::Data pinocchio;
    crocoddyl::DataCollectorMultibody collector;
    std::shared_ptr<crocoddyl::CostDataSum> costs;
    std::shared_ptr<Dynamics> dynamics;
    int place;
};

// One time step and its costs, multiplied by the step's length. Without controls, as at the end of
// a problem, it has the costs alone. Residuals: states, controls and placements of frames.
class Knot : public crocoddyl::ActionModelAbstract {
  public:
    using Data = std::shared_ptr<crocoddyl::ActionDataAbstract>;
    using Vector = Eigen::Ref<const Eigen::VectorXd>;
    CROCODDYL_BASE_DERIVED_CAST(crocoddyl::ActionModelBase, Knot)  // there is no cast

    Knot(std::shared_ptr<Dynamics> of, std::shared_ptr<crocoddyl::CostModelSum> with)
        : crocoddyl::ActionModelAbstract(of->state, of->nu),
          dynamics(std::move(of)),
          costs(std::move(with)) {
        for (const auto& [name, item] : costs->get_costs()) {
            const auto* residual = item->cost->get_residual().get();
            const bool of_frame =
                dynamic_cast<const crocoddyl::ResidualModelFramePlacement*>(residual) ||
                dynamic_cast<const crocoddyl::ResidualModelFrameRotation*>(residual) ||
                dynamic_cast<const crocoddyl::ResidualModelFrameTranslation*>(residual);
            if (!of_frame && !dynamic_cast<const crocoddyl::ResidualModelState*>(residual) &&
                !dynamic_cast<const crocoddyl::ResidualModelControl*>(residual))
                throw std::invalid_argument(
                    "costs: expected residuals of states, controls and placements of frames, got "
                    "another one in the cost '" +
                    name + "'");
            of_frames_ |= of_frame;
        }
    }

    const std::shared_ptr<Dynamics> dynamics;
    const std::shared_ptr<crocoddyl::CostModelSum> costs;

    void calc(const Data& data, const Vector& x, const Vector& u) override {
        auto& d = static_cast<KnotData&>(*data);
        d.x = x;
        d.u = u;
        dynamics->step(d.place, d.x.data(), d.u.data(), d.xnext.data());
        place_frames(d, x);
        costs->calc(d.costs, x, u);
        d.cost = dynamics->dt * d.costs->cost;
    }

    void calc(const Data& data, const Vector& x) override {
        auto& d = static_cast<KnotData&>(*data);
        d.xnext = x;
        place_frames(d, x);
        costs->calc(d.costs, x);
        d.cost = d.costs->cost;
    }

    void calcDiff(const Data& data, const Vector& x, const Vector& u) override {
        auto& d = static_cast<KnotData&>(*data);
        if (d.x != x || d.u != u) calc(data, x, u);
        dynamics->linearize(d.place, d.Fx, d.Fu);
        if (of_frames_) pinocchio::computeJointJacobians(theirs(), d.pinocchio);
        costs->calcDiff(d.costs, x, u);  // writes into d
        d.Lx *= dynamics->dt;
        d.Lu *= dynamics->dt;
        d.Lxx *= dynamics->dt;
        d.Lxu *= dynamics->dt;
        d.Luu *= dynamics->dt;
    }

    void calcDiff(const Data& data, const Vector& x) override {
        auto& d = static_cast<KnotData&>(*data);
        if (of_frames_) pinocchio::computeJointJacobians(theirs(), d.pinocchio);
        costs->calcDiff(d.costs, x);
    }

    Data createData() override { return std::make_shared<KnotData>(this); }
    bool checkData(const Data& data) override {
        return std::dynamic_pointer_cast<KnotData>(data) != nullptr;
    }

  private:
    const pinocchio::Model& theirs() const { return *dynamics->state->get_pinocchio(); }
    void place_frames(KnotData& d, const Vector& x) const {
        if (of_frames_) pinocchio::forwardKinematics(theirs(), d.pinocchio, x.head(theirs().nq));
    }

    bool of_frames_ = false;  // some residual reads Pinocchio's placements of joints
};
