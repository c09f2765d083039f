// Writes a tape as the text of a C function: write_c(). It writes one C statement for each
// operation, in the order and the pieces of a Plan.
#include "codegen/write.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "batch/interruption.hpp"

namespace dtau {
namespace {

bool is_trig(Operation operation) {
    return operation == Operation::sine || operation == Operation::cosine;
}

// Joins pieces of text.
template <class... Texts> std::string joined(const Texts&... texts) {
    std::string result;
    (result.append(std::string_view(texts)), ...);
    return result;
}

class Writer {
  public:
    Writer(const Tape& tape, const CFunction& function)
        : f_(function),
          plan_(tape, function.inputs, function.outputs, function.piece),
          known_in_(plan_.nodes.size(), Plan::none) {}

    WrittenC write() {
        WrittenC result = {"", 0, 0, plan_.memory, unused_inputs()};
        for (std::uint32_t k : plan_.order)
            ++(is_trig(plan_.nodes[k].operation) ? result.sines : result.operations);
        text_.reserve(plan_.order.size() * 80);
        std::vector<int> all(f_.inputs.size() + f_.outputs.size());
        for (std::size_t a = 0; a < all.size(); ++a) all[a] = static_cast<int>(a);
        if (f_.lanes > 0)
            write_groups(all);
        else
            write_whole(all);
        result.text = std::move(text_);
        return result;
    }

  private:
    template <class... Texts> void put(const Texts&... texts) {
        (text_.append(std::string_view(texts)), ...);
    }

    std::string_view linkage() const {
        if (f_.is_device) return "__device__ ";
        return f_.is_static ? "static " : "";
    }
    const NamedNumbers& argument(int a) const {
        const int n = static_cast<int>(f_.inputs.size());
        return a < n ? f_.inputs[a] : f_.outputs[a - n];
    }
    std::string declared(const std::vector<int>& arguments) const {
        std::string text;
        for (int a : arguments) {
            const bool given = a < static_cast<int>(f_.inputs.size());
            text += joined(text.empty() ? "" : ", ", given ? "const real *" : "real *",
                           argument(a).name);
        }
        return text;
    }

    void write_whole(const std::vector<int>& all) {
        const bool cut = plan_.pieces.size() > 1;
        for (std::size_t p = 0; cut && p < plan_.pieces.size(); ++p) write_piece(p);
        put(linkage(), "void ", f_.name, "(", declared(all), f_.is_device ? ", size_t stride" : "",
            ") {\n");
        write_known();
        if (cut)
            call_pieces();
        else
            write_operations(0);
        put("}\n");
    }

    // Writes every piece for all groups before the next piece, so that its code is read from memory
    // once.
    void write_groups(const std::vector<int>& all) {
        put("static void ", piece_name(0), "(", declared(all), ", real *w) {\n    (void)w;\n");
        write_known();
        put("}\n");
        for (std::size_t p = 0; p < plan_.pieces.size(); ++p) write_piece(p);
        put(linkage(), "void ", f_.name, "(int groups, ", declared(all), ", real *w) {\n");
        for (std::size_t p = 0; p <= plan_.pieces.size(); ++p) {
            put("    for (int g = 0; g < groups; ++g)\n        ", piece_name(p), "(");
            for (int a : p == 0 ? all : plan_.pieces[p - 1].arguments)
                put(argument(a).name, " + g * ", std::to_string(stride(a)), ", ");
            put("w + g * ", std::to_string(plan_.memory), ");\n");
        }
        put("}\n");
    }
    // The numbers of an argument from group to group: results have whole vectors of them.
    std::size_t stride(int a) const {
        const std::size_t size = argument(a).numbers.size(),
                          lanes = static_cast<std::size_t>(f_.lanes);
        return a < static_cast<int>(f_.inputs.size()) ? size : (size + lanes - 1) / lanes * lanes;
    }

