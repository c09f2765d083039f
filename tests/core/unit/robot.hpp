// Gives the unit tests robots and the core's algorithms on them: Robot, branched().
#pragma once

#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/values/aba.hpp"
#include "dtau/algorithms/values/rnea.hpp"
#include "support.hpp"
#include "tree/compiled_tree.hpp"

namespace dtau::DTAU_VARIANT {

using Bodies = std::vector<BodyDescription>;

inline constexpr std::array<double, 9> unturned = {1, 0, 0, 0, 1, 0, 0, 0, 1};

inline BodyDescription body(JointKind kind, int parent, int number, std::array<double, 3> at,
                            std::array<double, 3> axis, double mass, std::array<double, 3> com,
                            std::array<double, 9> tensor) {
    return {kind, parent, number, -1, 1.0, 0.0, unturned, at, axis, 0.2, mass, com, tensor};
}

// A robot, whose armature and damping are the same for all degrees of freedom.
struct Robot {
    CompiledTree compiled;
    const Tree& tree = compiled.tree();
    int n = tree.nv;

    Robot(const Bodies& bodies, double armature, double damping,
          const std::array<double, 3>& gravity)
        : compiled(bodies, std::vector<std::string>(bodies.size(), "joint"), {},
                   Numbers(dofs(bodies), armature), Numbers(dofs(bodies), damping), gravity) {}

    static int dofs(const Bodies& bodies) {
        int n = 0;
        for (const BodyDescription& body : bodies) n += traits(body.kind).nv;
        return n;
    }
    template <class T>
    std::vector<T> inverse(const std::vector<T>& q, const std::vector<T>& v,
                           const std::vector<T>& a) const {
        Scratch scratch;
        std::vector<T> tau(n);
        rnea<T>(tree, q.data(), v.data(), a.data(), nullptr, tau.data(),
                scratch.make<RneaWorkspace<T>>(tree, Options()));
        return tau;
    }
    Numbers forward(const Numbers& q, const Numbers& v, const Numbers& tau) const {
        Scratch scratch;
        Numbers a(n);
        aba<double>(tree, q.data(), v.data(), tau.data(), nullptr, a.data(),
                    scratch.make<AbaWorkspace<double>>(tree, Options()));
        return a;
    }
    Matrix mass_matrix(const Numbers& q) const {
        Scratch scratch;
        Matrix M(n, n);
        crba<double>(tree, q.data(), M.at.data(), scratch.make<RootFrame<double>>(tree));
        return M;
    }
    // Random coordinates; quaternions are of any norm.
    Numbers random_q(Random& random) const { return random_numbers(tree.nq, random); }
    Numbers random_v(Random& random) const { return random_numbers(n, random); }
    static Numbers random_numbers(int count, Random& random) {
        Numbers x(count);
        for (double& number : x) number = random.number();
        return x;
    }
};

// Joints of all these kinds, in two branches of the first body.
inline Robot branched(const std::vector<JointKind>& kinds) {
    Bodies bodies;
    for (int i = 0; i < static_cast<int>(kinds.size()); ++i)
        bodies.push_back(body(kinds[i], i == 4 ? 0 : i - 1, i, {0.1, -0.2, 0.3}, {0.6, 0.0, 0.8},
                              1.0 + 0.1 * i, {0.1, -0.05, 0.2},
                              {0.10, 0.01, 0, 0.01, 0.12, 0, 0, 0, 0.09}));
    return {bodies, 0.01, 0.1, {0.5, 0, -9.81}};
}
inline const std::vector<JointKind> all_kinds = {
    JointKind::free,    JointKind::revolute,  JointKind::spherical, JointKind::cylindrical,
    JointKind::helical, JointKind::prismatic, JointKind::planar,    JointKind::revolute};
inline const std::vector<JointKind> adding_kinds = {JointKind::prismatic,   JointKind::revolute,
                                                    JointKind::cylindrical, JointKind::helical,
                                                    JointKind::revolute,    JointKind::revolute};

}  // namespace dtau::DTAU_VARIANT
