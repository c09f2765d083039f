// Holds a robot at a configuration for a second: computed torques as the controller, within the limits of
// the joints, forward dynamics and Euler steps as the robot, no allocation in the loop. Prints how far
// the joints are off.
//    Usage: computed_torque ROBOT.dtau     a file of `dtau convert`, of a robot without quaternions
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include <dtau.hpp>

namespace {

int run(const char* path) {
    const dtau::Model model = dtau::Model::load(path);
    if (model.nq() != model.nv()) {
        std::fprintf(stderr, "%s: expected a robot without quaternions\n", path);
        return 1;
    }
    const int n = model.nv();
    dtau::InverseDynamics inverse_dynamics(model);
    dtau::ForwardDynamics forward_dynamics(model);
    std::vector<double> q(n, 0.0), v(n, 0.0), a(n), tau(n);
    const std::vector<double>& most = model.effort_limits();
    const double wanted = 0.5, kp = 100.0, kd = 20.0, dt = 1e-3;
    for (int step = 0; step < 1000; ++step) {
        for (int k = 0; k < n; ++k) a[k] = kp * (wanted - q[k]) - kd * v[k];
        bool done = inverse_dynamics(q, v, a, tau);
        for (int k = 0; k < n; ++k) tau[k] = std::clamp(tau[k], -most[k], most[k]);
        done = done && forward_dynamics(q, v, tau, a);
        if (!done) {
            std::fprintf(stderr, "%s\n%s\n", inverse_dynamics.error(), forward_dynamics.error());
            return 1;
        }
        for (int k = 0; k < n; ++k) {
            v[k] += dt * a[k];
            q[k] += dt * v[k];
        }
    }
    double worst = 0.0;
    for (const double x : q) worst = std::max(worst, std::fabs(x - wanted));
    std::printf("%s: %d joints, at most %.1e rad off after a second\n", model.name().c_str(), n,
                worst);
    return worst < 1e-3 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc > 1 ? argv[1] : "arm.dtau");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
