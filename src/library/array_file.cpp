// Reads files of named arrays: ArrayFile. dtau/model/array_file.py has the format.
#include "library/array_file.hpp"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace dtau {

void refuse_file(const std::string& what) { throw std::runtime_error(what); }

namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr char magic[8] = {'\x89', 'd', 't', 'a', 'u', '\r', '\n', '\x1a'};
constexpr std::uint32_t format_version = 2;
constexpr std::size_t header_size = 24;

using Texts = ArrayFile::Texts;
template <class T> using Numbers = ArrayFile::Numbers<T>;

std::vector<char> bytes_of(const std::string& path) {
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (!file) refuse_file(std::strerror(errno));
    std::vector<char> all;
    char piece[1 << 16];
    while (const std::size_t read = std::fread(piece, 1, sizeof piece, file))
        all.insert(all.end(), piece, piece + read);
    const bool failed = std::ferror(file);
    std::fclose(file);
    if (failed) refuse_file("cannot be read");
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
            refuse_file("expected " + std::to_string(size) + " more bytes, got " +
                        std::to_string(left_));
        const char* const piece = at_;
        at_ += size, left_ -= size;
        return piece;
    }
    template <class T> T number() {
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    std::string text() {
        const std::uint32_t size = number<std::uint32_t>();
        return std::string(take(size), size);
    }
    ArrayFile::Array array() {
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
        refuse_file("expected an array of type 0, 1 or 2, got " + std::to_string(type) + " of " +
                    std::to_string(ndim) + " axes");
    }

  private:
    template <class T> Numbers<T> numbers(std::vector<std::uint64_t> shape) {
        std::uint64_t count = 1;
        for (const std::uint64_t n : shape) {
            if (n != 0 && count > left_ / n) refuse_file("expected arrays within the file");
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

}  // namespace

ArrayFile::ArrayFile(const std::string& path) {
    const std::vector<char> content = bytes_of(path);
    if (content.size() < header_size || std::memcmp(content.data(), magic, sizeof magic) != 0)
        refuse_file("expected a file of Model.save or dtau convert, got " +
                    std::to_string(content.size()) + " bytes that do not begin as one");
    Reader reader(content);
    reader.take(sizeof magic);
    const std::uint32_t version = reader.number<std::uint32_t>();
    if (version != format_version)
        refuse_file(
            "expected version " + std::to_string(format_version) + " of the format, got " +
            std::to_string(version) +
            "; write the file again with this version of dtau, or read it with the one that wrote "
            "it");
    const std::uint32_t checksum = reader.number<std::uint32_t>();
    const std::uint64_t size = reader.number<std::uint64_t>();
    if (size != reader.left())
        refuse_file("expected " + std::to_string(size) + " bytes after the header, got " +
                    std::to_string(reader.left()));
    if (crc32(content.data() + header_size, reader.left()) != checksum)
        refuse_file("the checksum does not match: the file is damaged");
    while (reader.left() > 0) {
        std::string name = reader.text();
        arrays_.insert_or_assign(std::move(name), reader.array());
    }
}

template <class A> A ArrayFile::take(std::string_view name) {
    const auto found = arrays_.find(name);
    if (found == arrays_.end() || !std::holds_alternative<A>(found->second))
        refuse_file(std::string(name) + ": expected this array, got none or one of another type");
    A array = std::move(std::get<A>(found->second));
    arrays_.erase(found);
    return array;
}

template <class T>
std::vector<T> ArrayFile::numbers(std::string_view name, const std::vector<std::uint64_t>& shape) {
    Numbers<T> array = take<Numbers<T>>(name);
    // without bodies or frames, arrays of several axes have one
    if (array.shape != shape && !(shape[0] == 0 && array.values.empty()))
        refuse_file(std::string(name) + ": expected an array of another shape");
    return std::move(array.values);
}

ArrayFile::Texts ArrayFile::texts(std::string_view name) { return take<Texts>(name); }
std::vector<std::int32_t> ArrayFile::integers(std::string_view name,
                                              const std::vector<std::uint64_t>& shape) {
    return numbers<std::int32_t>(name, shape);
}
std::vector<double> ArrayFile::reals(std::string_view name,
                                     const std::vector<std::uint64_t>& shape) {
    return numbers<double>(name, shape);
}

std::uint64_t ArrayFile::size(std::string_view name) const {
    const auto found = arrays_.find(name);
    const auto* array =
        found == arrays_.end() ? nullptr : std::get_if<Numbers<double>>(&found->second);
    return array ? array->values.size() : 0;
}

void ArrayFile::require_taken(std::string_view prefix) const {
    for (const auto& [name, array] : arrays_)
        if (name.starts_with(prefix))
            refuse_file(name + ": this version of dtau does not know this array");
}

}  // namespace dtau
