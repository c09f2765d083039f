// Reads the file of Python's Model.save: read_model(). dtau/model/array_file.py has the format, and
// dtau/model/saving.py the arrays. Of these the bodies and frames of the core are read ("core.*").
#include "library/model_file.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <variant>

namespace dtau {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr char magic[8] = {'\x89', 'd', 't', 'a', 'u', '\r', '\n', '\x1a'};
constexpr std::uint32_t format_version = 2;
constexpr std::size_t header_size = 24;

using Texts = std::vector<std::string>;
template <class T>
struct Numbers {
    std::vector<std::uint64_t> shape;
    std::vector<T> values;
};
using FileArray = std::variant<Numbers<std::int32_t>, Numbers<double>, Texts>;
using Arrays = std::map<std::string, FileArray, std::less<>>;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

std::vector<char> content(const std::string& path) {
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (!file) fail(std::strerror(errno));
    std::vector<char> all;
    char piece[1 << 16];
    while (const std::size_t read = std::fread(piece, 1, sizeof piece, file))
        all.insert(all.end(), piece, piece + read);
    const bool failed = std::ferror(file);
    std::fclose(file);
    if (failed) fail("cannot be read");
    return all;
}

// The checksum of zlib.
std::uint32_t crc32(const char* bytes, std::size_t count) {
    std::uint32_t table[256];
    for (std::uint32_t k = 0; k < 256; ++k) {
        table[k] = k;
        for (int bit = 0; bit < 8; ++bit)
            table[k] = table[k] & 1 ? table[k] >> 1 ^ 0xedb88320u : table[k] >> 1;
    }
    std::uint32_t crc = 0xffffffffu;
    for (std::size_t k = 0; k < count; ++k)
        crc = table[(crc ^ static_cast<unsigned char>(bytes[k])) & 0xff] ^ crc >> 8;
    return ~crc;
}

class Reader {
  public:
    explicit Reader(const std::vector<char>& content)
        : at_(content.data()), left_(content.size()) {}

    std::size_t left() const { return left_; }
    const char* take(std::uint64_t size) {
        if (size > left_)
            fail("expected " + std::to_string(size) + " more bytes, got " + std::to_string(left_));
        const char* const piece = at_;
        at_ += size, left_ -= size;
        return piece;
    }
    template <class T>
    T number() {
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    std::string text() {
        const std::uint32_t size = number<std::uint32_t>();
        return std::string(take(size), size);
    }
    FileArray array() {
        const std::uint32_t type = number<std::uint32_t>(), ndim = number<std::uint32_t>();
        std::vector<std::uint64_t> shape;
        for (std::uint32_t k = 0; k < ndim; ++k) shape.push_back(number<std::uint64_t>());
        if (type == 2 && ndim == 1) {
            Texts texts;
            for (std::uint64_t k = 0; k < shape[0]; ++k) texts.push_back(text());
            return texts;
        }
        if (type == 0) return numbers<std::int32_t>(std::move(shape));
        if (type == 1) return numbers<double>(std::move(shape));
        fail("expected an array of type 0, 1 or 2, got " + std::to_string(type) + " of " +
             std::to_string(ndim) + " axes");
    }

  private:
    template <class T>
    Numbers<T> numbers(std::vector<std::uint64_t> shape) {
        std::uint64_t count = 1;
        for (const std::uint64_t n : shape) {
            if (n != 0 && count > left_ / n) fail("expected arrays within the file");
            count *= n;
        }
        Numbers<T> result = {std::move(shape), std::vector<T>(count)};
        const char* const from = take(count * sizeof(T));
        if (count > 0) std::memcpy(result.values.data(), from, count * sizeof(T));
        return result;
    }

    const char* at_;
    std::size_t left_;
};

Arrays read_arrays(const std::vector<char>& content) {
    if (content.size() < header_size || std::memcmp(content.data(), magic, sizeof magic) != 0)
        fail("expected a file of Model.save, got " + std::to_string(content.size()) +
             " bytes that do not begin as one");
    Reader reader(content);
    reader.take(sizeof magic);
    const std::uint32_t version = reader.number<std::uint32_t>();
    if (version != format_version)
        fail("expected version " + std::to_string(format_version) + " of the format, got " +
             std::to_string(version) +
             "; write the file again with this version of dtau, or read it with the one that wrote "
             "it");
    const std::uint32_t checksum = reader.number<std::uint32_t>();
    const std::uint64_t size = reader.number<std::uint64_t>();
    if (size != reader.left())
        fail("expected " + std::to_string(size) + " bytes after the header, got " +
             std::to_string(reader.left()));
    if (crc32(content.data() + header_size, reader.left()) != checksum)
        fail("the checksum does not match: the file is damaged");
    Arrays arrays;
    while (reader.left() > 0) {
        std::string name = reader.text();
        arrays.insert_or_assign(std::move(name), reader.array());
    }
    return arrays;
}

// Takes arrays out, with their shapes checked, and requires that all of the core's are taken: an
// array of a later version may change the dynamics.
class CoreArrays {
  public:
    explicit CoreArrays(Arrays arrays) : arrays_(std::move(arrays)) {}