    // Writes the results that are constants or inputs.
    void write_known() {
        for (const NamedNumbers& out : f_.outputs) {
            const auto zeros = std::count(out.numbers.begin(), out.numbers.end(), 0.0);
            // A device writes each entry once: its memory is slower than its code.
            const bool in_a_loop = zeros > 4 && f_.lanes == 0 && !f_.is_device;
            if (in_a_loop)
                put("    for (int k = 0; k < ", std::to_string(out.numbers.size()), "; ++k) ",
                    out.name, "[k] = NUMBER(", literal(0.0), ");\n");
            for (std::size_t k = 0; k < out.numbers.size(); ++k) {
                const double x = out.numbers[k];
                const bool given = is_node(x) && plan_.is_input(node_index(x));
                if ((is_node(x) && !given) || (x == 0.0 && (in_a_loop || f_.lanes > 0))) continue;
                put("    ", out.name, index(k), " = ");
                if (given)
                    put(is_negative(x) ? "-" : "",
                        entry(plan_.places[plan_.origin[node_index(x)]]));
                else
                    put("NUMBER(", literal(x), ")");
                put(";\n");
            }
            if (out.numbers.empty()) put("    (void)", out.name, ";\n");
        }
        if (f_.is_device) put("    (void)stride;\n");
        for (const std::string& name : unused_inputs()) put("    (void)", name, ";\n");
    }

    std::vector<std::string> unused_inputs() const {
        std::vector<bool> used(f_.inputs.size());
        for (std::uint32_t n = 0; n < plan_.nodes.size(); ++n)
            if (plan_.live[n] && plan_.is_input(n))
                used[plan_.places[plan_.origin[n]].argument] = true;
        std::vector<std::string> unused;
        for (std::size_t i = 0; i < used.size(); ++i)
            if (!used[i]) unused.push_back(f_.inputs[i].name);
        return unused;
    }

    void call_pieces() {
        put("    real w[", std::to_string(std::max<std::size_t>(plan_.memory, 1)), "];\n");
        for (std::size_t p = 0; p < plan_.pieces.size(); ++p) {
            put("    ", piece_name(p + 1), "(");
            for (int a : plan_.pieces[p].arguments) put(argument(a).name, ", ");
            put(f_.is_device ? "stride, w);\n" : "w);\n");
        }
    }

    void write_piece(std::size_t p) {
        const std::string arguments = declared(plan_.pieces[p].arguments);
        put(f_.is_device ? "static __device__ __noinline__ void " : "static void ",
            piece_name(p + 1), "(", arguments, arguments.empty() ? "" : ", ",
            f_.is_device ? "size_t stride, " : "", "real *w) {\n");
        if (f_.is_device) put("    (void)stride;\n");
        memory_is_used_ = false;
        write_operations(p);
        put(memory_is_used_ ? "}\n" : "    (void)w;\n}\n");
    }

    void write_operations(std::size_t p) {
        piece_ = static_cast<std::uint32_t>(p);
        for (std::size_t k = plan_.pieces[p].begin; k < plan_.pieces[p].end; ++k) {
            check_interruption();
            const std::uint32_t n = plan_.order[k];
            plan_.operands(plan_.nodes[n], [&](std::uint32_t m) { bring(m); });
            if (!is_known(n)) write_operation(n);
        }
    }

    // Whether the piece being written has this number in a variable.
    bool is_known(std::uint32_t n) const { return known_in_[n] == piece_; }

    // Loads a number of another piece, or of an argument, into a variable.
    void bring(std::uint32_t m) {
        if (is_known(m)) return;
        known_in_[m] = piece_;
        put("    const real ", variable(m), " = ");
        if (plan_.is_input(m)) {
            put(entry(plan_.places[plan_.origin[m]]), ";\n");
        } else {
            put("w[", std::to_string(plan_.slot[m]), "];\n");
            memory_is_used_ = true;
        }
    }

    void write_operation(std::uint32_t n) {
        const Node& node = plan_.nodes[n];
        const std::uint32_t pair = is_trig(node.operation) ? other_trig(n) : Plan::none;
        if (pair == Plan::none) {
            put("    const real ", variable(n), " = ", expression(node), ";\n");
        } else {
            const bool sine = node.operation == Operation::sine;
            const std::string s = variable(sine ? n : pair), c = variable(sine ? pair : n);
            put("    real ", s, ", ", c, ";\n    SINCOS(", number(node.operand[0]), ", ", s, ", ",
                c, ");\n");
            leave(pair);
        }
        leave(n);
    }

    // The cosine that belongs to a sine, or the sine to a cosine, if it is in the same piece: the
    // tape has the two side by side.
    std::uint32_t other_trig(std::uint32_t n) const {
        for (const std::uint32_t k : {n - 1, n + 1})
            if (k < plan_.nodes.size() && plan_.live[k] && plan_.piece[k] == piece_ &&
                !is_known(k) && is_trig(plan_.nodes[k].operation) &&
                bits_of(plan_.nodes[k].operand[0]) == bits_of(plan_.nodes[n].operand[0]))
                return k;
        return Plan::none;
    }

