// Chooses the type of numbers that depend on constants of the model alone: Constant<T>. It is double; for
// recorded numbers it is T, because constants of the model may then be inputs (recorded.hpp).
#pragma once

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {

struct Recorded;

template <class T> struct ConstantOf {
    using type = double;
};
template <> struct ConstantOf<Recorded> {
    using type = Recorded;
};
template <class T> using Constant = typename ConstantOf<T>::type;

}  // namespace dtau::DTAU_VARIANT
