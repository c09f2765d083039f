// The map from inputs to torques of a robot that is linearized, at one state.
#pragma once

#include "dtau/model.hpp"

namespace dtau::DTAU_VARIANT {

// The torque is `map` u for inputs u; without a map (null), u is the torque of the driven columns.
template <class T>
struct InputMap {
    const DrivenTorques& driven;
    const T* map;  // (nv, driven.count), of the independent velocities
};

}  // namespace dtau::DTAU_VARIANT