    // Stores a node to the memory between pieces and to the results.
    void leave(std::uint32_t n) {
        known_in_[n] = piece_;
        if (plan_.slot[n] != Plan::none) {
            put("    w[", std::to_string(plan_.slot[n]), "] = ", variable(n), ";\n");
            memory_is_used_ = true;
        }
        plan_.targets(n, [&](const Plan::Place& to) {
            const bool negative = is_negative(argument(to.argument).numbers[to.entry]);
            put("    ", entry(to), negative ? " = -" : " = ", variable(n), ";\n");
        });
    }

    // Python refuses these names for other functions (codegen/names.py).
    std::string piece_name(std::size_t p) const {
        return joined(f_.name, "_piece", std::to_string(p));
    }
    std::string variable(std::uint32_t n) const { return joined("t", std::to_string(n)); }
    std::string index(std::size_t k) const {
        return joined("[", std::to_string(k), f_.is_device ? " * stride]" : "]");
    }
    std::string entry(const Plan::Place& place) const {
        return joined(argument(place.argument).name, index(place.entry));
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
        if (f_.single_precision) text += "f";
        return text;
    }
    std::string number(double x) const {
        if (!is_node(x)) return x < 0.0 ? joined("(", literal(x), ")") : literal(x);
        return joined(is_negative(x) ? "-" : "", variable(node_index(x)));
    }
    std::string chosen(double x) const {
        return is_node(x) ? number(x) : joined("NUMBER(", literal(x), ")");
    }

    bool is_absorbed(double x) const { return is_node(x) && plan_.absorbed[node_index(x)]; }
    // A fused multiply-add: product plus the other number.
    std::string sum(const char* name, double product, const std::string& other) const {
        const double* x = plan_.nodes[node_index(product)].operand;
        return joined(name, "(", number(x[0]), ", ", number(x[1]), ", ", other, ")");
    }

    std::string expression(const Node& node) const {
        const double* x = node.operand;
        const auto two = [&](const char* sign) { return joined(number(x[0]), sign, number(x[1])); };
        const auto call = [&](const char* name) { return joined(name, "(", number(x[0]), ")"); };
        const auto fused = [&](const char* name) {
            return joined(name, "(", number(x[0]), ", ", number(x[1]), ", ", number(x[2]), ")");
        };
        switch (node.operation) {
            case Operation::add:
                if (is_absorbed(x[0])) return sum("FMA", x[0], number(x[1]));
                return is_absorbed(x[1]) ? sum("FMA", x[1], number(x[0])) : two(" + ");
            case Operation::subtract:
                if (is_absorbed(x[0])) return sum("FMA", x[0], number(dtau::negated(x[1])));
                return is_absorbed(x[1]) ? sum("FNMA", x[1], number(x[0])) : two(" - ");
            case Operation::multiply: return two(" * ");
            case Operation::divide: return two(" / ");
            case Operation::multiply_add: return fused("FMA");
            case Operation::subtract_product: return fused("FNMA");
            case Operation::square_root: return call("SQRT");
            case Operation::sine: return call("SIN");
            case Operation::cosine: return call("COS");
            case Operation::hyperbolic_tangent: return call("TANH");
            case Operation::hyperbolic_secant: return call("SECH");
            case Operation::absolute: return call("FABS");
            case Operation::within_half_turn:
                return joined("REMAINDER(", number(x[0]), ", ", literal(6.28318530717958647692),
                              ")");
            case Operation::select: {
                const double* c = plan_.nodes[node_index(x[0])].operand;
                return joined("SELECT(", number(c[0]), " < ", number(c[1]), ", ", chosen(x[1]),
                              ", ", chosen(x[2]), ")");
            }
            case Operation::less:
            case Operation::input: break;
        }
        throw std::logic_error("expected an operation with an expression");
    }

    const CFunction& f_;
    const Plan plan_;
    std::vector<std::uint32_t> known_in_;  // the last piece that has a node in a variable
    std::uint32_t piece_ = 0;              // the piece being written
    bool memory_is_used_ = false;
    std::string text_;
};

}  // namespace

WrittenC write_c(const Tape& tape, const CFunction& function) {
    return Writer(tape, function).write();
}

}  // namespace dtau
