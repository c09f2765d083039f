// What algorithms of T compute with where only constants of the model are in it: doubles; and recorded
// numbers where those of the model may be inputs (recorded.hpp).
#pragma once

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {

struct Recorded;

template <class T>
struct ConstantOf {
    using type = double;
};
template <>
struct ConstantOf<Recorded> {
    using type = Recorded;
};
template <class T>
using Constant = typename ConstantOf<T>::type;

}  // namespace dtau::DTAU_VARIANT
