// Schedules a tape: Plan() marks the live operations, absorbs products into sums, cuts pieces, and
// assigns memory to the temporaries between pieces (allot).
#include "codegen/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "batch/interruption.hpp"

namespace dtau {

Plan::Plan(const Tape& tape, const std::vector<NamedNumbers>& inputs,
           const std::vector<NamedNumbers>& outputs, int piece_size)
    : nodes(tape.nodes()),
      live(nodes.size()),
      absorbed(nodes.size()),
      origin(nodes.size(), none),
      piece(nodes.size(), none),
      slot(nodes.size(), none),
      ninputs_(static_cast<int>(inputs.size())),
      noutputs_(static_cast<int>(outputs.size())),
      first_target(nodes.size(), none) {
    for (int i = 0; i < ninputs_; ++i)
        for (std::size_t k = 0; k < inputs[i].numbers.size(); ++k) {
            origin.at(node_index(inputs[i].numbers[k])) = static_cast<std::uint32_t>(places.size());
            places.push_back({i, k});
        }
    mark(outputs);
    cut(static_cast<std::size_t>(std::max(piece_size, 1)));
    allot();
}

void Plan::mark(const std::vector<NamedNumbers>& outputs) {
    for (int o = 0; o < noutputs_; ++o)
        for (std::size_t k = outputs[o].numbers.size(); k-- > 0;) {
            const double x = outputs[o].numbers[k];
            if (!is_node(x)) continue;
            const std::uint32_t n = node_index(x);
            if (n >= nodes.size())
                throw std::logic_error("expected numbers of this tape, got one of another tape");
            live[n] = true;
            next_target.push_back(first_target[n]);
            first_target[n] = static_cast<std::uint32_t>(target.size());
            target.push_back({ninputs_ + o, k});
        }
    for (std::size_t k = nodes.size(); k-- > 0;) {
        check_interruption();
        if (live[k] && nodes[k].operation != Operation::less)
            operands(nodes[k], [&](std::uint32_t n) { live[n] = true; });
    }
    absorb();
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        if (!live[n] || absorbed[n]) continue;
        if (!is_input(n))
            order.push_back(n);
        else if (origin[n] == none)
            throw std::logic_error("expected every input of the tape in an argument");
    }
}

void Plan::absorb() {
    std::vector<int> uses(nodes.size(), 0);
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        check_interruption();
        if (first_target[n] != none) uses[n] += 2;
        for (int k = 0; live[n] && k < operand_count(nodes[n].operation); ++k)
            if (is_node(nodes[n].operand[k])) ++uses[node_index(nodes[n].operand[k])];
    }
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        check_interruption();
        const Operation operation = nodes[n].operation;
        if (!live[n] || (operation != Operation::add && operation != Operation::subtract)) continue;
        for (int k = 2; k-- > 0;) {
            const double x = nodes[n].operand[k];
            if (!is_node(x) || uses[node_index(x)] != 1 ||
                nodes[node_index(x)].operation != Operation::multiply)
                continue;
            absorbed[node_index(x)] = true;
            break;  // of two products only one can be absorbed
        }
    }
}

void Plan::cut(std::size_t size) {
    const std::size_t count = order.size(),
                      all = std::max<std::size_t>((count + size - 1) / size, 1);
    for (std::size_t p = 0; p < all; ++p) {
        Piece made = {count * p / all, count * (p + 1) / all, {}};
        std::vector<bool> used(ninputs_ + noutputs_);
        for (std::size_t k = made.begin; k < made.end; ++k) {
            check_interruption();
            const std::uint32_t n = order[k];
            piece[n] = static_cast<std::uint32_t>(p);
            operands(nodes[n], [&](std::uint32_t m) {
                if (is_input(m)) used[places[origin[m]].argument] = true;
            });
            targets(n, [&](const Place& place) { used[place.argument] = true; });
        }
        for (int a = 0; a < ninputs_ + noutputs_; ++a)
            if (used[a]) made.arguments.push_back(a);
        pieces.push_back(std::move(made));
    }
}

// Assigns memory to numbers that later pieces read, until the last piece that reads them.
void Plan::allot() {
    std::vector<std::uint32_t> last(nodes.size(), 0), free;
    for (std::uint32_t n : order) {
        check_interruption();
        operands(nodes[n], [&](std::uint32_t m) { last[m] = std::max(last[m], piece[n]); });
    }
    std::vector<std::vector<std::uint32_t>> ending(pieces.size());
    for (std::size_t p = 0; p < pieces.size(); ++p) {
        for (std::size_t k = pieces[p].begin; k < pieces[p].end; ++k) {
            check_interruption();
            const std::uint32_t n = order[k];
            if (last[n] <= p) continue;
            if (free.empty()) free.push_back(static_cast<std::uint32_t>(memory++));
            slot[n] = free.back();
            free.pop_back();
            ending[last[n]].push_back(slot[n]);
        }
        free.insert(free.end(), ending[p].begin(), ending[p].end());
    }
}

}  // namespace dtau
