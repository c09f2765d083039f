// Runs a raw call on the buffers of an XLA call frame: xla_handler(). Arrays are float64, or float32
// with the computation in float64. xla_refusal() is the handler for all devices but the CPU.
#include "interop/xla_handler.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "call/raw_call.hpp"

namespace dtau {
namespace {

xla::Error* error(const xla::CallFrame& frame, xla::ErrorCode code, const char* message) {
    xla::ErrorCreateArgs args = {{sizeof args, nullptr}, message, code};
    return frame.api->error_create(&args);
}

// The metadata to fill if XLA asks for the handler's properties; null in all other calls.
xla::Metadata* asked_for(const xla::CallFrame& frame) {
    for (xla::Extension* e = frame.header.extensions; e; e = e->next)
        if (e->type == xla::ExtensionType::metadata)
            return reinterpret_cast<xla::MetadataExtension*>(e)->metadata;
    return nullptr;
}

xla::Error* describe(const xla::CallFrame& frame, xla::Metadata& metadata) {
    if (metadata.struct_size < offsetof(xla::Metadata, traits) + sizeof metadata.traits)
        return error(frame, xla::ErrorCode::internal,
                     "dtau: expected a request for XLA's metadata, got another extension");
    metadata.version = {{sizeof metadata.version, nullptr}, xla::major_version, xla::minor_version};
    metadata.traits = 0;
    return nullptr;
}

struct Attributes {
    std::int64_t call = 0, given = 0;
    std::string_view name;

    explicit Attributes(const xla::Attributes& all) {
        for (std::int64_t k = 0; k < all.size; ++k) {
            const std::string_view key(all.names[k]->begin, all.names[k]->size);
            if (all.kinds[k] == xla::AttributeKind::string) {
                const auto& text = *static_cast<const xla::Text*>(all.values[k]);
                if (key == "name") name = {text.begin, text.size};
            } else if (all.kinds[k] == xla::AttributeKind::scalar) {
                const auto& scalar = *static_cast<const xla::Scalar*>(all.values[k]);
                if (scalar.type != xla::DataType::s64) continue;
                if (key == "call") call = *static_cast<const std::int64_t*>(scalar.value);
                if (key == "given") given = *static_cast<const std::int64_t*>(scalar.value);
            }
        }
    }
};

const xla::Buffer& buffer(const xla::Arrays& arrays, std::int64_t k) {
    return *static_cast<const xla::Buffer*>(arrays.arrays[k]);
}

// The number of batch axes of an array; -1 if its type or its last axes are wrong.
int batch_axes(const xla::Buffer& b, const Shape& expected) {
    const std::int64_t axes = b.rank - expected.ndim;
    if (b.type != xla::DataType::f64 && b.type != xla::DataType::f32) return -1;
    if (axes < 0 || axes > Job::max_axes) return -1;
    for (int k = 0; k < expected.ndim; ++k)
        if (b.shape[axes + k] != expected.size[k]) return -1;
    return static_cast<int>(axes);
}

std::string axes_of(const Shape& expected) {
    std::string text = "(";
    for (int k = 0; k < expected.ndim; ++k)
        text += (k > 0 ? ", " : "") + std::to_string(expected.size[k]);
    return text + ")";
}

std::ptrdiff_t size(const xla::Buffer& b) {
    std::ptrdiff_t count = 1;
    for (std::int64_t axis = 0; axis < b.rank; ++axis) count *= b.shape[axis];
    return count;
}

// The numbers of a call's arrays in float64: float32 arrays have copies, others their own memory.
class Doubles {
  public:
    explicit Doubles(const xla::CallFrame& frame) {
        std::ptrdiff_t count = 1;  // an empty array has an address, unlike one that is not given
        for (const xla::Arrays* arrays : {&frame.arguments, &frame.results})
            for (std::int64_t k = 0; k < arrays->size; ++k)
                if (is_single(buffer(*arrays, k))) count += size(buffer(*arrays, k));
        if (count > 1) copies_.resize(count);
        next_ = copies_.empty() ? &none_ : copies_.data();
    }
    double* argument(const xla::Buffer& b) {
        double* to = result(b);
        if (is_single(b) && b.data) std::copy_n(static_cast<const float*>(b.data), size(b), to);
        return to;
    }
    double* result(const xla::Buffer& b) {
        if (!is_single(b)) return b.data ? static_cast<double*>(b.data) : &none_;
        double* to = next_;
        next_ += size(b);
        return to;
    }
    // Writes a result that was computed at this address back to its array.
    static void round(const double* from, const xla::Buffer& b) {
        if (!is_single(b) || !b.data) return;
        const auto nearest = [](double x) { return static_cast<float>(x); };
        std::transform(from, from + size(b), static_cast<float*>(b.data), nearest);
    }

