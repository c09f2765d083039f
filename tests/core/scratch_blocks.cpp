// Tests that results do not depend on the block of scratch memory that the calls before left to a thread: every
// function, alone and in lanes, with blocks that are too small for its workspace, of all sizes. A workspace that
// begins in such a block and writes beyond it ends the program, which names the function and the size.
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "batch/scratch.hpp"
#include "robots.hpp"

namespace {

using namespace dtau;

char running[300];  // what a signal handler prints

[[noreturn]] void crashed(int) {
    std::fputs(running, stderr);
    std::_Exit(1);
}

// The options of a call: the defaults, or others that take further memory.
struct Words {
    const char* name;
    int order;  // of time derivatives
    bool others;
    bool contacts;  // where they are optional
    bool inputs;    // the optional ones

    Options options(const Signature& s, const Robot& robot, const bool* prescribed) const {
        const Tree& tree = robot.compiled.tree();
        Options options;
        options.driven = {tree.nactuated, tree.actuated};
        if (contacts || !s.optional_contacts) options.contacts = &robot.contacts.constraints();
        bool stacked = place(s, Option::order) >= 0;
        for (int i = 0; i < s.ninputs; ++i) stacked |= s.inputs[i].rows != not_stacked;
        if (stacked) options.order = order;
        if (place(s, Option::frames) >= 0)
            options.frames = robot.frames.data(), options.nframes = others ? 2 : 1;
        if (place(s, Option::prescribed) >= 0) options.prescribed = prescribed;
        options.regularization = 0.1;  // rows may depend on each other
        if (!others) return options;
        options.axes = options.wrench_axes = Axes::world;
        options.acceleration = Acceleration::classical;
        options.integrator = Integrator::rk4;
        options.symmetric = options.joint_parameters = true;
        if (place(s, Option::layout) >= 0) options.layout = Layout::pattern;
        options.forces = place(s, Option::forces) >= 0 && options.contacts;
        return options;
    }
};

// Returns whether the results are as in memory that fits, whatever the size of the block at hand.
bool right(const Function& function, const Robot& robot, const Words& words, int states) {
    const Signature& s = function.signature;
    const int n = robot.compiled.tree().independent.n;
    std::vector<char> prescribed(n);
    for (int k = 0; k < n; ++k) prescribed[k] = k % 2;
    const Options options =
        words.options(s, robot, reinterpret_cast<const bool*>(prescribed.data()));
    Numbers inputs = random_inputs(s, robot.compiled, options, states);
    for (int i = 0; i < s.ninputs; ++i)
        if (s.inputs[i].optional && !words.inputs) inputs[i].clear();
    const int active = s.active;
    for (int state = 0; active >= 0 && words.others && !inputs[active].empty() && state < states;
         ++state)
        inputs[active][2 * state + state % 2] = 0.0;
    Call call(function, robot.compiled, options, inputs, states);
    const std::size_t needed = call.scratch_bytes();
    const auto with_block = [&](std::size_t size) -> const Numbers& {
        std::snprintf(running, sizeof running, "%s, %s, %s, %d states, block of %zu bytes of %zu\n",
                      robot.name.c_str(), s.name, words.name, states, size, needed);
        const ScratchBlocks blocks(1, size);
        const LentScratch lent(blocks);
        return call.run();
    };
    const Numbers expected = with_block(needed);
    bool right = true;
    for (const std::vector<double>& result : expected)
        for (const double x : result) right &= std::isfinite(x);
    // The same constructors serve lanes, so a hundred sizes suffice there.
    const std::size_t few = states > 1 ? needed / scratch_alignment / 100 + 1 : 1;
    for (std::size_t size = 0; size < needed && right; size += few * scratch_alignment)
        right &= same_bits(with_block(size), expected);
    if (!right) std::fputs(running, stderr);
    return right;
}

}  // namespace

int main() {
    for (const int signal : {SIGSEGV, SIGILL, SIGABRT}) std::signal(signal, crashed);
    const Robot robots[] = {{"spherical",
                             {body(JointKind::revolute, 0, -1), body(JointKind::spherical, 1, 0)},
                             {1, 1, 0}},
                            {"mimic",
                             {body(JointKind::revolute, 0, -1), body(JointKind::prismatic, 1, 0),
                              body(JointKind::prismatic, 2, 1, 1)},
                             {2, 2, 0}}};
    const Words all[] = {{"defaults", 0, false, false, false},
                         {"other words", 2, true, false, true},
                         {"defaults, contacts", 0, false, true, false},
                         {"other words, contacts", 2, true, true, true}};
    int wrong = 0, count = 0;
    for (const std::string& set : instruction_sets()) {
        use_instruction_set(set);
        bits.seed(1);
        for (const Robot& robot : robots)
            for (int g = 0; g < functions().ngroups; ++g)
                for (int k = 0; k < functions().groups[g]->count; ++k)
                    for (const Words& words : all) {
                        const Function function = functions().function(g, k);
                        if (words.contacts && !function.signature.optional_contacts) continue;
                        for (const int states : {1, functions().lanes}) {
                            ++count;
                            wrong += !right(function, robot, words, states);
                        }
                    }
    }
    std::fprintf(stderr, "%d calls, %d wrong\n", count, wrong);
    return wrong > 0;
}
