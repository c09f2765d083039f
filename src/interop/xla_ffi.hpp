// Declares the part of XLA's C binary interface for foreign functions (FFI version 0.1) that JAX
// needs to call dtau. A runtime accepts its own version and older ones, so one build serves all and
// needs no jaxlib.
//
// Structs only grow at their end, and hold their size. Types passed by address alone are opaque
// here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtau::xla {

inline constexpr int major_version = 0, minor_version = 1;

struct Error;

// Before a struct's own fields: its size in bytes, and a list of extensions.
enum class ExtensionType : std::int32_t { metadata = 1 };
struct Extension {
    std::size_t struct_size;
    ExtensionType type;
    Extension* next;
};
struct Header {
    std::size_t struct_size;
    Extension* extensions;
};

struct ApiVersion {
    Header header;
    int major_version, minor_version;
};

// XLA asks for a handler's properties by a call without arguments whose frame has this extension.
struct Metadata {
    std::size_t struct_size;
    ApiVersion version;    // out
    std::uint32_t traits;  // out
};
struct MetadataExtension {
    Extension base;
    Metadata* metadata;
};

enum class ErrorCode : std::int32_t { invalid_argument = 3, not_found = 5, internal = 13 };
struct ErrorCreateArgs {
    Header header;
    const char* message;
    ErrorCode code;
};

struct Api {
    Header header;
    ApiVersion version;
    const void* internal;
    Error* (*error_create)(ErrorCreateArgs*);
    // More fields follow.
};

enum class DataType : std::int32_t { s64 = 5, f32 = 11, f64 = 12 };

// An array, row-major and contiguous.
struct Buffer {
    Header header;
    DataType type;
    void* data;
    std::int64_t rank;
    std::int64_t* shape;
};

// Arguments or results: pointers to buffers.
enum class ArrayKind : std::int32_t { buffer = 1 };
struct Arrays {
    Header header;
    std::int64_t size;
    ArrayKind* kinds;
    void** arrays;
};

struct Text {
    const char* begin;
    std::size_t size;
};
struct Scalar {
    DataType type;
    void* value;
};

// Sorted by name.
enum class AttributeKind : std::int32_t { scalar = 3, string = 4 };
struct Attributes {
    Header header;
    std::int64_t size;
    AttributeKind* kinds;
    Text** names;
    void** values;
};

enum class Stage : std::int32_t { instantiate, prepare, initialize, execute };

struct CallFrame {
    Header header;
    const Api* api;
    void* context;
    Stage stage;
    Arrays arguments, results;
    Attributes attributes;
    void* future;  // for handlers that end later than they return
};

static_assert(sizeof(void*) != 8 ||
              (sizeof(Buffer) == 48 && sizeof(Arrays) == 40 && sizeof(Attributes) == 48 &&
               sizeof(ErrorCreateArgs) == 32 && offsetof(Api, error_create) == 48 &&
               offsetof(CallFrame, attributes) == 120));

}  // namespace dtau::xla
