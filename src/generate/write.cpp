#include "generate/write.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace dtau {
namespace {

constexpr std::uint32_t none = 0xffffffff;

// Where a number comes from or goes to: an entry of an argument.
struct Place {
    int argument;
    std::size_t entry;
};

// Operations that results need, in the order in which the algorithm does them, cut into pieces.
class Writer {
  public:
    Writer(const Tape& tape, const CFunction& function)
        : nodes_(tape.nodes()), f_(function), place_(nodes_.size(), none), live_(nodes_.size()) {
        for (std::size_t i = 0; i < f_.inputs.size(); ++i)
            for (std::size_t k = 0; k < f_.inputs[i].numbers.size(); ++k) {
                place_[node_index(f_.inputs[i].numbers[k])] =
                    static_cast<std::uint32_t>(places_.size());
                places_.push_back({static_cast<int>(i), k});
            }
        mark();
        cut();
        allot();
    }

    WrittenC write() {
        WrittenC result = {"", 0, 0, memory_, pieces_.size()};
        for (std::uint32_t k : order_) {
            const Operation operation = nodes_[k].operation;
            const bool turn = operation == Operation::sine || operation == Operation::cosine;
            ++(turn ? result.sines : result.operations);
        }
        text_.reserve(order_.size() * 48);
        if (pieces_.size() > 1)
            for (std::size_t p = 0; p < pieces_.size(); ++p) write_piece(p);
        head(f_.name, all_arguments());
        write_known();
        if (pieces_.size() == 1) write_operations(0);
        if (pieces_.size() > 1) {
            text_ += "    real w[" + std::to_string(std::max<std::size_t>(memory_, 1)) + "];\n";
            for (std::size_t p = 0; p < pieces_.size(); ++p) {
                text_ += "    " + f_.name + "_" + std::to_string(p + 1) + "(";
                for (int a : pieces_[p].arguments) text_ += argument(a).name + ", ";
                text_ += "w);\n";
            }
        }
        text_ += "}\n";
        result.text = std::move(text_);
        return result;
    }

  private:
    struct Piece {
        std::size_t begin, end;      // of the order
        std::vector<int> arguments;  // inputs, then outputs
    };

    const NamedNumbers& argument(int a) const {
        const int n = static_cast<int>(f_.inputs.size());
        return a < n ? f_.inputs[a] : f_.outputs[a - n];
    }
    bool is_input(int a) const { return a < static_cast<int>(f_.inputs.size()); }
    std::vector<int> all_arguments() const {
        std::vector<int> all(f_.inputs.size() + f_.outputs.size());
        for (std::size_t a = 0; a < all.size(); ++a) all[a] = static_cast<int>(a);
        return all;
    }

    // The operands that are nodes: a condition is written where it is used, and is none.
    template <class Visit>
    void operands(const Node& node, const Visit& visit) const {
        for (int k = 0; k < operand_count(node.operation); ++k) {
            const double x = node.operand[k];
            if (!is_node(x)) continue;
            if (nodes_[node_index(x)].operation == Operation::less)
                operands(nodes_[node_index(x)], visit);
            else
                visit(node_index(x));
        }
    }

    void mark() {
        const int first = static_cast<int>(f_.inputs.size());
        goes_.assign(nodes_.size(), none);
        for (std::size_t o = 0; o < f_.outputs.size(); ++o)
            for (std::size_t k = f_.outputs[o].numbers.size(); k-- > 0;) {
                const double x = f_.outputs[o].numbers[k];
                if (!is_node(x)) continue;
                const std::uint32_t n = node_index(x);
                if (n >= nodes_.size()) throw std::logic_error("a number of another tape");
                live_[n] = true;
                next_.push_back(goes_[n]);
                goes_[n] = static_cast<std::uint32_t>(targets_.size());
                targets_.push_back({first + static_cast<int>(o), k});
            }
        for (std::size_t k = nodes_.size(); k-- > 0;)
            if (live_[k] && nodes_[k].operation != Operation::less)
                operands(nodes_[k], [&](std::uint32_t n) { live_[n] = true; });
        for (std::size_t k = 0; k < nodes_.size(); ++k)
            if (live_[k] && nodes_[k].operation == Operation::input && place_[k] == none)
                throw std::logic_error("an input that is no argument");
            else if (live_[k] && nodes_[k].operation != Operation::input)
                order_.push_back(static_cast<std::uint32_t>(k));
    }

    void cut() {
        const std::size_t count = order_.size(), size = static_cast<std::size_t>(f_.piece);
        const std::size_t pieces = std::max<std::size_t>((count + size - 1) / size, 1);
        piece_.assign(nodes_.size(), none);
        for (std::size_t p = 0; p < pieces; ++p) {
            Piece piece = {count * p / pieces, count * (p + 1) / pieces, {}};
            std::vector<bool> used(f_.inputs.size() + f_.outputs.size());
            for (std::size_t k = piece.begin; k < piece.end; ++k) {
                const std::uint32_t n = order_[k];
                piece_[n] = static_cast<std::uint32_t>(p);
                operands(nodes_[n], [&](std::uint32_t m) {
                    if (nodes_[m].operation == Operation::input)
                        used[places_[place_[m]].argument] = true;
                });
                for (std::uint32_t t = goes_[n]; t != none; t = next_[t])
                    used[targets_[t].argument] = true;
            }
            for (std::size_t a = 0; a < used.size(); ++a)
                if (used[a]) piece.arguments.push_back(static_cast<int>(a));
            pieces_.push_back(piece);
        }
    }

