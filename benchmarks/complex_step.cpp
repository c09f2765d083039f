// Computes second derivatives of inverse dynamics by complex step of the core's first derivatives: second().
// It runs IDSVA with complex numbers, one direction at a time. For trees of revolute joints on a fixed base,
// whose displacements add. complex_step.py compiles it.
#include <cstddef>
#include <memory>
#include <vector>

#include "dtau/algorithms/first/idsva.hpp"
#include "tree/compiled_tree.hpp"

namespace {

using namespace dtau;
using namespace dtau::DTAU_VARIANT;
using Matrix = std::vector<Complex>;

constexpr double step = 1e-30;

struct Robot {
    CompiledTree tree;
    std::size_t n;
    std::vector<std::byte> memory;
    std::vector<Complex> q, v, a;
    Matrix by_q, by_v, mass;

    Robot(const std::vector<BodyDescription>& bodies, const std::array<double, 3>& gravity)
        : tree(bodies, std::vector<std::string>(bodies.size()), {},
               std::vector<double>(bodies.size()), std::vector<double>(bodies.size()), gravity),
          n(bodies.size()),
          q(n),
          v(n),
          a(n),
          by_q(n * n),
          by_v(n * n),
          mass(n * n) {
        Arena measure;
        IdsvaWorkspace<Complex>(measure, tree.tree(), Options());
        memory.resize(measure.used() + 64);
    }

    void first() {
        void* block = memory.data();
        std::size_t size = memory.size();
        std::align(64, size - 64, block, size);
        Arena arena(block, size);
        const IdsvaWorkspace<Complex> w(arena, tree.tree(), Options());
        idsva(tree.tree(), q.data(), v.data(), a.data(), static_cast<const Complex*>(nullptr),
              by_q.data(), by_v.data(), mass.data(), w);
    }

    void page(const Matrix& matrix, std::size_t k, double* out) const {
        for (std::size_t ij = 0; ij < n * n; ++ij) out[k * n * n + ij] = matrix[ij].imag() / step;
    }
};

}  // namespace

extern "C" {

void* open_robot(int n, const int* parent, const double* rotation, const double* translation,
                 const double* axis, const double* mass, const double* com, const double* tensor,
                 const double* gravity) {
    std::vector<BodyDescription> bodies(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
        BodyDescription& b = bodies[static_cast<std::size_t>(i)];
        b = {.kind = JointKind::revolute,
             .parent = parent[i],
             .link = i,
             .mimicked = -1,
             .multiplier = 1.0,
             .offset = 0.0,
             .rotation = {},
             .translation = {},
             .axis = {},
             .pitch = 0.0,
             .mass = mass[i],
             .com = {},
             .tensor = {}};
        for (int k = 0; k < 9; ++k)
            b.rotation[k] = rotation[9 * i + k], b.tensor[k] = tensor[9 * i + k];
        for (int k = 0; k < 3; ++k)
            b.translation[k] = translation[3 * i + k], b.axis[k] = axis[3 * i + k],
            b.com[k] = com[3 * i + k];
    }
    return new Robot(bodies, {gravity[0], gravity[1], gravity[2]});
}

void close_robot(void* robot) { delete static_cast<Robot*>(robot); }

// For each state, entries [k, i, j]: d(dtau_i/dq_j)/dq_k, d(dtau_i/dv_j)/dv_k, d(dtau_i/dv_j)/dq_k,
// dM_ij/dq_k, n^3 numbers each.
void second(void* robot, const double* q, const double* v, const double* a, std::ptrdiff_t states,
            double* out) {
    Robot& r = *static_cast<Robot*>(robot);
    const std::size_t n = r.n, cube = n * n * n;
    for (std::ptrdiff_t z = 0; z < states; ++z, q += n, v += n, a += n, out += 4 * cube) {
        r.q.assign(q, q + n);
        r.v.assign(v, v + n);
        r.a.assign(a, a + n);
        for (std::size_t k = 0; k < n; ++k) {
            r.q[k] = {q[k], step};
            r.first();
            r.q[k] = q[k];
            r.page(r.by_q, k, out);
            r.page(r.by_v, k, out + 2 * cube);
            r.page(r.mass, k, out + 3 * cube);
            r.v[k] = {v[k], step};
            r.first();
            r.v[k] = v[k];
            r.page(r.by_v, k, out + cube);
        }
    }
}
}
