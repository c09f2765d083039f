// Declares algorithms that several functions use, compiled once in shared/dynamics.cpp and
// shared/steps.cpp.
#pragma once

#include "dtau/algorithms/first/fdsva.hpp"
#include "dtau/algorithms/first/forward_products.hpp"
#include "dtau/algorithms/solve/column_blocks.hpp"
#include "dtau/algorithms/steps/step.hpp"
#include "dtau/algorithms/values/aba.hpp"
#include "dtau/algorithms/values/rnea.hpp"
#include "dtau/counted.hpp"

namespace dtau::DTAU_VARIANT {

// The two scalars of an instruction set: for a lone state and for a group of states.
#ifdef DTAU_TEST_SCALARS
using Alone = Complex;
using Grouped = Counted;
#else
using Alone = double;
using Grouped = Lane;
#endif

extern template decltype(rnea<Alone>) rnea<Alone>;
extern template decltype(rnea<Grouped>) rnea<Grouped>;
extern template decltype(root_frame_sweep<Alone>) root_frame_sweep<Alone>;
extern template decltype(root_frame_sweep<Grouped>) root_frame_sweep<Grouped>;
extern template decltype(aba<Alone>) aba<Alone>;
extern template decltype(aba<Grouped>) aba<Grouped>;
extern template decltype(idsva_velocities<Alone>) idsva_velocities<Alone>;
extern template decltype(idsva_velocities<Grouped>) idsva_velocities<Grouped>;
extern template decltype(idsva_accelerations<Alone>) idsva_accelerations<Alone>;
extern template decltype(idsva_accelerations<Grouped>) idsva_accelerations<Grouped>;
extern template decltype(idsva_backward<Alone>) idsva_backward<Alone>;
extern template decltype(idsva_backward<Grouped>) idsva_backward<Grouped>;
extern template decltype(mass_matrix_factors<Alone>) mass_matrix_factors<Alone>;
extern template decltype(mass_matrix_factors<Grouped>) mass_matrix_factors<Grouped>;
extern template decltype(sweep_inwards<Alone>) sweep_inwards<Alone>;
extern template decltype(sweep_inwards<Grouped>) sweep_inwards<Grouped>;
extern template decltype(sweep_outwards<Alone>) sweep_outwards<Alone>;
extern template decltype(sweep_outwards<Grouped>) sweep_outwards<Grouped>;
extern template decltype(negative_products<Alone>) negative_products<Alone>;
extern template decltype(negative_products<Grouped>) negative_products<Grouped>;
extern template decltype(factorized_dynamics<Alone>) factorized_dynamics<Alone>;
extern template decltype(factorized_dynamics<Grouped>) factorized_dynamics<Grouped>;
extern template decltype(fdsva<Alone>) fdsva<Alone>;
extern template decltype(fdsva<Grouped>) fdsva<Grouped>;

extern template decltype(inverse_dynamics_vjp<Alone>) inverse_dynamics_vjp<Alone>;
extern template decltype(inverse_dynamics_vjp<Grouped>) inverse_dynamics_vjp<Grouped>;
extern template decltype(forward_dynamics_vjp<Alone>) forward_dynamics_vjp<Alone>;
extern template decltype(forward_dynamics_vjp<Grouped>) forward_dynamics_vjp<Grouped>;
extern template decltype(mimic_forward_dynamics_vjp<Alone>) mimic_forward_dynamics_vjp<Alone>;
extern template decltype(mimic_forward_dynamics_vjp<Grouped>) mimic_forward_dynamics_vjp<Grouped>;
extern template decltype(step_variation<Alone>) step_variation<Alone>;
extern template decltype(step_variation<Grouped>) step_variation<Grouped>;

}  // namespace dtau::DTAU_VARIANT