    // Numbers that later pieces need get a place in memory, until the last piece that needs them.
    void allot() {
        std::vector<std::uint32_t> last(nodes_.size(), 0);
        for (std::uint32_t n : order_)
            operands(nodes_[n], [&](std::uint32_t m) { last[m] = std::max(last[m], piece_[n]); });
        slot_.assign(nodes_.size(), none);
        std::vector<std::vector<std::uint32_t>> ending(pieces_.size());
        std::vector<std::uint32_t> free;
        for (std::size_t p = 0; p < pieces_.size(); ++p) {
            for (std::size_t k = pieces_[p].begin; k < pieces_[p].end; ++k) {
                const std::uint32_t n = order_[k];
                if (last[n] <= p) continue;
                if (free.empty()) free.push_back(static_cast<std::uint32_t>(memory_++));
                slot_[n] = free.back();
                free.pop_back();
                ending[last[n]].push_back(slot_[n]);
            }
            free.insert(free.end(), ending[p].begin(), ending[p].end());
        }
    }

    void head(const std::string& name, const std::vector<int>& arguments, bool piece = false) {
        text_ += piece ? "static void " : "void ";
        text_ += name + "(";
        for (std::size_t k = 0; k < arguments.size(); ++k) {
            if (k > 0) text_ += ", ";
            text_ += is_input(arguments[k]) ? "const real *" : "real *";
            text_ += argument(arguments[k]).name;
        }
        text_ += piece ? (arguments.empty() ? "real *w) {\n" : ", real *w) {\n") : ") {\n";
    }

    // What does not depend on operations: constants, and inputs that are results.
    void write_known() {
        for (std::size_t o = 0; o < f_.outputs.size(); ++o) {
            const NamedNumbers& out = f_.outputs[o];
            const std::size_t zeros =
                static_cast<std::size_t>(std::count(out.numbers.begin(), out.numbers.end(), 0.0));
            const bool loop = zeros > 4 || f_.into_zeros;
            if (loop && !f_.into_zeros)
                text_ += "    for (int k = 0; k < " + std::to_string(out.numbers.size()) +
                         "; ++k) " + out.name + "[k] = NUMBER(" + literal(0.0) + ");\n";
            for (std::size_t k = 0; k < out.numbers.size(); ++k) {
                const double x = out.numbers[k];
                const bool given =
                    is_node(x) && nodes_[node_index(x)].operation == Operation::input;
                if ((is_node(x) && !given) || (loop && x == 0.0)) continue;
                text_ += "    " + out.name + "[" + std::to_string(k) + "] = ";
                if (!given) text_ += "NUMBER(" + literal(x) + ")";
                if (given && is_negative(x)) text_ += "-";
                if (given) text_ += entry(places_[place_[node_index(x)]]);
                text_ += ";\n";
            }
        }
        std::vector<bool> used(f_.inputs.size());
        for (std::size_t k = 0; k < nodes_.size(); ++k)
            if (live_[k] && nodes_[k].operation == Operation::input)
                used[places_[place_[k]].argument] = true;
        for (std::size_t i = 0; i < used.size(); ++i)
            if (!used[i]) text_ += "    (void)" + f_.inputs[i].name + ";\n";
        for (const NamedNumbers& out : f_.outputs)
            if (out.numbers.empty()) text_ += "    (void)" + out.name + ";\n";
    }

    void write_piece(std::size_t p) {
        head(f_.name + "_" + std::to_string(p + 1), pieces_[p].arguments, true);
        memory_is_used_ = false;
        write_operations(p);
        if (!memory_is_used_) text_ += "    (void)w;\n";
        text_ += "}\n";
    }

    void write_operations(std::size_t p) {
        known_.assign(nodes_.size(), false);
        for (std::size_t k = pieces_[p].begin; k < pieces_[p].end; ++k) {
            const std::uint32_t n = order_[k];
            operands(nodes_[n], [&](std::uint32_t m) { bring(m); });
            if (!known_[n]) write_operation(n, p);
        }
    }

    // A number of another piece, or of the arguments, into a variable.
    void bring(std::uint32_t m) {
        if (known_[m]) return;
        known_[m] = true;
        text_ += "    const real t" + std::to_string(m) + " = ";
        if (nodes_[m].operation == Operation::input) {
            text_ += entry(places_[place_[m]]);
        } else {
            text_ += "w[" + std::to_string(slot_[m]) + "]";
            memory_is_used_ = true;
        }
        text_ += ";\n";
    }

