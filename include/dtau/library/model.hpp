// Declares Model, a robot from a file of Python's Model.save or of `dtau convert`.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dtau.h>

namespace dtau {

struct CompiledModel;  // src/library

// A moving joint. A mimic joint has the entries of the joint that it mimics.
struct Joint {
    int index;  // among the joints, and of the body that it carries among the bodies
    int q, nq;  // its first entry in a configuration, and how many it has
    int v, nv;  // the same in a velocity
};

// A robot, with the numbers and orders of Python's Model. Copies share one robot, which never changes:
// any thread may use it.
class DTAU_API Model {
  public:
    // Reads a file of Python's Model.save or of `dtau convert`. Throws std::runtime_error, with a
    // message that names the file, if it cannot be read, is truncated, damaged or of another version.
    static Model load(const std::string& path);

    const std::string& name() const;
    int nq() const;
    int nv() const;
    int nbodies() const;
    const std::vector<std::string>& joints() const;  // that move, mimic joints too
    const std::vector<std::string>& bodies() const;  // links that move, in the order of the joints
    const std::vector<std::string>& frames() const;  // all links, moving or fixed

    // A joint by its name; the indices of a body and of a frame. Throw std::invalid_argument if there
    // is none: the message has names that come close.
    const Joint& joint(std::string_view name) const;
    int body(std::string_view name) const;
    int frame(std::string_view name) const;

    // In radians or meters and their units per second, N m or N; infinite without limits.
    const std::vector<double>& lower_limits() const;     // (nq)
    const std::vector<double>& upper_limits() const;     // (nq)
    const std::vector<double>& velocity_limits() const;  // (nv) largest magnitudes
    const std::vector<double>& effort_limits() const;    // (nv)
    const std::vector<double>& masses()
        const;  // (nbodies) kg, with the links that are fixed to a body
    const std::array<double, 3>& gravity() const;  // m/s^2, in the world

  private:
    friend class Call;
    explicit Model(std::shared_ptr<const CompiledModel> compiled);
    std::shared_ptr<const CompiledModel> compiled_;
};

}  // namespace dtau
