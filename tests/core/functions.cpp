// Tests every function of the core without Python, for emulated processors, with every compiled instruction
// set: a state must have the same bits alone and in lanes. Prints what is wrong, and fails. Prints a line of
// numbers for each result, to compare with another processor's.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "robots.hpp"

namespace {

using namespace dtau;

constexpr int states = 11;  // whole groups of lanes, and an incomplete one

// A tree with at least one joint of each kind, in a chain and in branches.
Robot every_joint(const char* name, JointKind root, bool mimic) {
    std::vector<BodyDescription> all;
    for (int i = 0; i < 11; ++i) {
        const JointKind kind = i == 0  ? root
                               : i < 8 ? static_cast<JointKind>((i - 1) % joint_kinds)
                                       : JointKind::revolute;
        const bool follows = mimic && i == 10;  // the joint before it
        all.push_back(body(kind == JointKind::free && i > 0 ? JointKind::revolute : kind, i,
                           i == 8 ? 0 : i - 1, follows ? 9 : -1));
    }
    return {name, all, {7, 10, 4}};
}

// Prints the sum of magnitudes, the sum and a weighted sum of each result. Returns false if bits differ or
// numbers are not finite.
bool right(const Function& function, const Robot& robot) {
    const Signature& s = function.signature;
    const Tree& tree = robot.compiled.tree();
    const std::vector<char> prescribed(tree.independent.n, true);
    Options options;
    options.contacts = &robot.contacts.constraints();
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
    const Numbers inputs = random_inputs(s, robot.compiled, options, states);
    Call in_lanes(function, robot.compiled, options, inputs, states);
    const Numbers& lanes = in_lanes.run();
    for (std::size_t o = 0; o < lanes.size(); ++o) {
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
    Call alone(function, robot.compiled, options, inputs, states, ScalarKind::alone);
    return same_bits(lanes, alone.run());
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
    options.contacts = &twice.constraints();
    for (int g = 0; g < functions().ngroups; ++g)
        for (int k = 0; k < functions().groups[g]->count; ++k) {
            const Function function = functions().function(g, k);
            const Signature& s = function.signature;
            if (std::string(s.name) != "constrained_dynamics") continue;
            Numbers inputs = random_inputs(s, robot.compiled, options, states);
            for (int state = 0; state < states; ++state)
                inputs[s.active][2 * state + 1] = state == 6 || state == 9;
            for (const ScalarKind scalar : {ScalarKind::real, ScalarKind::alone}) {
                FirstFailure first;
                Call call(function, robot.compiled, options, inputs, states, scalar);
                call.job.failure = &first;
                call.run();
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
    const Robot robots[] = {every_joint("free", JointKind::free, false),
                            every_joint("fixed", JointKind::revolute, false),
                            every_joint("gantry", JointKind::prismatic, false),
                            every_joint("mimic", JointKind::free, true)};
    int wrong = 0, count = 0;
    for (const std::string& set : instruction_sets()) {
        use_instruction_set(set);
        bits.seed(1);
        for (const Robot& robot : robots)
            for (int g = 0; g < functions().ngroups; ++g)
                for (int k = 0; k < functions().groups[g]->count; ++k) {
                    const Function function = functions().function(g, k);
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