    void write_operation(std::uint32_t n, std::size_t p) {
        if (const std::uint32_t pair = other_turn(n, p); pair != none) {
            const bool sine = nodes_[n].operation == Operation::sine;
            const std::string s = variable(sine ? n : pair), c = variable(sine ? pair : n);
            text_ += "    real " + s + ", " + c + ";\n    SINCOS(" + number(nodes_[n].operand[0]) +
                     ", " + s + ", " + c + ");\n";
            leave(n), leave(pair);
            return;
        }
        text_ += "    const real " + variable(n) + " = " + expression(nodes_[n]) + ";\n";
        leave(n);
    }

    // The cosine of the same angle for a sine, and the other way round, if it is in the same piece.
    std::uint32_t other_turn(std::uint32_t n, std::size_t p) const {
        const Operation operation = nodes_[n].operation;
        if (operation != Operation::sine && operation != Operation::cosine) return none;
        for (std::size_t k = n > 2 ? n - 2 : 0; k < n + std::size_t(3) && k < nodes_.size(); ++k)
            if (k != n && live_[k] && piece_[k] == p && !known_[k] &&
                (nodes_[k].operation == Operation::sine ||
                 nodes_[k].operation == Operation::cosine) &&
                bits_of(nodes_[k].operand[0]) == bits_of(nodes_[n].operand[0]))
                return static_cast<std::uint32_t>(k);
        return none;
    }

    // To memory and to results.
    void leave(std::uint32_t n) {
        known_[n] = true;
        if (slot_[n] != none) {
            text_ += "    w[" + std::to_string(slot_[n]) + "] = " + variable(n) + ";\n";
            memory_is_used_ = true;
        }
        for (std::uint32_t t = goes_[n]; t != none; t = next_[t]) {
            const Place& to = targets_[t];
            text_ += "    " + entry(to) + " = ";
            if (is_negative(argument(to.argument).numbers[to.entry])) text_ += "-";
            text_ += variable(n) + ";\n";
        }
    }

    std::string variable(std::uint32_t n) const { return "t" + std::to_string(n); }
    std::string entry(const Place& place) const {
        return argument(place.argument).name + "[" + std::to_string(place.entry) + "]";
    }

    std::string literal(double x) const {
        if (std::isnan(x)) return "NAN";
        if (std::isinf(x)) return x > 0.0 ? "HUGE_VAL" : "-HUGE_VAL";
        char digits[40];
        const auto end = f_.single_precision
                             ? std::to_chars(digits, digits + 40, static_cast<float>(x))
                             : std::to_chars(digits, digits + 40, x);
        std::string text(digits, end.ptr);
        if (text.find_first_of(".e") == std::string::npos) text += ".0";
        return f_.single_precision ? text + "f" : text;
    }
    std::string number(double x) const {
        if (!is_node(x)) return x < 0.0 ? "(" + literal(x) + ")" : literal(x);
        const std::string name = variable(node_index(x));
        return is_negative(x) ? "-" + name : name;
    }
    std::string chosen(double x) const {
        return is_node(x) ? number(x) : "NUMBER(" + literal(x) + ")";
    }

    std::string expression(const Node& node) const {
        const double* x = node.operand;
        const auto three = [&](const char* name) {
            return name + ("(" + number(x[0])) + ", " + number(x[1]) + ", " + number(x[2]) + ")";
        };
        switch (node.operation) {
            case Operation::add:
                return number(x[0]) + " + " + number(x[1]);
            case Operation::subtract:
                return number(x[0]) + " - " + number(x[1]);
            case Operation::multiply:
                return number(x[0]) + " * " + number(x[1]);
            case Operation::divide:
                return number(x[0]) + " / " + number(x[1]);
            case Operation::multiply_add:
                return three("FMA");
            case Operation::subtract_product:
                return three("FNMA");
            case Operation::square_root:
                return "SQRT(" + number(x[0]) + ")";
            case Operation::sine:
                return "SIN(" + number(x[0]) + ")";
            case Operation::cosine:
                return "COS(" + number(x[0]) + ")";
            case Operation::absolute:
                return "FABS(" + number(x[0]) + ")";
            case Operation::within_half_turn:
                return "REMAINDER(" + number(x[0]) + ", " + literal(6.28318530717958647692) + ")";
            case Operation::select: {
                const Node& condition = nodes_[node_index(x[0])];
                return "SELECT(" + number(condition.operand[0]) + " < " +
                       number(condition.operand[1]) + ", " + chosen(x[1]) + ", " + chosen(x[2]) +
                       ")";
            }
            case Operation::less:
            case Operation::input:
                break;
        }
        throw std::logic_error("no expression");
    }

    const std::vector<Node>& nodes_;
    const CFunction& f_;
    std::vector<std::uint32_t> place_;  // of inputs, in places_
    std::vector<Place> places_;
    std::vector<bool> live_, known_;
    std::vector<std::uint32_t> goes_, next_;  // first target of a node, and the next one
    std::vector<Place> targets_;
    std::vector<std::uint32_t> order_, piece_, slot_;
    std::vector<Piece> pieces_;
    std::size_t memory_ = 0;
    bool memory_is_used_ = false;
    std::string text_;
};

}  // namespace

WrittenC write_c(const Tape& tape, const CFunction& function) {
    return Writer(tape, function).write();
}

}  // namespace dtau
