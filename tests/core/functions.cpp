// Tests every function of the core without Python, for emulated processors, with every compiled instruction
// set: a state must have the same bits alone and in lanes. Prints what is wrong, and fails. Prints a line of
// numbers for each result, to compare with those of another processor.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "batch/first_failure.hpp"
#include "registry/dispatch.hpp"
#include "registry/signature.hpp"
#include "tree/compiled_contacts.hpp"

namespace {

using namespace dtau;

constexpr int states = 11;  // whole groups of lanes, and an incomplete one

std::mt19937_64 bits;

double random_number() {
    return std::ldexp(static_cast<double>(bits() >> 11), -52) - 1.0;  // from -1 to 1
}

std::array<double, 9> turned(double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return {c, -s, 0, s, c, 0, 0, 0, 1};
}

// A tree with at least one joint of each kind, in a chain and in branches.
std::vector<BodyDescription> bodies(JointKind root, bool mimic) {
    std::vector<BodyDescription> all;
    for (int i = 0; i < 11; ++i) {
        const JointKind kind = i == 0  ? root
                               : i < 8 ? static_cast<JointKind>((i - 1) % joint_kinds)
                                       : JointKind::revolute;
        const bool follows = mimic && i == 10;  // the joint before it
        all.push_back({kind == JointKind::free && i > 0 ? JointKind::revolute : kind,
                       i == 8 ? 0 : i - 1,
                       i,
                       follows ? 9 : -1,
                       follows ? -0.5 : 1.0,
                       follows ? 0.1 : 0.0,
                       turned(0.3 * i),
                       {0.1, 0.02 * i, 0.3},
                       {i % 3 ? 0.6 : 0.0, 0.0, i % 3 ? 0.8 : 1.0},
                       kind == JointKind::helical ? 0.2 : 0.0,
                       1.0 + 0.1 * i,
                       {0.1, -0.05, 0.2},
                       {0.10, 0.01, 0, 0.01, 0.12, 0, 0, 0, 0.09}});
    }
    return all;
}

struct Robot {
    std::string name;
    std::vector<BodyDescription> description;
    CompiledTree compiled;
    std::vector<Frame> frames;
    CompiledContacts contacts;

    Robot(const char* name, JointKind root, bool mimic)
        : name(name),
          description(bodies(root, mimic)),
          compiled(description, std::vector<std::string>(description.size(), "joint"), {},
                   std::vector<double>(dofs(), 0.01), std::vector<double>(dofs(), 0.1),
                   {0, 0, -9.81}),
          frames(2, Frame{4, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0.1, 0.2, 0.3}}),
          contacts(compiled, {{{7, turned(0.4), {0.1, 0.0, 0.2}},
                               {-1, turned(0.0), {}},
                               6,
                               -1,
                               Axes::mixed,
                               true,
                               9.0,
                               6.0,
                               true},
                              {{10, turned(0.2), {0.0, 0.1, 0.0}},
                               {4, turned(0.1), {}},
                               3,
                               -1,
                               Axes::body,
                               false,
                               0.0,
                               6.0,
                               false}}) {}

    int dofs() const {
        int n = 0;
        for (const BodyDescription& body : description) n += traits(body.kind).nv;
        return n;
    }
};

// Random numbers for all states; for configurations, with unit quaternions.
std::vector<double> numbers(const Quantity* quantity, int size, const CompiledTree& compiled) {
    std::vector<double> x(static_cast<std::size_t>(size) * states);
    for (double& number : x) number = *quantity == Quantity::contacts ? 1.0 : random_number();
    for (int state = 0; state < states && *quantity == Quantity::q; ++state)
        for (const auto& [first, body] : compiled.quaternions()) {
            double* quaternion = &x[state * size + first];
            const double norm = std::hypot(std::hypot(quaternion[0], quaternion[1]),
                                           std::hypot(quaternion[2], quaternion[3]));
            for (int k = 0; k < 4; ++k) quaternion[k] /= norm;
        }
    return x;
}

using Numbers = std::vector<std::vector<double>>;  // of each array, state after state

Numbers results(const Function& function, const Robot& robot, const Options& options,
                const Numbers& inputs, ScalarKind scalar, FirstFailure* failure = nullptr) {
    const Signature& s = function.signature;
    Job job(s.ninputs, s.noutputs);
    job.scalar = scalar;
    job.naxes = 1, job.shape[0] = job.count = states;
    job.options = &options;
    job.failure = failure;
    for (int i = 0; i < s.ninputs; ++i) {
        Input& input = job.inputs[i];
        input.size = static_cast<int>(inputs[i].size() / states);
        input.data = reinterpret_cast<const char*>(inputs[i].data());
        input.spacing = sizeof(double);
        input.stride[0] = input.size * static_cast<std::ptrdiff_t>(sizeof(double));
        input.mimic_role = s.inputs[i].quantity->as_input;
        if (s.inputs[i].rows != not_stacked) input.stacked = options.order + s.inputs[i].rows;
    }
    Shape shapes[Job::max_outputs];
    const Tree& tree = robot.compiled.tree();
    describe_outputs(job, s, {tree, options, false}, shapes);
    Numbers all;
    for (int o = 0; o < s.noutputs; ++o) {
        all.emplace_back(job.outputs[o].size * states);
        job.outputs[o].data = reinterpret_cast<char*>(all[o].data());
    }
    functions().run(function, tree, job, 0, states);
    return all;
}

