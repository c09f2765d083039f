// Declares the part of DLPack's C exchange interface (version 1) that reads a library's tensors. A
// library offers it as `__dlpack_c_exchange_api__` of its tensor type, so that no header of the
// library is needed. Types passed by address alone are opaque here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtau::dlpack {

inline constexpr std::uint32_t major_version = 1;

// Strides count numbers.
struct Tensor {
    void* data;
    std::int32_t device_type, device;
    std::int32_t ndim;
    std::uint8_t kind, bits;
    std::uint16_t lanes;
    std::int64_t *shape, *strides;
    std::uint64_t byte_offset;
};
inline constexpr std::int32_t cpu = 1;
inline constexpr std::uint8_t floating = 2;

struct Exchange {
    std::uint32_t major, minor;
    const Exchange* older;
    void *allocate, *take, *give;
    // Describes a tensor for as long as nobody changes it; -1 with Python's exception if it cannot.
    int (*describe)(void* tensor, Tensor* to);
    void* stream;
};

static_assert(sizeof(void*) != 8 || (sizeof(Tensor) == 48 && offsetof(Exchange, describe) == 40));

}  // namespace dtau::dlpack