  private:
    static bool is_single(const xla::Buffer& b) { return b.type == xla::DataType::f32; }

    std::vector<double> copies_;
    double none_ = 0.0;
    double* next_;
};

// The number of states that a result has room for.
std::ptrdiff_t states(const xla::Buffer& b, int axes) {
    std::ptrdiff_t count = 1;
    for (int axis = 0; axis < axes; ++axis) count *= b.shape[axis];
    return count;
}

bool run(const xla::CallFrame& frame, const RawCall& call, std::int64_t given, std::string& why) {
    const Signature& signature = call.signature();
    Doubles doubles(frame);
    RawInput inputs[Job::max_inputs];
    double* results[Job::max_outputs] = {};
    std::ptrdiff_t count = 0;
    std::int64_t next = 0;
    for (int i = 0; i < signature.ninputs; ++i) {
        if (!(given >> i & 1)) continue;
        if (next == frame.arguments.size)
            return why = std::string(signature.name) + ": expected more arguments, got " +
                         std::to_string(frame.arguments.size),
                   false;
        const xla::Buffer& b = buffer(frame.arguments, next++);
        const int axes = batch_axes(b, call.input(i).shape);
        if (axes < 0)
            return why = std::string(signature.name) + ": " + signature.inputs[i].name +
                         ": expected a float64 or float32 array with last axes " +
                         axes_of(call.input(i).shape),
                   false;
        inputs[i] = {doubles.argument(b), axes, b.shape};
    }
    if (next != frame.arguments.size)
        return why = std::string(signature.name) + ": expected " + std::to_string(next) +
                     " arguments, got " + std::to_string(frame.arguments.size),
               false;
    if (frame.results.size > call.nresults())
        return why = std::string(signature.name) + ": expected at most " +
                     std::to_string(call.nresults()) + " results, got " +
                     std::to_string(frame.results.size),
               false;
    const bool all = frame.results.size == call.nresults();  // else without the optional result
    int place[Job::max_outputs];                             // of the results that are given
    for (int r = 0, o = 0; o < frame.results.size; ++o, ++r) {
        if (!all && call.result(r).signature.optional) ++r;
        place[o] = r;
        const xla::Buffer& b = buffer(frame.results, o);
        const int axes = batch_axes(b, call.result(r).shape);
        if (axes < 0 || (o > 0 && states(b, axes) != count))
            return why = std::string(signature.name) + ": " + call.result(r).signature.name +
                         ": expected a float64 or float32 array with last axes " +
                         axes_of(call.result(r).shape) + " and the batch axes of the other results",
                   false;
        count = states(b, axes);
        results[r] = doubles.result(b);
    }
    if (!call.run(inputs, results, count, why)) return false;
    for (int o = 0; o < frame.results.size; ++o)
        Doubles::round(results[place[o]], buffer(frame.results, o));
    return true;
}

}  // namespace

xla::Error* xla_refusal(xla::CallFrame* frame) noexcept {
    if (xla::Metadata* metadata = asked_for(*frame)) return describe(*frame, *metadata);
    return error(*frame, xla::ErrorCode::invalid_argument,
                 "dtau.jax computes on the CPU, and this program runs elsewhere: put arrays there "
                 "with jax.device_put(x, jax.devices(\"cpu\")[0]), work inside "
                 "jax.default_device(jax.devices(\"cpu\")[0]), set JAX_PLATFORMS=cpu, or call the "
                 "function of dtau with NumPy's arrays through jax.pure_callback");
}

xla::Error* xla_handler(xla::CallFrame* frame) noexcept {
    if (xla::Metadata* metadata = asked_for(*frame)) return describe(*frame, *metadata);
    if (frame->stage != xla::Stage::execute) return nullptr;
    try {
        const Attributes attributes(frame->attributes);
        const std::string name(attributes.name);
        const std::shared_ptr<const RawCall> call = raw_call(attributes.call);
        if (!call)
            return error(*frame, xla::ErrorCode::not_found,
                         ("dtau.jax: " + name +
                          ": this process does not know the model that the program was compiled "
                          "with; call the function of dtau.jax with an equal model here first")
                             .c_str());
        std::string why;
        if (run(*frame, *call, attributes.given, why)) return nullptr;
        return error(*frame, xla::ErrorCode::invalid_argument, ("dtau.jax: " + why).c_str());
    } catch (...) {
        return error(*frame, xla::ErrorCode::internal, "dtau.jax: out of memory");
    }
}

}  // namespace dtau