// Prints the sum of magnitudes, the sum and a weighted sum of each result. Returns false if bits differ or
// numbers are not finite.
bool right(const Function& function, const Robot& robot) {
    const Signature& s = function.signature;
    const Tree& tree = robot.compiled.tree();
    const std::vector<char> prescribed(tree.independent.n, true);
    Options options;
    options.contacts = &robot.contacts.contacts();
    options.driven = {tree.nactuated, tree.actuated};
    for (int k = 0; k < s.narguments; ++k) {
        if (s.arguments[k].input >= 0) continue;
        const Option option = s.arguments[k].option;
        if (option == Option::order) options.order = 2;
        if (option == Option::forces) options.forces = true;
        if (option == Option::frames)
            options.frames = robot.frames.data(), options.nframes = int(robot.frames.size());
        if (option == Option::prescribed)
            options.prescribed = reinterpret_cast<const bool*>(prescribed.data());
    }
    Numbers inputs;
    for (int i = 0; i < s.ninputs; ++i) {
        const Shape core = core_shape(*s.inputs[i].quantity, {tree, options, false});
        int size = s.inputs[i].rows == not_stacked ? 1 : options.order + s.inputs[i].rows;
        for (int k = 0; k < core.ndim; ++k) size *= static_cast<int>(core.size[k]);
        inputs.push_back(numbers(s.inputs[i].quantity, size, robot.compiled));
    }
    const Numbers lanes = results(function, robot, options, inputs, ScalarKind::real);
    for (int o = 0; o < s.noutputs; ++o) {
        double magnitude = 0.0, sum = 0.0, weighted = 0.0;
        for (std::size_t k = 0; k < lanes[o].size(); ++k) {
            magnitude += std::fabs(lanes[o][k]);
            sum += lanes[o][k];
            weighted += std::sin(static_cast<double>(k)) * lanes[o][k];
        }
        std::printf("%s %s %s %.17g %.17g %.17g\n", robot.name.c_str(), s.name, s.outputs[o].name,
                    magnitude, sum, weighted);
        if (!std::isfinite(magnitude)) return false;
    }
    if (!functions().has(function, ScalarKind::alone)) return true;  // there are no lanes
    const Numbers alone = results(function, robot, options, inputs, ScalarKind::alone);
    for (int o = 0; o < s.noutputs; ++o)
        if (std::memcmp(lanes[o].data(), alone[o].data(), lanes[o].size() * sizeof(double)))
            return false;
    return true;
}

// Two of the states have the same contact twice: the job must name the first of these states, and the row.
bool names_failures(const Robot& robot) {
    const ContactDescription contact = {{7, turned(0.4), {0.1, 0.0, 0.2}},
                                        {-1, turned(0.0), {}},
                                        3,
                                        -1,
                                        Axes::mixed,
                                        false,
                                        0.0,
                                        6.0,
                                        false};
    const CompiledContacts twice(robot.compiled, {contact, contact});
    Options options;
    options.contacts = &twice.contacts();
    for (int g = 0; g < functions().ngroups; ++g)
        for (int k = 0; k < functions().groups[g]->count; ++k) {
            const Function& function = functions().groups[g]->functions[k];
            const Signature& s = function.signature;
            if (std::string(s.name) != "constrained_dynamics") continue;
            Numbers inputs;
            for (int i = 0; i < s.ninputs; ++i) {
                const Shape core =
                    core_shape(*s.inputs[i].quantity, {robot.compiled.tree(), options, false});
                int size = 1;
                for (int d = 0; d < core.ndim; ++d) size *= static_cast<int>(core.size[d]);
                inputs.push_back(numbers(s.inputs[i].quantity, size, robot.compiled));
                if (*s.inputs[i].quantity != Quantity::contacts) continue;
                for (int state = 0; state < states; ++state)
                    inputs[i][2 * state + 1] = state == 6 || state == 9;
            }
            for (const ScalarKind scalar : {ScalarKind::real, ScalarKind::alone}) {
                FirstFailure first;
                results(function, robot, options, inputs, scalar, &first);
                const Failure& failure = first.failure();
                if (first.state() != 6 || failure.cause != Failure::Cause::dependent_row ||
                    failure.count != 1 || failure.places[0] != 3 || failure.stage != 0)
                    return false;
            }
            return true;
        }
    return false;
}

}  // namespace

int main() {
    const Robot robots[] = {{"free", JointKind::free, false},
                            {"fixed", JointKind::revolute, false},
                            {"gantry", JointKind::prismatic, false},
                            {"mimic", JointKind::free, true}};
    int wrong = 0, count = 0;
    for (const std::string& set : instruction_sets()) {
        use_instruction_set(set);
        bits.seed(1);
        for (const Robot& robot : robots)
            for (int g = 0; g < functions().ngroups; ++g)
                for (int k = 0; k < functions().groups[g]->count; ++k) {
                    const Function& function = functions().groups[g]->functions[k];
                    ++count;
                    if (right(function, robot)) continue;
                    ++wrong;
                    std::fprintf(stderr, "wrong: %s, %s, %s\n", set.c_str(), robot.name.c_str(),
                                 function.signature.name);
                }
        for (const Robot& robot : robots) {
            if (names_failures(robot)) continue;
            ++wrong;
            std::fprintf(stderr, "wrong: failures, %s, %s\n", set.c_str(), robot.name.c_str());
        }
        std::fprintf(stderr, "%s: %d lanes\n", set.c_str(), functions().lanes);
    }
    std::fprintf(stderr, "%d functions, %d wrong\n", count, wrong);
    return wrong > 0;
}