    Texts texts(std::string_view name) { return take<Texts>(name); }
    template <class T>
    std::vector<T> numbers(std::string_view name, std::vector<std::uint64_t> shape) {
        Numbers<T> array = take<Numbers<T>>(name);
        // without bodies or frames, arrays of several axes have one
        if (array.shape != shape && !(shape[0] == 0 && array.values.empty()))
            fail(std::string(name) + ": expected an array of another shape");
        return std::move(array.values);
    }
    std::uint64_t size(std::string_view name) {
        const auto found = arrays_.find(name);
        const auto* array =
            found == arrays_.end() ? nullptr : std::get_if<Numbers<double>>(&found->second);
        return array ? array->values.size() : 0;
    }
    void require_empty() const {
        for (const auto& [name, array] : arrays_)
            if (name.starts_with("core."))
                fail(name + ": this version of dtau does not know this array");
    }

  private:
    template <class A>
    A take(std::string_view name) {
        const auto found = arrays_.find(name);
        if (found == arrays_.end() || !std::holds_alternative<A>(found->second))
            fail(std::string(name) + ": expected this array, got none or one of another type");
        A array = std::move(std::get<A>(found->second));
        arrays_.erase(found);
        return array;
    }

    Arrays arrays_;
};

JointKind joint_kind(const std::string& name) {
    for (const JointTraits& joint : joint_traits)
        if (joint.name == name) return joint.kind;
    fail("core.kind: expected a kind of joint, got '" + name + "'");
}

template <std::size_t n>
std::array<double, n> row(const std::vector<double>& numbers, std::size_t index) {
    std::array<double, n> result;
    std::copy_n(numbers.data() + n * index, n, result.data());
    return result;
}

std::shared_ptr<const CompiledModel> model_of(CoreArrays x) {
    const auto model = std::make_shared<CompiledModel>();
    const Texts name = x.texts("name"), kind = x.texts("core.kind");
    if (name.size() != 1) fail("name: expected one text, got " + std::to_string(name.size()));
    model->name = name[0];
    const std::size_t n = kind.size();
    const auto integers = [&](const char* array) { return x.numbers<std::int32_t>(array, {n}); };
    const auto reals = [&](const char* array) { return x.numbers<double>(array, {n}); };
    const auto vectors = [&](const char* array) { return x.numbers<double>(array, {n, 3}); };
    const auto matrices = [&](const char* array) { return x.numbers<double>(array, {n, 3, 3}); };
    const auto parent = integers("core.parent"), link = integers("core.link");
    const auto mimicked = integers("core.mimicked");
    const auto multiplier = reals("core.multiplier"), offset = reals("core.offset");
    const auto rotation = matrices("core.rotation"), translation = vectors("core.translation");
    const auto axis = vectors("core.axis"), pitch = reals("core.pitch"), mass = reals("core.mass");
    const auto com = vectors("core.com"), tensor = matrices("core.tensor");
    std::vector<BodyDescription> bodies(n);
    for (std::size_t i = 0; i < n; ++i) {
        const int last = static_cast<int>(n) - 1;
        if (parent[i] < -1 || parent[i] >= static_cast<int>(i) || mimicked[i] < -1 ||
            mimicked[i] > last || link[i] < -1 || link[i] > last)
            fail("expected indices of bodies, got others");
        bodies[i] = {joint_kind(kind[i]),
                     parent[i],
                     link[i],
                     mimicked[i],
                     multiplier[i],
                     offset[i],
                     row<9>(rotation, i),
                     row<3>(translation, i),
                     row<3>(axis, i),
                     pitch[i],
                     mass[i],
                     row<3>(com, i),
                     row<9>(tensor, i)};
    }
    model->joints = x.texts("core.joint_names");
    model->frames = x.texts("core.frame_names");
    const std::size_t nframes = model->frames.size();
    const auto carrier = x.numbers<std::int32_t>("core.frame_link", {nframes});
    const auto rotations = x.numbers<double>("core.frame_rotation", {nframes, 3, 3});
    const auto translations = x.numbers<double>("core.frame_translation", {nframes, 3});
    std::vector<FrameDescription> frames(nframes);
    for (std::size_t f = 0; f < nframes; ++f)
        frames[f] = {carrier[f], row<9>(rotations, f), row<3>(translations, f)};
    const std::uint64_t nv = x.size("core.armature");
    auto armature = x.numbers<double>("core.armature", {nv});
    auto damping = x.numbers<double>("core.damping", {nv});
    const auto stiffness = x.numbers<double>("core.stiffness", {nv});
    const auto rest = x.numbers<double>("core.rest_position", {nv});
    const auto friction = x.numbers<double>("core.friction", {nv});
    const auto friction_speed = x.numbers<double>("core.friction_speed", {nv});
    const auto gravity = row<3>(x.numbers<double>("gravity", {3}), 0);
    Texts massless = x.texts("core.massless_joints");
    x.require_empty();
    if (n == 0) fail("expected a body that moves, got none");
    model->tree = std::make_unique<CompiledTree>(
        bodies, model->joints, std::move(massless), std::move(armature), std::move(damping),
        gravity, model->frames, frames, stiffness, rest, friction, friction_speed);
    return model;
}

}  // namespace

std::shared_ptr<const CompiledModel> read_model(const std::string& path) {
    try {
        return model_of(CoreArrays(read_arrays(content(path))));
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        throw InvalidFile(path + ": " + error.what());
    }
}

}  // namespace dtau
