// Declares Model, a robot from a file of Python's Model.save.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <dtau.h>

namespace dtau {

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

}  // namespace dtau
