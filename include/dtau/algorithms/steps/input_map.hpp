// Declares the map from inputs to torques at one state, for linearizations: InputMap.
#pragma once

#include "dtau/model.hpp"

namespace dtau::DTAU_VARIANT {

// tau = map u for inputs u. Without a map (null), u are the torques of the driven velocities.
template <class T> struct InputMap {
    const DrivenTorques& driven;
    const T* map;  // (nv, driven.count), of the independent velocities
};

}  // namespace dtau::DTAU_VARIANT
